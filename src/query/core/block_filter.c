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
	uint32_t near;      /* the tick */
	uint32_t border[2]; /* ticks at which `end` begins and ends */
};

/* A term, with what it says of whole tracks and origins. */
struct ready_term {
	const struct term *term;
	bool *origin; /* [n_origins] terms about these alone; else NULL; owned */
	const bool
		*freed_in; /* [n_stacks] TERM_FREED_IN: of stacks that free; else NULL; borrowed */
	struct heap_span *
		span; /* [n_tracks] TERM_FREED: of ends; TERM_ALIVE: two levels; else NULL; owned */
};

struct evaluation {
	const struct heap_state *state;
	const struct heap_columns *c;
	uint32_t malloc_event;
	struct ready_term *term; /* [n_terms]; owned */
	uint32_t n_terms, n_stacks;
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

/* What all allocations of a stack have together; times are since the capture's begin. */
struct totals {
	uint64_t calls, bytes, leaked;
	int64_t first_ns, last_ns; /* of no calls undefined */
};

/* The same of an origin, in moments. */
struct origin_totals {
	uint64_t calls, bytes, leaked;
	uint32_t first, last;
};

static void add_calls(struct origin_totals *to, const struct origin_totals *more)
{
	if (more->calls == 0)
		return;
	if (to->calls == 0 || more->first < to->first)
		to->first = more->first;
	if (to->calls == 0 || more->last > to->last)
		to->last = more->last;
	to->calls += more->calls;
	to->bytes += more->bytes;
	to->leaked += more->leaked;
}

struct totals_scan {
	const struct evaluation *v;
	struct origin_totals *of[HEAP_SCAN_MOST]; /* [n_origins] of each thread; owned */
};

static void scan_totals(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct totals_scan *s = arg;
	const struct heap_columns *c = s->v->c;
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		struct heap_rows_read rows;

		end = to - at > HEAP_GROUP ? at + HEAP_GROUP : to;
		allocation_read(c, at, end, &rows);
		for (uint32_t i = 0; i < end - at; i++) {
			uint32_t n_moments =
				s->v->state->track[c->origins[rows.origin[i]].track].n_moments;
			const struct origin_totals one = { 1, rows.size[i],
							   (rows.end[i] & END_MOMENT) >= n_moments,
							   rows.begin[i], rows.begin[i] };

			add_calls(&s->of[worker][rows.origin[i]], &one);
		}
	}
}

/* Of each origin: [n_origins]; the caller frees. */
static struct origin_totals *find_origin_totals(const struct evaluation *v)
{
	const struct heap_columns *c = v->c;
	struct totals_scan s = { .v = v };
	unsigned n = c->n_origins > c->n_allocations / 16 ? 1 : heap_scan_threads(c->n_allocations);

	for (unsigned i = 0; i < n; i++)
		s.of[i] = xcalloc(c->n_origins, sizeof(*s.of[i]));
	heap_scan(c->n_allocations, n, NULL, scan_totals, &s);
	for (unsigned i = 1; i < n; i++) {
		for (uint32_t j = 0; j < c->n_origins; j++)
			add_calls(&s.of[0][j], &s.of[i][j]);
		free(s.of[i]);
	}
	for (uint32_t i = 0; i < c->n_bulk; i++) {
		const struct heap_bulk *b = &c->bulk[i];
		const struct origin_totals some = { b->calls, b->bytes, 0, b->moment,
						    b->until > b->moment ? b->until : b->moment };

		add_calls(&s.of[0][b->origin], &some);
	}
	return s.of[0];
}

/* Of each stack; the caller frees. */
static struct totals *find_totals(const struct evaluation *v)
{
	const struct heap_columns *c = v->c;
	struct origin_totals *origin = find_origin_totals(v);
	struct totals *of;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n_origins; i++)
		n = c->origins[i].stack >= n ? c->origins[i].stack + 1 : n;
	of = xcalloc(n, sizeof(*of));
	for (uint32_t i = 0; i < c->n_origins; i++) {
		struct totals *to = &of[c->origins[i].stack];
		uint32_t track = c->origins[i].track;
		int64_t first, last;

		if (origin[i].calls == 0)
			continue;
		first = heap_track_time(&v->state->track[track], origin[i].first) -
			v->state->begin_ns[track];
		last = heap_track_time(&v->state->track[track], origin[i].last) -
		       v->state->begin_ns[track];
		to->first_ns = to->calls == 0 || first < to->first_ns ? first : to->first_ns;
		to->last_ns = to->calls == 0 || last > to->last_ns ? last : to->last_ns;
		to->calls += origin[i].calls;
		to->bytes += origin[i].bytes;
		to->leaked += origin[i].leaked;
	}
	free(origin);
	return of;
}

