/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Filters of samples as filters of allocations. */
#include "config.h"

#include "query/core/heap_pass.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "query/core/block_filter.h"
#include "query/core/filter_term.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int64_t begin_of(const struct profile *p, const struct profile_counts *counts,
			const struct heap_track *t)
{
	int64_t begin = TIME_NONE;

	if (t->process.v < counts->n_processes)
		begin = profile_capture_span(p, counts, profile_process(p, t->process)->capture)
				.begin_ns;
	return begin == TIME_NONE ? 0 : begin;
}

static uint32_t capture_of(const struct profile *p, const struct heap_track *t)
{
	return profile_process(p, t->process)->capture.v;
}

/* When the heaps of each capture end; as long as one goes on, never. [n_captures]; the caller frees. */
static int64_t *find_ends(const struct heap_state *s, const struct profile *p, uint32_t n_captures)
{
	int64_t *end = xcalloc(n_captures, sizeof(*end));

	for (uint32_t i = 0; i < s->columns.n_tracks; i++) {
		uint32_t capture = capture_of(p, &s->track[i]);
		int64_t gone = s->track[i].gone_ns == TIME_NONE ? INT64_MAX : s->track[i].gone_ns;

		if (capture < n_captures && gone > end[capture])
			end[capture] = gone;
	}
	return end;
}

/* Who was gone while others went on. */
static void find_gone(struct heap_state *s, const struct profile *p, uint32_t n_captures)
{
	int64_t *end = find_ends(s, p, n_captures);

	for (uint32_t i = 0; i < s->columns.n_tracks; i++) {
		uint32_t capture = capture_of(p, &s->track[i]);
		int64_t gone = s->track[i].gone_ns;

		s->gone_ns[i] = INT64_MAX;
		if (gone != TIME_NONE && capture < n_captures && gone < end[capture])
			s->gone_ns[i] = gone - s->begin_ns[i];
	}
	free(end);
}

void heap_state_init(struct heap_state *s, const struct profile *p,
		     const struct profile_counts *counts)
{
	uint32_t n;

	*s = (struct heap_state){ .exact = true };
	profile_heap_of(p, counts, &s->columns);
	n = s->columns.n_tracks;
	s->most = 0x1p62 / ((double)s->columns.n_allocations + 1);
	s->track = xcalloc(n, sizeof(*s->track));
	s->begin_ns = xcalloc(n, sizeof(*s->begin_ns));
	for (uint32_t i = 0; i < n; i++) {
		s->track[i] = profile_heap_track_of(p, counts, (track_id){ i });
		s->begin_ns[i] = begin_of(p, counts, &s->track[i]);
		s->exact &= !heap_is_sampled(&s->track[i]);
	}
	s->gone_ns = xcalloc(n, sizeof(*s->gone_ns));
	find_gone(s, p, counts->n_captures);
}

void heap_state_done(struct heap_state *s)
{
	free(s->track);
	free(s->begin_ns);
	free(s->gone_ns);
	*s = (struct heap_state){ 0 };
}

uint32_t heap_state_moment(const struct heap_state *s, uint32_t track, int64_t since_ns)
{
	int64_t at;

	if (__builtin_add_overflow(since_ns, s->begin_ns[track], &at))
		at = INT64_MAX;
	return heap_track_moment(&s->track[track], at);
}

uint32_t heap_state_level(const struct heap_state *s, uint32_t track, int64_t since_ns)
{
	if (since_ns > s->gone_ns[track] ||
	    (since_ns == INT64_MAX && s->gone_ns[track] < INT64_MAX))
		return 0;
	return heap_level_known(&s->track[track], heap_state_moment(s, track, since_ns));
}

/* Is the origin's process of a capture that passes? */
static bool capture_passes(const struct heap_state *state, const struct compiled_filter *s,
			   const struct heap_origin *o)
{
	process_id process = state->track[o->track].process;
	uint32_t capture = s->capture ? profile_process(s->profile, process)->capture.v : 0;

	return !s->capture || (capture < s->n_captures && s->capture[capture]);
}

/* What a sieve of samples says of an origin; what it does not know yet does not pass. */
static bool origin_passes(const struct heap_state *state, const struct profile_counts *counts,
			  const struct compiled_filter *s, const struct heap_origin *o)
{
	uint32_t thread = o->thread == ID_NONE ? counts->n_threads : o->thread;

	if (o->stack >= counts->n_stacks || o->event >= counts->n_events ||
	    thread > counts->n_threads)
		return false;
	return s->passes_all ||
	       ((!s->stack || s->stack[o->stack]) && (!s->thread || s->thread[thread]) &&
		(!s->event || s->event[o->event]) && (!s->cpu || s->cpu[CPU_NONE]) &&
		capture_passes(state, s, o));
}

