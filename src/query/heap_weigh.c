/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pass over the allocations for each column. live, peak and leaked are one question, asked at another
 * moment each: which blocks had been handed out before it and not given back?
 *
 * Sampled blocks stand for several: counts of them are fractions then.
 */
#include "config.h"

#include "heap_weigh.h"

#include "heap_pass.h"
#include "mem.h"
#include "task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Blocks are counted in parts of this where tracks are sampled. */
#define SAMPLED_SCALE 1024

/* Allocations between two looks at whether somebody wants to stop. */
#define BATCH 65536

/* One column on its way. */
struct weighing {
	const struct heap_state *state;
	struct heap_pass pass;
	struct weights *to;
	uint32_t column;
	enum measure measure;
	uint32_t
		*at; /* [n_tracks] moments that have happened, for what is there at a time; owned */
	bool *threads; /* see heap_weigh(); NULL but for column 0 */
};

/* For every track the moments before the measure's time; peaks have to be looked for. */
static int find_moments(struct weighing *g, int64_t cursor_ns, struct progress *progress)
{
	const struct heap_state *s = g->state;

	g->at = xcalloc(s->columns.n_tracks, sizeof(*g->at));
	if (g->measure == MEASURE_PEAK)
		return heap_peaks(s, &g->pass, progress, g->at);
	for (uint32_t i = 0; i < s->columns.n_tracks; i++)
		g->at[i] = g->measure == MEASURE_LIVE ? heap_state_moment(s, i, cursor_ns)
						      : s->track[i].n_moments;
	return 0;
}

/* Does the allocation count? */
static bool counts(const struct weighing *g, uint32_t track, uint32_t i)
{
	const struct heap_columns *c = &g->state->columns;
	uint32_t end = allocation_end(c, i, g->state->track[track].n_moments);

	switch (g->measure) {
	case MEASURE_WEIGHT:
	case MEASURE_SAMPLES:
		return true;
	case MEASURE_LIVE:
	case MEASURE_PEAK:
	case MEASURE_LEAKED:
		return c->begin[i] < g->at[track] &&
		       (end == END_NEVER || (end & END_MOMENT) >= g->at[track]);
	case MEASURE_FREED:
		return end != END_NEVER;
	case MEASURE_TEMPORARY:
		return end != END_NEVER && (end & END_TEMPORARY);
	}
	return false;
}

static bool counts_blocks(enum measure m)
{
	return m == MEASURE_SAMPLES || m == MEASURE_TEMPORARY;
}

/* What the allocation adds, in the column's scale. */
static int64_t amount(const struct weighing *g, uint32_t track, uint64_t size)
{
	int64_t scale = g->to->scale[g->column];
	double stands_for;

	if (g->state->exact) {
		if (counts_blocks(g->measure))
			return 1;
		return size > INT64_MAX ? INT64_MAX : (int64_t)size;
	}
	stands_for = heap_stands_for(&g->state->track[track], size);
	if (!counts_blocks(g->measure))
		stands_for *= (double)size;
	stands_for *= (double)scale;
	return stands_for < 0x1p62 ? llround(stands_for) : (int64_t)1 << 62;
}

/* Sums stay below what 63 bits hold, whatever sizes a file claims. */
static void add(int64_t *to, int64_t x)
{
	if (__builtin_add_overflow(*to, x, to))
		*to = INT64_MAX;
}

static void add_to_column(struct weighing *g, uint32_t origin, uint32_t begin, int64_t x,
			  uint64_t n_blocks)
{
	const struct heap_columns *c = &g->state->columns;
	const struct heap_origin *o = &c->origins[origin];
	struct weights *w = g->to;

	add(&w->whole[g->column], x);
	if (!heap_pass_lens(&g->pass, c, origin, begin))
		return;
	add(&w->total[g->column], x);
	add(&w->stack[(size_t)o->stack * w->n_columns + g->column], x);
	if (g->column != 0)
		return;
	w->samples[o->stack] += n_blocks;
	w->n_samples += n_blocks;
	if (o->thread != ID_NONE)
		g->threads[o->thread] = true;
}

static int add_allocations(struct weighing *g, struct progress *progress)
{
	const struct heap_columns *c = &g->state->columns;

	for (uint32_t i = 0; i < c->n_allocations; i++) {
		uint32_t origin = c->origin[i], track;

		if (i % BATCH == 0 && progress_cancelled(progress))
			return -ECANCELED;
		if (!heap_pass_own(&g->pass, c, origin, c->begin[i]))
			continue;
		track = c->origins[origin].track;
		if (counts(g, track, i))
			add_to_column(g, origin, c->begin[i],
				      amount(g, track, allocation_size(c, i)), 1);
	}
	return 0;
}

/* What was only counted is freed by now, and never there for long. */
static void add_bulk(struct weighing *g)
{
	const struct heap_columns *c = &g->state->columns;

	for (uint32_t i = 0; i < c->n_bulk; i++) {
		const struct heap_bulk *b = &c->bulk[i];
		uint64_t x = b->bytes;

		if (g->measure == MEASURE_LIVE || g->measure == MEASURE_PEAK ||
		    g->measure == MEASURE_LEAKED ||
		    !heap_pass_own(&g->pass, c, b->origin, b->moment))
			continue;
		if (counts_blocks(g->measure))
			x = g->measure == MEASURE_SAMPLES ? b->calls : b->temporary;
		if (x > (uint64_t)INT64_MAX / SAMPLED_SCALE)
			x = (uint64_t)INT64_MAX / SAMPLED_SCALE;
		add_to_column(g, b->origin, b->moment, (int64_t)x * g->to->scale[g->column],
			      b->calls);
	}
}

static int weigh_column(struct weighing *g, const struct rowpass *r, struct progress *progress)
{
	int rc;

	heap_pass_init(&g->pass, g->state, r, g->column);
	rc = find_moments(g, r->lens->cursor_ns, progress);
	if (rc == 0)
		rc = add_allocations(g, progress);
	if (rc == 0)
		add_bulk(g);
	free(g->at);
	heap_pass_done(&g->pass);
	return rc;
}

static bool is_of_heap(const struct profile *p, const struct rowpass *r, uint32_t column)
{
	event_id e = { r->column[column].event };

	return e.v < r->counts.n_events && profile_event(p, e)->is_heap;
}

int heap_weigh(const struct profile *p, const struct rowpass *r, struct progress *progress,
	       bool *threads, struct weights *w)
{
	struct heap_state state;
	int rc = 0;

	heap_state_init(&state, p, &r->counts);
	for (uint32_t i = 0; i < w->n_columns && rc == 0; i++) {
		struct weighing g = {
			.state = &state,
			.to = w,
			.column = i,
			.measure = r->lens->column[i].metric.measure,
			.threads = threads,
		};

		if (!is_of_heap(p, r, i))
			continue;
		w->scale[i] = !state.exact && counts_blocks(g.measure) ? SAMPLED_SCALE : 1;
		rc = weigh_column(&g, r, progress);
	}
	heap_state_done(&state);
	return rc;
}
