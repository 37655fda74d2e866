/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packed rows as bytes, see row_blocks.h. What readers would see of a block is checked, not what is written in it: a
 * value of too many bits is cut as it is when it is read.
 */
#include "config.h"

#include "profile/row_blocks.h"

#include "profile/sample_rows.h"
#include "profile/store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Putting. */

uint64_t row_blocks_n(const struct sample_columns *c)
{
	uint64_t n = c->n_packed / SAMPLE_ROWS_BATCH;

	for (uint64_t i = 0; i < n; i++)
		if (c->blocks[i].has_weight && c->blocks[i].scale != c->scale)
			return 0;
	return c->n_folded == 0 ? n : 0;
}

unsigned row_blocks_columns(const struct sample_columns *c)
{
	return (c->stack ? ROWS_STACK : 0) | (c->thread ? ROWS_THREAD : 0) |
	       (c->event ? ROWS_EVENT : 0) | (c->cpu ? ROWS_CPU : 0) |
	       (c->time_ns ? ROWS_TIME : 0) | (c->weight ? ROWS_WEIGHT : 0);
}

/* The bytes of all columns of a block. */
static size_t bytes_of(const struct packed_block *b)
{
	size_t n = 0;

	for (int i = 0; i < N_PLACES; i++)
		n += store_block_column_bytes(b->bits[i]);
	return n;
}

void row_blocks_put(const struct sample_columns *c, uint64_t first, uint64_t n, pack_bytes *to)
{
	for (uint64_t i = first; i < first + n; i++) {
		const struct packed_block *b = &c->blocks[i];

		pack_put_bytes(to, b->bits, N_PLACES);
		vec_push(to, (uint8_t)b->has_weight);
		for (int k = 0; k < N_PLACES; k++)
			pack_put(to, b->least[k]);
		pack_put_bytes(to, c->packed + b->offset, bytes_of(b));
	}
}

/* Taking. */

static bool has_bits(unsigned bits)
{
	return bits <= STORE_BLOCK_WIDEST || bits == 64;
}

/* The head of a block; b->bad when it is none. */
static void take_head(struct bytes *b, struct packed_block *out)
{
	const uint8_t *head = take_bytes(b, N_PLACES + 1);

	for (int i = 0; i < N_PLACES && head; i++) {
		out->bits[i] = head[i];
		b->bad |= !has_bits(head[i]);
	}
	out->has_weight = head && head[N_PLACES];
	for (int i = 0; i < N_PLACES; i++)
		out->least[i] = pack_take(b);
}

/* Columns that there are have room for rows up to n, which are in no memory: they are packed. */
static bool plain_room(struct profile *p, unsigned columns, uint64_t n)
{
	struct store_rows *r = &p->samples;
	struct column *const plain[N_PLACES] = {
		[PLACE_STACK] = &r->row_stack, [PLACE_THREAD] = &r->row_thread,
		[PLACE_EVENT] = &r->row_event, [PLACE_CPU] = &r->row_cpu,
		[PLACE_TIME] = &r->row_time,   [PLACE_WEIGHT] = &r->versions->weight,
	};

	for (int i = 0; i < N_PLACES; i++)
		if (columns & 1u << i && !store_room(p, plain[i], n))
			return false;
	return true;
}

/* Appends the block's bytes. False: there is no room, or b is bad. */
static bool append(struct profile *p, struct packed_block *block, struct bytes *b)
{
	struct store_rows *r = &p->samples;
	size_t n_bytes = bytes_of(block);
	const uint8_t *from = take_bytes(b, n_bytes);
	uint64_t n = r->n_packed / SAMPLE_ROWS_BATCH;

	if (!from || !store_room(p, &r->packed, r->packed_bytes + n_bytes + STORE_BLOCK_SPARE) ||
	    !store_room(p, &r->blocks, n + 1))
		return false;
	block->offset = r->packed_bytes;
	block->scale = r->versions->scale.base;
	memcpy((uint8_t *)r->packed.base + r->packed_bytes, from, n_bytes);
	STORE_AT(struct packed_block, r->blocks, n) = *block;
	r->packed_bytes += n_bytes + STORE_BLOCK_SPARE;
	return true;
}