/* That of malloc: readers build it before others. */
static uint32_t first_event(const struct heap_columns *c)
{
	uint32_t first = UINT32_MAX;

	for (uint32_t i = 0; i < c->n_origins; i++)
		if (c->origins[i].event < first)
			first = c->origins[i].event;
	return first;
}

struct heap_filter *heap_filter_new(const struct heap_state *state,
				    const struct profile_counts *counts,
				    const struct compiled_filter *s)
{
	const struct heap_columns *c = &state->columns;
	struct heap_filter *h = xcalloc(1, sizeof(*h));

	h->users = 1;
	h->n_origins = c->n_origins;
	h->n_allocations = c->n_allocations;
	h->group = c->group;
	h->n_times = s->n_times;
	h->origin = xcalloc(c->n_origins, sizeof(*h->origin));
	for (uint32_t i = 0; i < c->n_origins; i++)
		h->origin[i] = origin_passes(state, counts, s, &c->origins[i]);
	h->block = block_filter(state, s->blocks, (const bool *const *)s->freed_in, s->n_blocks,
				counts->n_stacks, first_event(c));
	h->times = xcalloc(s->n_times, sizeof(*h->times));
	for (uint32_t i = 0; i < s->n_times; i++) {
		const struct term *t = s->times[i];
		struct heap_times *to = &h->times[i];

		to->negated = t->negated;
		to->span = xcalloc(c->n_tracks, sizeof(*to->span));
		for (uint32_t j = 0; j < c->n_tracks; j++) {
			to->span[j].from = heap_state_moment(state, j, t->from_ns);
			to->span[j].to = heap_state_moment(state, j, t->to_ns);
		}
	}
	return h;
}

struct heap_filter *heap_filter_share(struct heap_filter *h)
{
	__atomic_add_fetch(&h->users, 1, __ATOMIC_RELAXED);
	return h;
}

