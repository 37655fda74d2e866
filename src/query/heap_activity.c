/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap_activity.h"

#include "base/mem.h"
#include "query/core/heap_measure.h"
#include "query/core/heap_scan.h"
#include "query/core/heap_slots.h"

#include <stdlib.h>

/* More keys than this and there is one thread, which needs no slices of its own. */
#define KEYS_MOST 4096u

struct scan {
	const struct sample_scan *r;
	struct heap_state state;
	struct heap_measure measure;
	struct heap_slots *slots; /* [n_tracks]; NULL: no slices; owned */
	struct heap_span *within; /* [n_tracks] moments that count; owned */
	uint32_t *gone; /* [n_tracks] the slot in which what the process held goes; likewise */
	uint32_t *key;  /* [n_origins] ID_NONE: does not pass; owned */
	uint32_t n_keys;
	bool timed;                               /* filters speak of time, and that rules */
	struct thread_sums *sums[HEAP_SCAN_MOST]; /* the first is the caller's */
	struct thread_sums own[HEAP_SCAN_MOST];
};

static void add(int64_t *to, int64_t x)
{
	if (__builtin_add_overflow(*to, x, to))
		*to = x < 0 ? INT64_MIN : INT64_MAX;
}

static void add_slice(const struct scan *s, struct thread_sums *to, uint32_t track, uint32_t key,
		      uint32_t moment, int64_t x)
{
	uint32_t slot = heap_slots_of(&s->slots[track], moment), n = to->span.n;

	/* What was there before is there in the first one, too. */
	if (slot == SLOT_BEFORE) {
		if (!s->measure.is_level && to->span.from_ns > 0)
			return;
		slot = 0;
	}
	if (slot < n)
		add(&to->slice[(size_t)key * n + slot], x);
}

/* What is there no more: it was freed, or went with its process. */
static void take_away(const struct scan *s, struct thread_sums *to, uint32_t track, uint32_t key,
		      uint32_t end, int64_t x)
{
	uint32_t n = to->span.n, slot = s->gone[track];

	if (end != END_NEVER)
		add_slice(s, to, track, key,
			  heap_level_tells(&s->state.track[track], end & END_MOMENT), -x);
	else if (slot == SLOT_BEFORE || slot < n)
		add(&to->slice[(size_t)key * n + (slot == SLOT_BEFORE ? 0 : slot)], -x);
}

/* A block over time: what is there from its begin to its end, or what happened at its begin. */
static void note_time(const struct scan *s, struct thread_sums *to, uint32_t key, uint32_t track,
		      uint32_t begin, uint32_t end, int64_t x)
{
	struct heap_when when;

	if (s->measure.is_level) {
		add_slice(s, to, track, key, heap_level_tells(&s->state.track[track], begin), x);
		take_away(s, to, track, key, end, x);
	} else if (heap_slots_when(&s->slots[track], begin, begin, end, &when)) {
		heap_slots_spread(&s->slots[track], &when, begin, x, to->span.n,
				  to->slice + (size_t)key * to->span.n);
	} else {
		add_slice(s, to, track, key, begin, x);
	}
}

/* The moment at which it happened: of a block handed out its begin, of a free its end. */
static void add_block(const struct scan *s, struct thread_sums *to, uint32_t key, uint32_t i,
		      uint32_t moment, uint32_t end)
{
	const struct heap_columns *a = &s->state.columns;
	uint32_t origin = allocation_origin(a, i), track = a->origins[origin].track,
		 begin = allocation_begin(a, i);
	uint64_t size = allocation_size(a, i);
	int64_t x = s->state.exact
			    ? heap_measure_exactly(&s->measure, size)
			    : heap_measure_about(&s->measure, &s->state.track[track], begin, size);
	bool counts = heap_measure_counts(&s->measure, track, begin, end);

	if (s->slots && (s->measure.is_level || counts))
		note_time(s, to, key, track, moment, end, x);
	if (!counts || moment < s->within[track].from || moment >= s->within[track].to)
		return;
	add(&to->weight[key], x);
	to->n_samples[key]++;
}

static bool passes(const struct scan *s, uint32_t row, uint32_t origin, uint32_t begin)
{
	const struct heap_columns *a = &s->state.columns;

	return heap_pass_own(&s->measure.pass, a, row, origin, begin) &&
	       heap_pass_lens(&s->measure.pass, a, row, origin, begin);
}