static uint32_t largest(const uint32_t *value)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH; i++)
		most = value[i] > most ? value[i] : most;
	return most;
}

static bool threads_are_good(const struct profile *p, const uint32_t *thread)
{
	bool known = true;

	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH; i++)
		known &= thread[i] == ID_NONE || thread[i] < p->now.n_threads;
	return known;
}

static bool events_are_good(const struct profile *p, const struct sample_rows *rows)
{
	bool good = true;

	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH; i++) {
		uint16_t event = sample_rows_event(rows, i);

		good &= event < p->now.n_events;
		if (good)
			good = !STORE_AT(struct event, p->events, event).is_heap;
	}
	return good;
}

static void note_row(struct profile *p, const struct sample_rows *rows, uint32_t i)
{
	store_note_time(p, &(struct sample){ .thread = { sample_rows_thread(rows, i) },
					     .event = { sample_rows_event(rows, i) },
					     .weight = sample_rows_weight(rows, i),
					     .time_ns = rows->time_ns[i] });
}

static bool any_lasts(const struct profile *p)
{
	for (uint32_t i = 0; i < p->now.n_events; i++)
		if (event_lasts(&STORE_AT(struct event, p->events, i)))
			return true;
	return false;
}

/* Widens the span of the capture by all rows: the first and the last moment do, but where rows last. False: one is no time. */
static bool note_times(struct profile *p, const struct sample_rows *rows)
{
	int64_t first = INT64_MAX, last = -1;
	uint32_t first_row = 0, last_row = 0;
	bool good = true, lasts = any_lasts(p);

	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH && rows->time_ns; i++) {
		int64_t t = rows->time_ns[i];

		if (t == TIME_NONE)
			continue;
		good &= t >= 0 && t <= INT64_MAX / 2;
		first_row = t < first ? i : first_row;
		first = t < first ? t : first;
		last_row = t > last ? i : last_row;
		last = t > last ? t : last;
		if (lasts && good)
			note_row(p, rows, i);
	}
	if (!good || last < 0)
		return good;
	note_row(p, rows, first_row);
	note_row(p, rows, last_row);
	return true;
}

static uint64_t size_of(int64_t weight)
{
	return weight < 0 ? -(uint64_t)weight : (uint64_t)weight;
}

/* Adds up weights of rows of one event, then of the next ones. False where a sum would be too large. */
static bool add_weights(struct profile *p, const struct sample_rows *rows)
{
	for (uint32_t i = 0; i < SAMPLE_ROWS_BATCH;) {
		uint16_t event = sample_rows_event(rows, i);
		uint64_t sum = 0;

		for (; i < SAMPLE_ROWS_BATCH && sample_rows_event(rows, i) == event; i++) {
			uint64_t size = size_of(sample_rows_weight(rows, i));

			if (size > INT64_MAX - sum)
				return false;
			sum += size;
		}
		if (!store_add_weight(p, (event_id){ event }, sum))
			return false;
	}
	return true;
}

/* Checks the block that was appended, and counts its rows. */
static bool check(struct profile *p, struct sample_rows *rows)
{
	struct sample_columns c = store_rows_shown(&p->samples);
	uint64_t row = p->samples.n_packed;

	c.n_packed = row + SAMPLE_ROWS_BATCH;
	sample_rows_read(rows, &c, row, SAMPLE_ROWS_BATCH, ROWS_ALL & ~ROWS_CPU & ~ROWS_WEIGHT);
	if (largest(rows->stack) >= p->now.n_stacks || !events_are_good(p, rows) ||
	    (rows->thread && !threads_are_good(p, rows->thread)))
		return false;
	/* weights are looked up by events, which are good now; the columns before stay */
	sample_rows_read(rows, &c, row, SAMPLE_ROWS_BATCH, ROWS_WEIGHT);
	return note_times(p, rows) && add_weights(p, rows);
}

