/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heat_map.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "profile/profile.h"
#include "query/activity.h"
#include "query/analysis.h"

#define NS_PER_S  ((int64_t)1000000000)
#define MINUTE_NS (60 * NS_PER_S)
#define DAY_NS    (24 * 60 * MINUTE_NS)

/* Fewer seconds than this are shown as shorter periods. */
#define COLUMNS_LEAST 10

/* Shorter periods would have cells of a few nanoseconds. */
#define PERIOD_LEAST 1000

/* A cell has so many samples of a thread that runs throughout, so that one more or less is not much of it. */
#define CELL_SAMPLES 5

/* A sample's length less 1/so many of it does for a cell: 99 Hz is meant to fit where 100 Hz does. */
#define LEAST_SLACK 10

/* Digits of a cell's length are below this; so that a range is short to write. */
#define CELL_DIGITS 10000

/* The next round period above one: 1, 2, 5, 10 … of a second and below, then of clocks, then days. */
static int64_t longer(int64_t period)
{
	static const int64_t clock_s[] = { 2,   5,   10,   15,   30,   60,    120,   300,
					   600, 900, 1800, 3600, 7200, 21600, 43200, 86400 };
	int64_t ten = 1;

	for (size_t i = 0; period >= NS_PER_S && i < sizeof(clock_s) / sizeof(clock_s[0]); i++)
		if (clock_s[i] * NS_PER_S > period)
			return clock_s[i] * NS_PER_S;
	if (period >= DAY_NS)
		return period <= INT64_MAX / 2 ? period * 2 : INT64_MAX;
	while (ten <= period / 10)
		ten *= 10;
	return period < 2 * ten ? 2 * ten : period < 5 * ten ? 5 * ten : 10 * ten;
}

/* The longest round period below one. */
static int64_t shorter(int64_t period)
{
	int64_t at = PERIOD_LEAST, next;

	while ((next = longer(at)) < period)
		at = next;
	return at;
}

static uint32_t columns_of(int64_t whole, int64_t period)
{
	int64_t n = whole / period + (whole % period != 0);

	return n > UINT32_MAX ? UINT32_MAX : n > 0 ? (uint32_t)n : 1;
}

/* As many as may be, of those that divide a period into round parts. */
static uint32_t rows_of(int64_t period, const struct heat_limits *limits)
{
	for (uint32_t n = limits->most_rows; n > 1; n--) {
		int64_t part = period / n;

		if (part <= 0 || part < limits->least_cell_ns || period % n != 0)
			continue;
		if (part % NS_PER_S == 0)
			return n;
		while (part % 10 == 0)
			part /= 10;
		if (part < CELL_DIGITS)
			return n;
	}
	return 1;
}

int64_t heat_sample_ns(const struct analysis *a)
{
	const struct weights *w = &a->weights;
	struct metric m = a->lens.column[0].metric;
	const struct event *e = m.event.v < a->counts.n_events ? profile_event(a->profile, m.event)
							       : NULL;
	double n = (double)w->n_samples / (double)w->sample_scale, ns;

	if (!e || e->is_heap || event_lasts(e) || w->n_samples == 0 || w->begin_ns == TIME_NONE)
		return 0;
	if (m.measure == MEASURE_WEIGHT && e->unit == UNIT_NS && e->has_weight)
		ns = (double)w->total[0] / (double)w->scale[0] / n;
	else
		ns = ((double)w->end_ns - (double)w->begin_ns) / n;
	return ns > 0 && ns < (double)HEAT_WHOLE_MOST ? (int64_t)ns : 0;
}

int64_t heat_least_cell(int64_t sample_ns)
{
	return sample_ns < HEAT_WHOLE_MOST / CELL_SAMPLES
		       ? sample_ns * CELL_SAMPLES - sample_ns / LEAST_SLACK
		       : HEAT_WHOLE_MOST;
}

/*
 * A thread that runs throughout has cell / sample samples in a cell, or one more or less. Threads add up by chance: of n, in
 * most cells, not more than the root of n.
 */
int64_t heat_margin(int64_t value, int64_t scale, int64_t cell_ns, int64_t sample_ns)
{
	double threads = ceil((double)value / (double)scale / (double)cell_ns);

	return (int64_t)(sqrt(threads > 1 ? threads : 1) * (double)sample_ns * (double)scale);
}

void heat_grid_of(int64_t whole_ns, int64_t period_ns, const struct heat_limits *limits,
		  struct heat_grid *out)
{
	int64_t period = PERIOD_LEAST;

	while (period < period_ns)
		period = longer(period);
	*out = (struct heat_grid){ .period_ns = period,
				   .n_rows = rows_of(period, limits),
				   .n_columns = columns_of(whole_ns, period) };
}

/* Are cells of the next shorter period long enough, were there one row of them? */
static bool may_be_shorter(int64_t period, const struct heat_limits *limits)
{
	return period > PERIOD_LEAST && shorter(period) >= limits->least_cell_ns;
}

void heat_grid_choose(int64_t whole_ns, const struct heat_limits *limits, struct heat_grid *out)
{
	uint32_t most_columns = limits->most_columns;
	uint32_t least = most_columns < COLUMNS_LEAST ? most_columns : COLUMNS_LEAST;
	int64_t period = NS_PER_S;

	while (columns_of(whole_ns, period) > most_columns || period < limits->least_cell_ns)
		period = longer(period);
	while (period <= NS_PER_S && may_be_shorter(period, limits) &&
	       columns_of(whole_ns, period) < least &&
	       columns_of(whole_ns, shorter(period)) <= most_columns)
		period = shorter(period);
	/* Where cells have to be long, longer columns have more of them. */
	while (2 * rows_of(period, limits) <= limits->most_rows &&
	       period / limits->most_rows / 4 < limits->least_cell_ns &&
	       columns_of(whole_ns, longer(period)) >= least)
		period = longer(period);
	heat_grid_of(whole_ns, period, limits, out);
}

bool heat_grid_zoom(int64_t whole_ns, bool in, const struct heat_limits *limits,
		    struct heat_grid *grid)
{
	int64_t period = in ? shorter(grid->period_ns) : longer(grid->period_ns);

	if (in ? !may_be_shorter(grid->period_ns, limits) : grid->n_columns < 2)
		return false;
	heat_grid_of(whole_ns, period, limits, grid);
	return true;
}

int heat_level(int64_t value, int64_t most)
{
	if (value <= 0 || most <= 0)
		return 0;
	if (value >= most)
		return HEAT_LEVELS;
	return 1 + (int)((__int128)(value - 1) * HEAT_LEVELS / most);
}

int heat_map_new(const struct analysis *a, const struct time_span *span, struct progress *progress,
		 struct heat_map **out)
{
	struct heat_map *m = xcalloc(1, sizeof(*m));
	int rc;

	m->span = *span;
	/* What is later than any cell counts in the last one. */
	rc = activity_together(a->profile, &a->counts, &a->lens, &a->weights, span, HEAT_WHOLE_MOST,
			       progress, &m->cell);
	if (rc < 0) {
		heat_map_free(m);
		return rc;
	}
	for (uint32_t i = 0; m->cell && i < span->n; i++)
		m->most = m->cell[i] > m->most ? m->cell[i] : m->most;
	*out = m;
	return 0;
}

void heat_map_free(struct heat_map *m)
{
	if (!m)
		return;
	free(m->cell);
	free(m);
}
