/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Each term is worked out for each allocation once, in one pass; passes over allocations then look up a bit. What terms say of
 * times becomes moments before it, which are compared with those of rows.
 */
#include "config.h"

#include "query/core/block_filter.h"

#include "base/mem.h"
#include "query/core/filter_term.h"
#include "query/core/heap_pass.h"
#include "query/core/heap_scan.h"

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

/* Ends of blocks that began at a tick's time, [begin.from, begin.to), and lived as long as a term says. */
struct life {
	struct heap_span begin, end;
};

/* A term, with what it says of whole tracks and origins. */
struct ready_term {
	const struct term *term;
	bool *origin; /* [n_origins] terms about these alone; else NULL; owned */
	struct heap_span *
		span; /* [n_tracks] TERM_FREED: of ends; TERM_ALIVE: two levels; else NULL; owned */
};

struct evaluation {
	const struct heap_state *state;
	const struct heap_columns *c;
	uint32_t malloc_event;
	struct ready_term *term; /* [n_terms]; owned */
	uint32_t n_terms;
	uint64_t *out;                     /* see block_filter() */
	struct life *life[HEAP_SCAN_MOST]; /* [n_terms][n_tracks] of each thread; owned */
};

static bool in_range(const struct term *t, int64_t x)
{
	return x >= t->from_ns && x < t->to_ns;
}

static bool in_span(const struct heap_span *s, uint32_t moment)
{
	return moment >= s->from && moment < s->to;
}

/* What all allocations of an origin, or of a stack, have together. */
struct totals {
	uint64_t calls, bytes, leaked;
};

static void add_totals(struct totals *to, uint64_t calls, uint64_t bytes, uint64_t leaked)
{
	to->calls += calls;
	to->bytes += bytes;
	to->leaked += leaked;
}

/* Of each stack: [*n_stacks]; the caller frees. */
static struct totals *find_totals(const struct evaluation *v)
{
	const struct heap_columns *c = v->c;
	struct totals *of;
	uint32_t n = 0, end;

	for (uint32_t i = 0; i < c->n_origins; i++)
		n = c->origins[i].stack >= n ? c->origins[i].stack + 1 : n;
	of = xcalloc(n, sizeof(*of));
	for (uint32_t at = 0; at < c->n_allocations; at = end) {
		struct heap_rows_read rows;

		end = c->n_allocations - at > HEAP_GROUP ? at + HEAP_GROUP : c->n_allocations;
		allocation_read(c, at, end, &rows);
		for (uint32_t i = 0; i < end - at; i++) {
			const struct heap_origin *o = &c->origins[rows.origin[i]];

			add_totals(&of[o->stack], 1, rows.size[i],
				   (rows.end[i] & END_MOMENT) >=
					   v->state->track[o->track].n_moments);
		}
	}
	for (uint32_t i = 0; i < c->n_bulk; i++)
		add_totals(&of[c->origins[c->bulk[i].origin].stack], c->bulk[i].calls,
			   c->bulk[i].bytes, 0);
	return of;
}

static bool origin_holds(const struct evaluation *v, const struct term *t,
			 const struct heap_origin *o, const struct totals *totals)
{
	switch ((int)t->kind) {
	case TERM_STACK_CALLS:
		return in_range(t, (int64_t)totals[o->stack].calls);
	case TERM_STACK_BYTES:
		return in_range(t, (int64_t)totals[o->stack].bytes);
	case TERM_STACK_LEAKED:
		return in_range(t, (int64_t)totals[o->stack].leaked);
	default:
		return t->word == BLOCK_REALLOC ? o->flags & ORIGIN_REALLOC
						: o->event != v->malloc_event;
	}
}

static bool is_of_totals(const struct term *t)
{
	return t->kind == TERM_STACK_CALLS || t->kind == TERM_STACK_BYTES ||
	       t->kind == TERM_STACK_LEAKED;
}

static bool is_of_origins(const struct term *t)
{
	return is_of_totals(t) ||
	       (t->kind == TERM_BLOCK && (t->word == BLOCK_REALLOC || t->word == BLOCK_MAPPED));
}

static bool *find_origins(const struct evaluation *v, const struct term *t)
{
	struct totals *totals = is_of_totals(t) ? find_totals(v) : NULL;
	bool *origin = xcalloc(v->c->n_origins, sizeof(*origin));

	for (uint32_t i = 0; i < v->c->n_origins; i++)
		origin[i] = origin_holds(v, t, &v->c->origins[i], totals);
	free(totals);
	return origin;
}

static struct heap_span *find_spans(const struct evaluation *v, const struct term *t)
{
	struct heap_span *span = xcalloc(v->c->n_tracks, sizeof(*span));

	for (uint32_t i = 0; i < v->c->n_tracks; i++) {
		struct heap_span *s = &span[i];

		if (t->kind == TERM_FREED) {
			s->from = heap_state_moment(v->state, i, t->from_ns);
			s->to = heap_state_moment(v->state, i, t->to_ns);
			continue;
		}
		s->from = s->to = heap_state_level(v->state, i, t->from_ns);
		if (t->to_ns < INT64_MAX)
			s->to = heap_state_level(v->state, i, t->to_ns);
	}
	return span;
}

static int64_t later(int64_t at_ns, int64_t by_ns)
{
	int64_t sum;

	if (__builtin_add_overflow(at_ns, by_ns, &sum))
		return by_ns < 0 ? INT64_MIN : INT64_MAX;
	return sum;
}