int build_row_blocks(struct profile *p, unsigned columns, struct bytes *b)
{
	struct store_rows *r = &p->samples;
	struct sample_rows *rows = xmalloc(sizeof(*rows));
	bool room = true;

	b->bad |= !(columns & ROWS_STACK) || columns & ~ROWS_ALL || p->now.n_events == 0 ||
		  r->n_packed != p->now.n_samples;
	while (room && !b->bad && bytes_left(b) > 0) {
		struct packed_block block = { .offset = 0 };

		take_head(b, &block);
		b->bad |= block.has_weight && !(columns & ROWS_WEIGHT);
		room = b->bad || (plain_room(p, columns, r->n_packed + SAMPLE_ROWS_BATCH) &&
				  append(p, &block, b));
		room |= b->bad;
		if (!room || b->bad)
			break;
		b->bad |= !check(p, rows);
		if (b->bad)
			break;
		r->n_packed += SAMPLE_ROWS_BATCH;
		r->n_forgotten = r->n_packed;
		p->now.n_samples = r->n_packed;
		p->now.n_taken += SAMPLE_ROWS_BATCH;
	}
	p->roomy_rows = 0;
	free(rows);
	return room ? 0 : -EFBIG;
}

/* Moving. */

static bool same_tables(const struct profile *p, const struct profile *q)
{
	return p->now.n_events == q->now.n_events && p->now.n_stacks == q->now.n_stacks &&
	       p->now.n_threads == q->now.n_threads && p->now.n_captures == q->now.n_captures &&
	       p->now.n_samples == 0 && !p->samples.versions->weight.base &&
	       memcmp(p->samples.versions->scale.base, q->samples.versions->scale.base,
		      p->now.n_events * sizeof(int64_t)) == 0;
}

static void swap(struct column *a, struct column *b)
{
	struct column c = *a;

	*a = *b;
	*b = c;
}

static void take_sums(struct profile *p, const struct profile *from)
{
	memcpy(p->event_weights.base, from->event_weights.base, p->now.n_events * sizeof(uint64_t));
	p->clock_weights = from->clock_weights;
	for (uint32_t i = 0; i < p->now.n_captures; i++) {
		struct capture *c = &STORE_AT(struct capture, p->captures, i);
		const struct capture *d = &STORE_AT(struct capture, from->captures, i);

		__atomic_store_n(&c->begin_ns, d->begin_ns, __ATOMIC_RELAXED);
		__atomic_store_n(&c->end_ns, d->end_ns, __ATOMIC_RELAXED);
	}
}

bool build_take_rows(struct profile *p, struct profile *from)
{
	struct store_rows *to = &p->samples, *r = &from->samples;

	if (p->now.n_events == 0 || !same_tables(p, from))
		return false;
#define X(name, type) swap(&to->name, &r->name);
	STORE_ROW_COLUMNS(X)
#undef X
	swap(&to->versions->weight, &r->versions->weight);
	swap(&to->packed, &r->packed);
	swap(&to->blocks, &r->blocks);
	for (uint64_t i = 0; i < r->n_packed / SAMPLE_ROWS_BATCH; i++)
		STORE_AT(struct packed_block, to->blocks, i).scale = to->versions->scale.base;
	to->packed_bytes = r->packed_bytes;
	to->n_packed = r->n_packed;
	to->n_forgotten = r->n_forgotten;
	p->now.n_samples = from->now.n_samples;
	p->now.n_taken = from->now.n_taken;
	p->roomy_rows = 0;
	r->packed_bytes = r->n_packed = r->n_forgotten = 0;
	from->now.n_samples = from->now.n_taken = 0;
	take_sums(p, from);
	return true;
}