static void scan_blocks(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	const struct scan *s = arg;
	const struct heap_columns *a = &s->state.columns;

	for (uint32_t i = from; i < to; i++) {
		uint32_t origin = allocation_origin(a, i), moment = allocation_begin(a, i),
			 track = a->origins[origin].track;
		uint32_t end = allocation_end(a, i, s->state.track[track].n_moments);

		if (s->measure.by_free && !heap_measure_free(a, i, end, &origin, &moment))
			continue;
		if (s->key[origin] != ID_NONE && (!s->timed || passes(s, i, origin, moment)))
			add_block(s, s->sums[worker], s->key[origin], i, moment, end);
	}
}

static void add_bulk(const struct scan *s, const struct heap_bulk *b)
{
	uint32_t track = s->state.columns.origins[b->origin].track, key = s->key[b->origin];
	int64_t x = heap_measure_bulk(&s->measure, b);
	struct thread_sums *to = s->sums[0];
	struct heap_when when;

	if (key == ID_NONE || !heap_measure_has_bulk(&s->measure) ||
	    (s->timed && !passes(s, ID_NONE, b->origin, b->moment)))
		return;
	if (s->slots && heap_slots_when_bulk(&s->slots[track], b, &when))
		heap_slots_spread(&s->slots[track], &when, b->moment, x, to->span.n,
				  to->slice + (size_t)key * to->span.n);
	else if (s->slots)
		add_slice(s, to, track, key, b->moment, x);
	if (b->moment < s->within[track].from || b->moment >= s->within[track].to)
		return;
	add(&to->weight[key], x);
	to->n_samples[key] += heap_measure_bulk_blocks(&s->measure, b);
}

/* The keys of origins that pass by all but time: those of their threads, or each its own. */
static void find_keys(struct scan *s, const struct groups *keys)
{
	const struct heap_columns *a = &s->state.columns;
	const struct heap_pass *pass = &s->measure.pass;

	s->n_keys = keys ? keys->n : a->n_origins;
	s->key = xmalloc(a->n_origins * sizeof(*s->key));
	for (uint32_t i = 0; i < a->n_origins; i++) {
		s->key[i] = !pass->own->origin[i] || !pass->lens->origin[i] ? ID_NONE
			    : !keys                                         ? i
				    : groups_of_row(keys, a->origins[i].thread);
	}
}

static void find_spans(struct scan *s, const struct thread_sums *to)
{
	const struct time_span *span = &to->span;
	uint32_t n = s->state.columns.n_tracks;

	s->within = xcalloc(n, sizeof(*s->within));
	if (to->slice) {
		s->slots = xcalloc(n, sizeof(*s->slots));
		s->gone = xcalloc(n, sizeof(*s->gone));
	}
	for (uint32_t i = 0; i < n; i++) {
		s->within[i].to = UINT32_MAX;
		if (to->within && to->whole_ns >= 0) {
			s->within[i].from = heap_state_moment(&s->state, i, span->from_ns);
			s->within[i].to = heap_state_moment(&s->state, i, span->to_ns);
		}
		if (!s->slots)
			continue;
		heap_slots_init(&s->slots[i], &s->state, i, span->from_ns, span->to_ns, span->n);
		s->gone[i] = heap_slots_gone(&s->state, i, span->from_ns, span->to_ns, span->n);
	}
}

/* Sums for another thread. */
static void begin_sums(struct scan *s, unsigned worker)
{
	struct thread_sums *to = &s->own[worker];

	*to = *s->sums[0];
	to->weight = xcalloc(s->n_keys, sizeof(*to->weight));
	to->n_samples = xcalloc(s->n_keys, sizeof(*to->n_samples));
	if (to->slice)
		to->slice = xcalloc((size_t)s->n_keys * to->span.n, sizeof(*to->slice));
	s->sums[worker] = to;
}

static void end_sums(struct scan *s, unsigned worker)
{
	struct thread_sums *from = &s->own[worker], *to = s->sums[0];

	for (uint32_t i = 0; i < s->n_keys; i++) {
		add(&to->weight[i], from->weight[i]);
		to->n_samples[i] += from->n_samples[i];
	}
	for (size_t i = 0; to->slice && i < (size_t)s->n_keys * to->span.n; i++)
		add(&to->slice[i], from->slice[i]);
	free(from->weight);
	free(from->n_samples);
	free(from->slice);
}

