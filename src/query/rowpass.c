/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preparing a pass and evaluating its filters batch by batch. */
#include "config.h"

#include "rowpass.h"

#include "mem.h"
#include "task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What rows add to column c. An event that does not exist has no rows and counts them. */
static void prepare_column(struct rowpass *r, const struct profile *p, uint32_t c)
{
	struct rowpass_column *column = &r->column[c];
	struct metric m = r->lens->column[c].metric;
	const struct event *event;

	column->event = column->also = m.event.v;
	column->one = 1;
	if (m.event.v >= r->counts.n_events)
		return;
	event = profile_event(p, m.event);
	if (event->is_counted)
		column->per_sample = r->rows.scale[m.event.v];
	else if (m.measure == MEASURE_SAMPLES)
		return;
	if (!event->has_weight || event->is_heap)
		return;
	column->weight = r->rows.weight;
	column->one = r->rows.scale[m.event.v];
	if (m.measure == MEASURE_WALL && metric_waits(p, m).v < r->counts.n_events)
		column->also = metric_waits(p, m).v;
}

/* The least unit in which squares of all rows of the event add up to less than 2^60. */
static void find_square_unit(const struct rowpass *r, struct rowpass_column *column)
{
	double sum = 0;

	for (uint64_t i = 0; i < r->counts.n_samples; i++) {
		int64_t x = column->weight ? column->weight[i] : column->one;

		if (rowpass_counts(column, r->event ? r->event[i] : 0))
			sum += fabs(rowpass_square(column, x));
	}
	column->square_unit = 1 + (int64_t)sqrt(sum / 0x1p60);
}

int rowpass_new(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, struct progress *progress, struct rowpass **out)
{
	struct rowpass *r = xcalloc(1, sizeof(*r));
	int rc;

	r->lens = lens;
	r->counts = *counts;
	profile_samples(p, &r->rows);
	r->event = counts->n_events > 1 ? r->rows.event : NULL;
	r->origin = sieve_origins(p, counts);
	rc = sieve_init(&r->sieve, p, counts, lens->filter, lens->inlines, r->origin, progress);
	for (uint32_t c = 0; c < lens->n_columns && rc == 0; c++) {
		prepare_column(r, p, c);
		if (lens->column[c].squares)
			find_square_unit(r, &r->column[c]);
		rc = sieve_init(&r->column[c].sieve, p, counts, lens->column[c].filter,
				lens->inlines, r->origin, progress);
	}
	if (rc < 0)
		rowpass_free(r);
	else
		*out = r;
	return rc;
}

void rowpass_free(struct rowpass *r)
{
	if (!r)
		return;
	sieve_done(&r->sieve);
	for (uint32_t c = 0; c < r->lens->n_columns; c++)
		sieve_done(&r->column[c].sieve);
	free(r->origin);
	free(r);
}

/* any_time (may be NULL) becomes what passes without the time terms, where there are such. */
static void sift(const struct sieve *s, uint64_t begin, uint64_t n, bool *passes, bool *any_time)
{
	if (s->passes_all)
		return;
	memset(passes, true, n);
	sieve_rows_any_time(s, begin, n, passes);
	if (any_time && s->n_times > 0)
		memcpy(any_time, passes, n);
	sieve_times(s, begin, n, passes);
}

int rowpass_next(struct rowpass *r, struct progress *progress)
{
	uint64_t left;

	r->begin += r->n;
	left = r->counts.n_samples - r->begin;
	r->n = left < ROWPASS_BATCH ? left : ROWPASS_BATCH;
	if (r->n == 0)
		return 0;
	if (progress_cancelled(progress))
		return -ECANCELED;
	sift(&r->sieve, r->begin, r->n, r->passes, r->any_time);
	for (uint32_t c = 0; c < r->lens->n_columns; c++)
		sift(&r->column[c].sieve, r->begin, r->n, r->column[c].passes, NULL);
	return 1;
}
