/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records and stack nodes to bytes and back. */
#include "config.h"

#include "heaptrace/heap_records.h"

struct shape {
	uint8_t n_numbers, n_texts;
};

static const struct shape shapes[] = {
#define X(name, type, n_numbers, n_texts) [type] = { n_numbers, n_texts },
	HEAP_RECORDS(X)
#undef X
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static size_t number_bytes(uint64_t v)
{
	size_t n = 1;

	for (; v >= 0x80; v >>= 7)
		n++;
	return n;
}

bool heap_put_record(struct heap_out *o, const struct heap_record *r)
{
	struct shape s = shapes[r->type];
	size_t n = 0;

	for (unsigned i = 0; i < s.n_numbers; i++)
		n += number_bytes(r->number[i]);
	for (unsigned i = 0; i < s.n_texts; i++)
		n += number_bytes(r->text[i].n) + r->text[i].n;
	/* 30: type, length, and what heap_put_number wants to be left. */
	if (n > (size_t)(o->end - o->at) || (size_t)(o->end - o->at) - n < 30)
		return false;
	heap_put_number(o, r->type);
	heap_put_number(o, n);
	for (unsigned i = 0; i < s.n_numbers; i++)
		heap_put_number(o, r->number[i]);
	for (unsigned i = 0; i < s.n_texts; i++) {
		heap_put_number(o, r->text[i].n);
		heap_put_bytes(o, r->text[i].at, r->text[i].n);
	}
	return true;
}

bool heap_take_record(struct heap_in *in, struct heap_record *out)
{
	struct heap_in body;
	struct shape s;
	uint64_t n;

	if (in->at == in->end || in->bad)
		return false;
	*out = (struct heap_record){ .type = heap_take_number(in) };
	n = heap_take_number(in);
	body = heap_in_over(in->at, 0);
	if (heap_take_bytes(in, n))
		body.end = in->at;
	if (in->bad)
		return false;
	out->known = out->type < N_SHAPES && shapes[out->type].n_numbers;
	if (!out->known)
		return true;
	s = shapes[out->type];
	for (unsigned i = 0; i < s.n_numbers; i++)
		out->number[i] = heap_take_number(&body);
	for (unsigned i = 0; i < s.n_texts; i++) {
		uint64_t n_text = heap_take_number(&body);

		out->text[i].at = heap_take_bytes(&body, n_text);
		out->text[i].n = out->text[i].at ? (size_t)n_text : 0;
	}
	in->bad = body.bad;
	return !in->bad;
}

bool heap_put_node(struct heap_out *parents, struct heap_out *ips, struct heap_node_state *s,
		   const struct heap_node *n)
{
	uint64_t ip = n->ip << 1 | n->exact;

	if (parents->end - parents->at < 10 || ips->end - ips->at < 10)
		return false;
	heap_put_number(parents, s->id - 1 - n->parent);
	heap_put_number(ips, heap_zigzag(ip - s->ip));
	s->ip = ip;
	s->id++;
	return true;
}

bool heap_take_node(struct heap_in *parents, struct heap_in *ips, struct heap_node_state *s,
		    struct heap_node *out)
{
	uint64_t back = heap_take_number(parents);

	s->ip += heap_unzigzag(heap_take_number(ips));
	if (parents->bad || ips->bad || back >= s->id || s->id > UINT32_MAX)
		return false;
	*out = (struct heap_node){ .ip = s->ip >> 1,
				   .parent = (uint32_t)(s->id - 1 - back),
				   .exact = s->ip & 1 };
	s->id++;
	return true;
}