/* What is there, from what came and went. */
static void sum_levels(const struct thread_sums *to, uint32_t n_keys)
{
	uint32_t n = to->span.n;

	for (uint32_t i = 0; i < n_keys; i++)
		for (uint32_t k = 1; k < n; k++)
			add(&to->slice[(size_t)i * n + k], to->slice[(size_t)i * n + k - 1]);
}

static int scan_all(struct scan *s, struct progress *progress)
{
	const struct heap_columns *a = &s->state.columns;
	unsigned n = s->n_keys > KEYS_MOST ? 1 : heap_scan_threads(a->n_allocations);
	int rc;

	for (unsigned i = 1; i < n; i++)
		begin_sums(s, i);
	rc = heap_scan(a->n_allocations, n, progress, scan_blocks, s);
	for (unsigned i = 1; i < n; i++)
		end_sums(s, i);
	for (uint32_t i = 0; i < a->n_bulk; i++)
		add_bulk(s, &a->bulk[i]);
	if (s->slots && s->measure.is_level)
		sum_levels(s->sums[0], s->n_keys);
	return rc;
}

static void scan_done(struct scan *s)
{
	for (uint32_t i = 0; s->slots && i < s->state.columns.n_tracks; i++)
		heap_slots_done(&s->slots[i]);
	free(s->slots);
	free(s->gone);
	free(s->within);
	free(s->key);
	heap_measure_done(&s->measure);
	heap_state_done(&s->state);
}

int heap_activity(const struct profile *p, const struct sample_scan *r, const struct groups *keys,
		  struct progress *progress, struct thread_sums *to)
{
	struct scan s = { .r = r, .sums = { to } };
	int rc;

	if (!heap_measure_applies(p, r, to->column))
		return 0;
	heap_state_init(&s.state, p, &r->counts);
	rc = heap_measure_init(&s.measure, &s.state, r, to->column,
			       r->lens->column[to->column].metric.measure, NULL, NULL, progress);
	s.timed = s.measure.pass.own->block || s.measure.pass.lens->block ||
		  (!to->within && (s.measure.pass.own->n_times || s.measure.pass.lens->n_times));
	find_keys(&s, keys);
	find_spans(&s, to);
	if (rc == 0)
		rc = scan_all(&s, progress);
	scan_done(&s);
	return rc;
}

/* Slices of origins to those of their stacks; those of threads are at their place. */
static void add_columns(const struct scan *s, bool by_thread, struct weights *w)
{
	const struct heap_columns *a = &s->state.columns;
	uint32_t n = w->n_columns;

	for (uint32_t i = 0; i < s->n_keys; i++) {
		uint32_t to = by_thread ? i : a->origins[i].stack;

		for (uint32_t k = 0; k < n; k++)
			add(&w->stack[(size_t)to * n + k], s->sums[0]->slice[(size_t)i * n + k]);
	}
}

int heap_activity_columns(const struct profile *p, const struct sample_scan *r,
			  const struct groups *threads, const struct time_span *span,
			  struct progress *progress, struct weights *to)
{
	enum measure m = r->lens->column[0].metric.measure;
	struct thread_sums sums = { .span = *span, .within = true };
	struct scan s = { .r = r, .sums = { &sums } };
	int rc;

	if (!heap_measure_applies(p, r, 0))
		return 0;
	heap_state_init(&s.state, p, &r->counts);
	/* When most was there does not matter: slices of what is there are the same. */
	rc = heap_measure_init(&s.measure, &s.state, r, 0, measure_is_level(m) ? MEASURE_LIVE : m,
			       NULL, NULL, progress);
	find_keys(&s, threads);
	sums.weight = xcalloc(s.n_keys, sizeof(*sums.weight));
	sums.n_samples = xcalloc(s.n_keys, sizeof(*sums.n_samples));
	sums.slice = xcalloc(s.n_keys, span->n * sizeof(*sums.slice));
	find_spans(&s, &sums);
	if (rc == 0)
		rc = scan_all(&s, progress);
	if (rc == 0)
		add_columns(&s, threads != NULL, to);
	scan_done(&s);
	free(sums.weight);
	free(sums.n_samples);
	free(sums.slice);
	return rc;
}