void heap_filter_free(struct heap_filter *h)
{
	if (!h || __atomic_sub_fetch(&h->users, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (uint32_t i = 0; i < h->n_times; i++)
		free(h->times[i].span);
	free(h->times);
	free(h->block);
	free(h->origin);
	free(h);
}

/* Rows of which these are bits, as the term lets them pass. */
static uint64_t pass_by_time(const struct heap_times *t, const struct heap_columns *c,
			     uint32_t group, uint64_t rows)
{
	uint32_t first = group * HEAP_GROUP + (uint32_t)__builtin_ctzll(rows);
	uint32_t last = group * HEAP_GROUP + HEAP_GROUP - 1 - (uint32_t)__builtin_clzll(rows);
	uint64_t in = 0;

	if (c->n_tracks == 1) {
		uint32_t from = allocation_begin(c, first), to = allocation_begin(c, last);

		if (from >= t->span->from && to < t->span->to)
			return t->negated ? 0 : rows;
		if (from >= t->span->to || to < t->span->from)
			return t->negated ? rows : 0;
	}
	for (uint64_t left = rows; left; left &= left - 1) {
		uint32_t i = group * HEAP_GROUP + (uint32_t)__builtin_ctzll(left);
		const struct heap_span *s = &t->span[c->origins[allocation_origin(c, i)].track];
		uint32_t begin = allocation_begin(c, i);

		if ((begin >= s->from && begin < s->to) != t->negated)
			in |= left & -left;
	}
	return in;
}

uint64_t heap_filter_rows(const struct heap_filter *h, const struct heap_columns *c, uint32_t from,
			  uint32_t to)
{
	uint64_t rows = heap_filter_blocks(h, from, to);

	for (uint32_t i = 0; i < h->n_times && rows; i++)
		rows = pass_by_time(&h->times[i], c, from / HEAP_GROUP, rows);
	return rows;
}

void heap_pass_init(struct heap_pass *h, const struct heap_state *state,
		    const struct sample_scan *r, uint32_t column, const struct heap_pass *like)
{
	const struct heap_columns *c = &state->columns;

	h->own = heap_filter_new(state, &r->counts, &r->column[column].sieve);
	h->lens = like ? heap_filter_share(like->lens)
		       : heap_filter_new(state, &r->counts, &r->sieve);
	for (uint32_t i = 0; i < c->n_origins; i++)
		h->own->origin[i] &= r->column[column].all_heaps ||
				     c->origins[i].event == r->column[column].event;
}

void heap_pass_init_again(struct heap_pass *h, const struct heap_state *state,
			  const struct sample_scan *r, struct heap_filter *lens)
{
	const struct heap_columns *c = &state->columns;
	const struct heap_pass before = { NULL, lens };
	bool same = lens && lens->n_origins == c->n_origins &&
		    lens->n_allocations == c->n_allocations && lens->group == c->group;

	heap_pass_init(h, state, r, 0, same ? &before : NULL);
}

void heap_pass_done(struct heap_pass *h)
{
	heap_filter_free(h->own);
	heap_filter_free(h->lens);
	*h = (struct heap_pass){ NULL, NULL };
}

bool heap_pass_alike(const struct heap_columns *c, const struct heap_pass *a,
		     const struct heap_pass *b, uint32_t track)
{
	if (!heap_filter_by_origin(a->own) || !heap_filter_by_origin(a->lens) ||
	    !heap_filter_by_origin(b->own) || !heap_filter_by_origin(b->lens))
		return false;
	for (uint32_t i = 0; i < c->n_origins; i++)
		if (c->origins[i].track == track &&
		    (a->own->origin[i] && a->lens->origin[i]) !=
			    (b->own->origin[i] && b->lens->origin[i]))
			return false;
	return true;
}

/* The rate at a moment: the last one that is not after it. NULL: all were recorded. */
static const struct heap_rate *rate_at(const struct heap_track *t, uint32_t moment)
{
	uint32_t from = 0; /* rates below from are not after moment */

	BISECT(from, t->n_rates, i, t->rate[i].moment <= moment);
	return from > 0 ? &t->rate[from - 1] : NULL;
}

/* The text of the last fact of that name in that section; NULL: there is none. */
static const char *text_of(const struct profile *p, const struct profile_counts *counts,
			   const char *section, const char *name)
{
	for (uint32_t i = counts->n_facts; i > 0; i--) {
		struct fact f = profile_fact(p, i - 1);

		if (strcmp(profile_string(p, f.name, NULL), name) == 0 &&
		    strcmp(profile_string(p, f.section, NULL), section) == 0)
			return profile_string(p, f.text, NULL);
	}
	return NULL;
}

struct heap_manner heap_manner_of(const struct profile *p, const struct profile_counts *counts)
{
	struct heap_manner out = { 0 };
	struct heap_state s;
	bool one;

	heap_state_init(&s, p, counts);
	out.sampled = !s.exact;
	for (uint32_t i = 0; i < s.columns.n_tracks; i++) {
		out.lacks |= s.track[i].lacks;
		out.attached |= s.track[i].attached;
		out.lives_on |= s.track[i].lives_on;
		if (s.track[i].culled_ns > out.culled_ns)
			out.culled_ns = s.track[i].culled_ns;
		out.n_gone += s.gone_ns[i] < INT64_MAX;
	}
	one = s.columns.n_tracks == 1;
	heap_state_done(&s);
	if (!one)
		return out;
	/* A program that it could not become has no end of that kind. */
	if (text_of(p, counts, "file", "ended"))
		out.became = text_of(p, counts, "file", "became");
	out.stopped = text_of(p, counts, "losses", "stopped");
	out.goes_on = text_of(p, counts, "file", "goes on");
	out.clock = text_of(p, counts, "heap", "clock");
	out.paused = text_of(p, counts, "file", "paused");
	return out;
}

bool heap_is_sampled(const struct heap_track *t)
{
	for (uint32_t i = 0; i < t->n_rates; i++)
		if (t->rate[i].sample_bytes > 0)
			return true;
	return false;
}

double heap_stands_for(const struct heap_track *t, uint32_t begin, uint64_t size)
{
	const struct heap_rate *r = rate_at(t, begin);

	if (!r || !(r->sample_bytes > 0) || (r->exact_from > 0 && size >= r->exact_from))
		return 1.0;
	/* A block of no bytes is sampled as one of a byte. */
	return 1.0 / -expm1(-(size > 0 ? (double)size : 1.0) / r->sample_bytes);
}

int64_t heap_bytes_for(const struct heap_state *s, uint32_t track, uint32_t i)
{
	uint64_t size = allocation_size(&s->columns, i);

	if (s->exact)
		return (int64_t)size;
	return llround(
		fmin(heap_stands_for(&s->track[track], allocation_begin(&s->columns, i), size) *
			     (double)size,
		     s->most));
}
