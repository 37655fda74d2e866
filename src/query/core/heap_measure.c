/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * live, peak and leaked are one question, asked at another moment each: which blocks had been handed out
 * before it and not given back?
 */
#include "config.h"

#include "query/core/heap_measure.h"

#include "base/mem.h"
#include "query/core/filter.h"

#include <math.h>
#include <stdlib.h>

/* Blocks are counted in parts of this where tracks are sampled. */
#define SAMPLED_SCALE 1024

bool heap_measure_applies(const struct profile *p, const struct sample_scan *r, uint32_t column)
{
	event_id e = { r->column[column].event };

	return e.v < r->counts.n_events && profile_event(p, e)->is_heap;
}

/* One more track, which had so much after so many moments. */
static void take_peak(struct peak *p, const struct heap_state *s, uint32_t track, uint32_t at,
		      int64_t top)
{
	if (at == 0)
		return;
	p->n++;
	if (p->time_ns != TIME_NONE && top <= p->bytes)
		return;
	p->bytes = top;
	p->time_ns = heap_track_time(&s->track[track], at - 1) - s->begin_ns[track];
}

/* The end of the stretch that the filters of lens and column let pass. */
static int64_t stretch_end(const struct lens *l, const struct lens_column *c)
{
	int64_t from, of_lens, of_column;

	filter_times(l->filter, &from, &of_lens);
	filter_times(c->filter, &from, &of_column);
	return of_lens < of_column ? of_lens : of_column;
}

/* How many moments of a track are before the time that a level is of. */
static uint32_t moments_before(enum measure m, const struct heap_state *s, uint32_t track,
			       const struct lens *l, const struct lens_column *c)
{
	int64_t end_ns;

	/* What a process held that is gone by then is not freed either. */
	if (m == MEASURE_LEAKED && c->level_ns > 0)
		return heap_level_known(&s->track[track], heap_state_moment(s, track, c->level_ns));
	if (m == MEASURE_LIVE)
		return heap_state_level(s, track, c->level_ns > 0 ? c->level_ns : l->cursor_ns);
	if (m == MEASURE_GROWN && (end_ns = stretch_end(l, c)) < INT64_MAX)
		return heap_state_level(s, track, end_ns);
	return s->track[track].n_moments;
}

/* For every track the moments before the measure's time; peaks have to be looked for. */
static int find_moments(struct heap_measure *g, const struct heap_state *s, const struct lens *l,
			const struct lens_column *c, const struct heap_peaks *earlier,
			struct progress *progress)
{
	uint32_t n = s->columns.n_tracks;
	int rc;

	g->at = xcalloc(n, sizeof(*g->at));
	if (g->measure != MEASURE_PEAK) {
		for (uint32_t i = 0; i < n; i++)
			g->at[i] = moments_before(g->measure, s, i, l, c);
		return 0;
	}
	g->top = xcalloc(n, sizeof(*g->top));
	rc = heap_peaks(s, &g->pass, earlier, progress, g->at, g->top);
	g->peaks = (struct heap_peaks){ earlier, &g->pass, g->at, g->top };
	for (uint32_t i = 0; i < n && rc == 0; i++)
		take_peak(&g->peak, s, i, g->at[i], g->top[i]);
	return rc;
}

int heap_measure_init(struct heap_measure *g, const struct heap_state *state,
		      const struct sample_scan *r, uint32_t column, enum measure m,
		      const struct heap_pass *like, const struct heap_peaks *earlier,
		      struct progress *progress)
{
	*g = (struct heap_measure){ .measure = m, .scale = 1, .peak.time_ns = TIME_NONE };
	g->most = state->most;
	g->squares = r->lens->column[column].squares;
	g->blocks = m == MEASURE_SAMPLES || m == MEASURE_TEMPORARY ||
		    r->lens->column[column].blocks;
	g->is_level = measure_is_level(m);
	g->by_free = m == MEASURE_FREED_BY;
	if (g->blocks && !state->exact)
		g->scale = SAMPLED_SCALE;
	heap_pass_init(&g->pass, state, r, column, like);
	return find_moments(g, state, r->lens, &r->lens->column[column], earlier, progress);
}

void heap_measure_done(struct heap_measure *g)
{
	heap_pass_done(&g->pass);
	free(g->at);
	free(g->top);
	*g = (struct heap_measure){ .scale = 0 };
}

int64_t heap_measure_about(const struct heap_measure *g, const struct heap_track *t, uint32_t begin,
			   uint64_t size)
{
	double k = heap_stands_for(t, begin, size), x = k * (double)g->scale;

	if (!g->blocks)
		x *= (double)size;
	if (g->squares)
		x = x / HEAP_SQUARE_UNIT * (x / HEAP_SQUARE_UNIT) * (1 - 1 / k);
	return llround(fmin(x, g->most));
}

int64_t heap_measure_bulk(const struct heap_measure *g, const struct heap_bulk *b)
{
	uint64_t n = b->bytes;

	if (!heap_measure_has_bulk(g) || g->squares)
		return 0;
	if (g->blocks)
		n = g->measure == MEASURE_SAMPLES ? b->calls : b->temporary;
	/* Sums of hostile numbers stay what 63 bits hold. */
	if (n > (uint64_t)(INT64_MAX / g->scale))
		n = (uint64_t)(INT64_MAX / g->scale);
	return (int64_t)n * g->scale;
}