/* Goes to the tick of a moment, at which the block began. */
static void find_life(const struct heap_track *track, const struct term *t, uint32_t begin,
		      struct life *life)
{
	uint32_t near = 0;
	int64_t at_ns = heap_track_time_near(track, begin, &near);

	life->begin.from = track->n_ticks ? track->tick[near].moment : 0;
	life->begin.to = near + 1 < track->n_ticks ? track->tick[near + 1].moment : UINT32_MAX;
	life->end.from = heap_track_moment(track, later(at_ns, t->from_ns));
	life->end.to = heap_track_moment(track, later(at_ns, t->to_ns));
}

/* A row, whose end is as of its track's moments. */
struct row {
	uint32_t at, track, origin, begin, end;
	uint64_t size;
};

static bool is_handed(const struct evaluation *v, const struct row *r)
{
	uint32_t by;

	if (r->end == END_NEVER || !v->c->release)
		return false;
	by = allocation_release(v->c, r->at);
	return by < v->c->n_origins && v->c->origins[by].thread != v->c->origins[r->origin].thread;
}

static bool has_state(const struct evaluation *v, const struct row *r, enum block_state state)
{
	switch (state) {
	case BLOCK_LEAKED:
		return r->end == END_NEVER;
	case BLOCK_FREED:
		return r->end != END_NEVER;
	case BLOCK_TEMPORARY:
		return r->end != END_NEVER && (r->end & END_TEMPORARY);
	case BLOCK_HANDED:
		return is_handed(v, r);
	case BLOCK_REALLOC: /* of origins */
	case BLOCK_MAPPED:
	case N_BLOCK_STATES:
		break;
	}
	return false;
}

/* Was it there after so many moments? */
static bool is_alive(const struct row *r, uint32_t at)
{
	return r->begin < at && (r->end & END_MOMENT) >= at;
}

static bool lived_so_long(const struct evaluation *v, const struct row *r, const struct term *t,
			  struct life *life)
{
	if (r->end == END_NEVER)
		return false;
	if (!in_span(&life->begin, r->begin))
		find_life(&v->state->track[r->track], t, r->begin, life);
	return in_span(&life->end, r->end & END_MOMENT);
}

static bool holds(const struct evaluation *v, const struct row *r, uint32_t term, unsigned worker)
{
	const struct ready_term *ready = &v->term[term];
	const struct heap_span *span = ready->span ? &ready->span[r->track] : NULL;
	const struct term *t = ready->term;

	if (ready->origin)
		return ready->origin[r->origin];
	switch ((int)t->kind) {
	case TERM_SIZE:
		return in_range(t, (int64_t)r->size);
	case TERM_LIFETIME:
		return lived_so_long(v, r, t,
				     &v->life[worker][(size_t)term * v->c->n_tracks + r->track]);
	case TERM_ALIVE:
		return is_alive(r, span->from) && is_alive(r, span->to);
	case TERM_FREED:
		return r->end != END_NEVER && in_span(span, r->end & END_MOMENT);
	case TERM_BLOCK:
		return has_state(v, r, (enum block_state)t->word);
	default:
		return true;
	}
}

static uint64_t evaluate(const struct evaluation *v, uint32_t from, uint32_t to, unsigned worker)
{
	struct heap_rows_read rows;
	uint32_t n = allocation_read(v->c, from, to, &rows);
	uint64_t out = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t origin = rows.origin[i], track = v->c->origins[origin].track, k = 0;
		struct row r = {
			from + i, track, origin, rows.begin[i], rows.end[i], rows.size[i]
		};

		if ((r.end & END_MOMENT) >= v->state->track[track].n_moments)
			r.end = END_NEVER;
		while (k < v->n_terms && holds(v, &r, k, worker) != v->term[k].term->negated)
			k++;
		out |= (uint64_t)(k == v->n_terms) << i;
	}
	return out;
}

static void scan_blocks(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct evaluation *v = arg;
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = to - at > HEAP_GROUP ? at + HEAP_GROUP : to;
		v->out[at / HEAP_GROUP] = evaluate(v, at, end, worker);
	}
}

static void make_ready(struct evaluation *v, const struct term *const *terms)
{
	v->term = xcalloc(v->n_terms, sizeof(*v->term));
	for (uint32_t i = 0; i < v->n_terms; i++) {
		struct ready_term *r = &v->term[i];

		r->term = terms[i];
		if (is_of_origins(terms[i]))
			r->origin = find_origins(v, terms[i]);
		else if (terms[i]->kind == TERM_FREED || terms[i]->kind == TERM_ALIVE)
			r->span = find_spans(v, terms[i]);
	}
}

uint64_t *block_filter(const struct heap_state *state, const struct term *const *terms, uint32_t n,
		       uint32_t malloc_event)
{
	struct evaluation v = {
		.state = state, .c = &state->columns, .malloc_event = malloc_event, .n_terms = n
	};
	unsigned n_threads = heap_scan_threads(state->columns.n_allocations);

	if (n == 0)
		return NULL;
	make_ready(&v, terms);
	v.out = xcalloc((size_t)state->columns.n_allocations / HEAP_GROUP + 1, sizeof(*v.out));
	for (unsigned i = 0; i < n_threads; i++)
		v.life[i] = xcalloc((size_t)n * state->columns.n_tracks, sizeof(**v.life));
	/* Nobody cancels it. */
	heap_scan(state->columns.n_allocations, n_threads, NULL, scan_blocks, &v);
	for (unsigned i = 0; i < n_threads; i++)
		free(v.life[i]);
	for (uint32_t i = 0; i < n; i++) {
		free(v.term[i].origin);
		free(v.term[i].span);
	}
	free(v.term);
	return v.out;
}