static int64_t part_leaked(const struct totals *t)
{
	return t->calls ? (int64_t)((double)t->leaked / (double)t->calls * 100) : 0;
}

static bool origin_holds(const struct evaluation *v, const struct term *t,
			 const struct heap_origin *o, const struct totals *totals)
{
	const struct totals *of = totals ? &totals[o->stack] : NULL;

	switch ((int)t->kind) {
	case TERM_STACK_CALLS:
		return in_range(t, (int64_t)of->calls);
	case TERM_STACK_BYTES:
		return in_range(t, (int64_t)of->bytes);
	case TERM_STACK_LEAKED:
		return in_range(t, (int64_t)of->leaked);
	case TERM_STACK_LEAKED_PERCENT:
		return in_range(t, part_leaked(of));
	case TERM_STACK_FIRST:
		return in_range(t, of->first_ns);
	case TERM_STACK_LAST:
		return in_range(t, of->last_ns);
	case TERM_STACK_SPAN:
		return in_range(t, of->last_ns - of->first_ns);
	default:
		return t->word == BLOCK_REALLOC ? o->flags & ORIGIN_REALLOC
						: o->event != v->malloc_event;
	}
}

static bool is_of_totals(const struct term *t)
{
	switch ((int)t->kind) {
	case TERM_STACK_CALLS:
	case TERM_STACK_BYTES:
	case TERM_STACK_LEAKED:
	case TERM_STACK_LEAKED_PERCENT:
	case TERM_STACK_FIRST:
	case TERM_STACK_LAST:
	case TERM_STACK_SPAN:
		return true;
	default:
		return false;
	}
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
	int64_t at_ns = heap_track_time_near(track, begin, &life->near);
	uint32_t next = life->near + 1;

	life->begin.from = track->n_ticks ? track->tick[life->near].moment : 0;
	life->begin.to = next < track->n_ticks ? track->tick[next].moment : UINT32_MAX;
	life->end.from = heap_track_moment_near(track, later(at_ns, t->from_ns), &life->border[0]);
	life->end.to = heap_track_moment_near(track, later(at_ns, t->to_ns), &life->border[1]);
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

static bool is_freed_in(const struct evaluation *v, const struct row *r, const bool *stacks)
{
	uint32_t by;

	if (r->end == END_NEVER || !v->c->release)
		return false;
	by = allocation_release(v->c, r->at);
	return by < v->c->n_origins && v->c->origins[by].stack < v->n_stacks &&
	       stacks[v->c->origins[by].stack];
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
	case TERM_FREED_IN:
		return is_freed_in(v, r, ready->freed_in);
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

/* Rows of one group of the only track, which have begun and, where they are brief, ended. */
struct group {
	uint32_t first_row;   /* of the group */
	uint32_t first, last; /* moments: of the first row's begin, and behind the last row's */
	uint64_t brief;
	struct heap_rows_read kept;
	uint32_t n_kept;
	unsigned worker;
};

static uint64_t each_brief(const struct evaluation *v, const struct group *g, uint32_t term,
			   uint64_t rows)
{
	uint64_t out = 0;

	for (; rows; rows &= rows - 1) {
		uint32_t i = g->first_row + (uint32_t)__builtin_ctzll(rows);
		uint32_t begin = allocation_begin(v->c, i);
		const struct row r = { i,
				       0,
				       allocation_origin(v->c, i),
				       begin,
				       (begin + 1) | END_TEMPORARY,
				       allocation_size(v->c, i) };

		if (holds(v, &r, term, g->worker))
			out |= rows & -rows;
	}
	return out;
}

/* Brief rows, as bits, for which a term holds. What it says of times it mostly says of all of a group. */
static uint64_t brief_hold(const struct evaluation *v, const struct group *g, uint32_t term,
			   uint64_t rows)
{
	const struct ready_term *ready = &v->term[term];
	const struct heap_span *span = ready->span;
	const struct term *t = ready->term;
	struct life *life;

	if (ready->origin || rows == 0)
		return each_brief(v, g, term, rows);
	switch ((int)t->kind) {
	case TERM_LIFETIME:
		life = &v->life[g->worker][term];
		if (!in_span(&life->begin, g->first))
			find_life(&v->state->track[0], t, g->first, life);
		/* What began later has to end later. */
		if (g->last < life->end.from)
			return 0;
		if (t->from_ns <= 0 && g->last < life->end.to)
			return rows;
		break;
	case TERM_ALIVE:
		if (span->from <= g->first || span->from > g->last)
			return 0;
		break;
	case TERM_FREED:
		if (g->first + 1 >= span->from && g->last < span->to)
			return rows;
		if (g->last < span->from || g->first + 1 >= span->to)
			return 0;
		break;
	case TERM_BLOCK:
		if (t->word != BLOCK_HANDED)
			return t->word == BLOCK_LEAKED ? 0 : rows;
		break;
	}
	return each_brief(v, g, term, rows);
}

static uint64_t kept_hold(const struct evaluation *v, const struct group *g, uint32_t term,
			  uint64_t rows)
{
	uint64_t out = 0;

	for (uint32_t i = 0; i < g->n_kept; i++) {
		uint64_t bit = UINT64_C(1) << g->kept.row[i] % HEAP_GROUP;
		struct row r = { g->kept.row[i],    0,
				 g->kept.origin[i], g->kept.begin[i],
				 g->kept.end[i],    g->kept.size[i] };

		if ((r.end & END_MOMENT) >= v->state->track[0].n_moments)
			r.end = END_NEVER;
		if (rows & bit && holds(v, &r, term, g->worker))
			out |= bit;
	}
	return out;
}

/* The same as evaluate(), most of it for all brief rows at once; false: it cannot. */
static bool evaluate_quickly(const struct evaluation *v, uint32_t from, uint32_t to,
			     unsigned worker, uint64_t *out)
{
	struct group g = { .first_row = from - from % HEAP_GROUP, .worker = worker };
	uint64_t left;

	if (v->c->n_tracks != 1)
		return false;
	g.first = allocation_begin(v->c, from);
	g.last = allocation_begin(v->c, to - 1) + 1;
	if (g.last >= v->state->track[0].n_moments)
		return false;
	g.brief = allocation_read_kept(v->c, from, to, NULL, &g.kept, &g.n_kept);
	left = UINT64_MAX >> (HEAP_GROUP - (to - from)) << from % HEAP_GROUP;
	for (uint32_t k = 0; k < v->n_terms && left; k++) {
		uint64_t hold = brief_hold(v, &g, k, g.brief & left) |
				kept_hold(v, &g, k, left & ~g.brief);

		left &= v->term[k].term->negated ? ~hold : hold;
	}
	*out = left;
	return true;
}

static void scan_blocks(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct evaluation *v = arg;
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = to - at > HEAP_GROUP ? at + HEAP_GROUP : to;
		if (!evaluate_quickly(v, at, end, worker, &v->out[at / HEAP_GROUP]))
			v->out[at / HEAP_GROUP] = evaluate(v, at, end, worker);
	}
}

static void make_ready(struct evaluation *v, const struct term *const *terms,
		       const bool *const *freed_in)
{
	v->term = xcalloc(v->n_terms, sizeof(*v->term));
	for (uint32_t i = 0; i < v->n_terms; i++) {
		struct ready_term *r = &v->term[i];

		r->term = terms[i];
		r->freed_in = freed_in[i];
		if (is_of_origins(terms[i]))
			r->origin = find_origins(v, terms[i]);
		else if (terms[i]->kind == TERM_FREED || terms[i]->kind == TERM_ALIVE)
			r->span = find_spans(v, terms[i]);
	}
}

uint64_t *block_filter(const struct heap_state *state, const struct term *const *terms,
		       const bool *const *freed_in, uint32_t n, uint32_t n_stacks,
		       uint32_t malloc_event)
{
	struct evaluation v = { .state = state,
				.c = &state->columns,
				.malloc_event = malloc_event,
				.n_terms = n,
				.n_stacks = n_stacks };
	unsigned n_threads = heap_scan_threads(state->columns.n_allocations);

	if (n == 0)
		return NULL;
	make_ready(&v, terms, freed_in);
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
