/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each term is worked out for each allocation once, in one pass; passes over allocations then look up a flag. */
#include "config.h"

#include "query/core/block_filter.h"

#include "base/mem.h"
#include "query/core/filter_term.h"
#include "query/core/heap_pass.h"

#include <stdlib.h>
#include <string.h>

const char *block_state_word(enum block_state s)
{
	static const char *const words[] = {
#define X(id, word) word,
		BLOCK_STATES(X)
#undef X
	};

	return s < N_BLOCK_STATES ? words[s] : "";
}

/* What all allocations of a stack have together. */
struct stack_totals {
	uint64_t calls, bytes, leaked;
};

struct evaluation {
	const struct heap_state *state;
	const struct heap_columns *c;
	uint32_t malloc_event;
	struct stack_totals *of_stack; /* [n_stacks] or NULL; owned */
};

static uint32_t end_of(const struct evaluation *v, uint32_t i)
{
	uint32_t track = v->c->origins[allocation_origin(v->c, i)].track;

	return allocation_end(v->c, i, v->state->track[track].n_moments);
}

/* When a moment was, since the capture's start. */
static int64_t since(const struct evaluation *v, uint32_t i, uint32_t moment)
{
	uint32_t track = v->c->origins[allocation_origin(v->c, i)].track;

	return heap_track_time(&v->state->track[track], moment) - v->state->begin_ns[track];
}

static bool is_handed(const struct evaluation *v, uint32_t i, uint32_t end)
{
	uint32_t by;

	if (end == END_NEVER || !v->c->release)
		return false;
	by = allocation_release(v->c, i);
	return by != ID_NONE && by < v->c->n_origins &&
	       v->c->origins[by].thread != v->c->origins[allocation_origin(v->c, i)].thread;
}

static bool has_state(const struct evaluation *v, uint32_t i, enum block_state state)
{
	const struct heap_origin *o = &v->c->origins[allocation_origin(v->c, i)];
	uint32_t end = end_of(v, i);

	switch (state) {
	case BLOCK_LEAKED:
		return end == END_NEVER;
	case BLOCK_FREED:
		return end != END_NEVER;
	case BLOCK_TEMPORARY:
		return end != END_NEVER && (end & END_TEMPORARY);
	case BLOCK_REALLOC:
		return o->flags & ORIGIN_REALLOC;
	case BLOCK_MAPPED:
		return o->event != v->malloc_event;
	case BLOCK_HANDED:
		return is_handed(v, i, end);
	case N_BLOCK_STATES:
		break;
	}
	return false;
}

/* Was it there at a time? */
static bool is_alive(const struct evaluation *v, uint32_t i, int64_t at_ns)
{
	uint32_t track = v->c->origins[allocation_origin(v->c, i)].track;
	uint32_t at = heap_state_level(v->state, track, at_ns), end = end_of(v, i);

	return allocation_begin(v->c, i) < at && (end == END_NEVER || (end & END_MOMENT) >= at);
}

static bool in_range(const struct term *t, int64_t x)
{
	return x >= t->from_ns && x < t->to_ns;
}

static bool holds(const struct evaluation *v, uint32_t i, const struct term *t)
{
	uint32_t end, stack = v->c->origins[allocation_origin(v->c, i)].stack;

	switch ((int)t->kind) {
	case TERM_SIZE:
		return in_range(t, (int64_t)allocation_size(v->c, i));
	case TERM_LIFETIME:
		end = end_of(v, i);
		return end != END_NEVER &&
		       in_range(t, since(v, i, end & END_MOMENT) -
					   since(v, i, allocation_begin(v->c, i)));
	case TERM_ALIVE:
		return is_alive(v, i, t->from_ns) &&
		       (t->to_ns == INT64_MAX || is_alive(v, i, t->to_ns));
	case TERM_FREED:
		end = end_of(v, i);
		return end != END_NEVER && in_range(t, since(v, i, end & END_MOMENT));
	case TERM_BLOCK:
		return has_state(v, i, (enum block_state)t->word);
	case TERM_STACK_CALLS:
		return in_range(t, (int64_t)v->of_stack[stack].calls);
	case TERM_STACK_BYTES:
		return in_range(t, (int64_t)v->of_stack[stack].bytes);
	case TERM_STACK_LEAKED:
		return in_range(t, (int64_t)v->of_stack[stack].leaked);
	default:
		return true;
	}
}

static bool asks_for_totals(const struct term *const *terms, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (terms[i]->kind == TERM_STACK_CALLS || terms[i]->kind == TERM_STACK_BYTES ||
		    terms[i]->kind == TERM_STACK_LEAKED)
			return true;
	return false;
}

static void find_totals(struct evaluation *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->c->n_origins; i++)
		n = v->c->origins[i].stack >= n ? v->c->origins[i].stack + 1 : n;
	v->of_stack = xcalloc(n, sizeof(*v->of_stack));
	for (uint32_t i = 0; i < v->c->n_allocations; i++) {
		struct stack_totals *t =
			&v->of_stack[v->c->origins[allocation_origin(v->c, i)].stack];

		t->calls++;
		t->bytes += allocation_size(v->c, i);
		t->leaked += end_of(v, i) == END_NEVER;
	}
	for (uint32_t i = 0; i < v->c->n_bulk; i++) {
		const struct heap_bulk *b = &v->c->bulk[i];
		struct stack_totals *t = &v->of_stack[v->c->origins[b->origin].stack];

		t->calls += b->calls;
		t->bytes += b->bytes;
	}
}

bool *block_filter(const struct heap_state *state, const struct term *const *terms, uint32_t n,
		   uint32_t malloc_event)
{
	struct evaluation v = { state, &state->columns, malloc_event, NULL };
	bool *out;

	if (n == 0)
		return NULL;
	if (asks_for_totals(terms, n))
		find_totals(&v);
	out = xmalloc(state->columns.n_allocations * sizeof(*out));
	for (uint32_t i = 0; i < state->columns.n_allocations; i++) {
		out[i] = true;
		for (uint32_t k = 0; k < n && out[i]; k++)
			out[i] = holds(&v, i, terms[k]) != terms[k]->negated;
	}
	free(v.of_stack);
	return out;
}
