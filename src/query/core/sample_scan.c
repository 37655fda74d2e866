/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Preparing a pass and evaluating its filters batch by batch. */
#include "config.h"

#include "query/core/sample_scan.h"

#include "base/mem.h"
#include "base/task.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What rows add to column c. An event that does not exist has no rows and counts them. */
static void prepare_column(struct sample_scan *r, const struct profile *p, uint32_t c)
{
	struct sample_scan_column *column = &r->column[c];
	struct metric m = r->lens->column[c].metric;
	bool has_stretches = r->columns.time_ns && r->columns.weight;
	const struct event *event;

	column->event = column->also = m.event.v;
	column->all_heaps = m.all;
	column->one = column->finer = 1;
	column->fades = r->lens->half_life_ns > 0 && !r->lens->column[c].stays;
	if (m.event.v >= r->counts.n_events)
		return;
	event = profile_event(p, m.event);
	if (event->is_counted)
		column->per_sample = r->columns.scale[m.event.v];
	if (!event->is_counted &&
	    (m.measure == MEASURE_SAMPLES || !event->has_weight || event->is_heap)) {
		column->counts = true;
		column->finer = column->fades ? SAMPLE_SCAN_FADED : 1;
		return;
	}
	column->weighs = true;
	column->one = r->columns.scale[m.event.v];
	column->lasts = event_lasts(event) && has_stretches;
	if (m.measure == MEASURE_WALL && metric_waits(p, m).v < r->counts.n_events) {
		column->also = metric_waits(p, m).v;
		column->also_lasts = event_lasts(profile_event(p, metric_waits(p, m))) &&
				     has_stretches;
	}
}

/* How much of a weight is before a place in its stretch, which is 0 to 1. */
static int64_t before(double place, int64_t weight)
{
	return place <= 0 ? 0 : place >= 1 ? weight : (int64_t)(place * (double)weight + 0.5);
}

int64_t sample_scan_stretch(int64_t *slice, uint32_t n, double from, double to, int64_t weight)
{
	double length = to - from;
	int64_t first, last, done;

	if (n == 0 || length <= 0 || to <= 0 || from >= n)
		return 0;
	first = done = before(-from / length, weight);
	for (uint32_t i = from > 0 ? (uint32_t)from : 0; i < n && i < to; i++) {
		last = before((i + 1 - from) / length, weight);
		slice[i] += last - done;
		done = last;
	}
	return done - first;
}

/* What rows of the batch add, where they say so. */
static void point_weights(const struct sample_scan *r, struct sample_scan_column *c)
{
	uint64_t n_folded = r->columns.n_folded;

	c->weight = c->weighs ? r->rows.weight : NULL;
	c->n_weights = c->weight ? r->n : 0;
	if (!c->counts || r->begin >= n_folded)
		return;
	c->weight = r->columns.count + r->begin;
	c->n_weights = n_folded - r->begin < r->n ? n_folded - r->begin : r->n;
}

/* The rows after those of the batch so far; how many they are. */
static uint64_t read_batch(struct sample_scan *r)
{
	uint64_t left;

	r->begin += r->n;
	left = r->counts.n_samples - r->begin;
	r->n = left < SAMPLE_SCAN_BATCH ? left : SAMPLE_SCAN_BATCH;
	if (r->n == 0)
		return 0;
	sample_rows_read(&r->rows, &r->columns, r->begin, (uint32_t)r->n, r->wanted);
	r->event = r->counts.n_events > 1 ? r->rows.event : NULL;
	for (uint32_t c = 0; c < r->lens->n_columns; c++)
		point_weights(r, &r->column[c]);
	return r->n;
}

/* The least unit in which squares of all rows of the event add up to less than 2^60. */
static void find_square_unit(struct sample_scan *r, struct sample_scan_column *column)
{
	double sum = 0;

	while (read_batch(r) > 0)
		for (uint64_t i = 0; i < r->n; i++)
			if (sample_scan_counts(column, r->event ? r->event[i] : 0))
				sum += fabs(sample_scan_square(r, column, i,
							       sample_scan_weight(column, i)));
	r->begin = r->n = 0;
	column->square_unit = 1 + (int64_t)sqrt(sum / 0x1p60);
}

/* For columns that are of some captures only. */
static uint32_t *find_captures(const struct profile *p, const struct profile_counts *counts)
{
	uint32_t *of = xcalloc(counts->n_threads, sizeof(*of));

	for (uint32_t i = 0; i < counts->n_threads; i++) {
		process_id process = profile_thread(p, (thread_id){ i })->process;

		of[i] = profile_process(p, process)->capture.v;
	}
	return of;
}

static int make(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, const struct sample_columns *rows, uint64_t n_rows,
		struct progress *progress, struct sample_scan **out)
{
	struct sample_scan *r = xcalloc(1, sizeof(*r));
	int rc;

	r->lens = lens;
	r->counts = *counts;
	r->counts.n_samples = n_rows;
	r->columns = *rows;
	r->wanted = ROWS_ALL;
	r->origin = compiled_filter_origins(p, counts);
	if (counts->n_captures > 1 && lens->n_columns > 1)
		r->capture_of = find_captures(p, counts);
	/* From which the others fade. */
	r->newest_ns = profile_newest_ns(p, counts);
	if (lens->now_ns > r->newest_ns)
		r->newest_ns = lens->now_ns;
	rc = compiled_filter_init(&r->sieve, p, counts, lens->filter, lens->inlines, r->origin,
				  progress);
	for (uint32_t c = 0; c < lens->n_columns && rc == 0; c++) {
		prepare_column(r, p, c);
		if (lens->column[c].squares)
			find_square_unit(r, &r->column[c]);
		rc = compiled_filter_init(&r->column[c].sieve, p, counts, lens->column[c].filter,
					  lens->inlines, r->origin, progress);
	}
	if (rc < 0)
		sample_scan_free(r);
	else
		*out = r;
	return rc;
}

int sample_scan_new(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, struct progress *progress, struct sample_scan **out)
{
	struct sample_columns rows;

	profile_samples_of(p, counts, &rows);
	return make(p, counts, lens, &rows, counts->n_samples, progress, out);
}

int sample_scan_new_beyond(const struct profile *p, const struct profile_counts *counts,
			   const struct lens *lens, const struct beyond_columns *beyond,
			   struct progress *progress, struct sample_scan **out)
{
	return make(p, counts, lens, &beyond->rows, beyond->n, progress, out);
}

void sample_scan_free(struct sample_scan *r)
{
	if (!r)
		return;
	compiled_filter_done(&r->sieve);
	for (uint32_t c = 0; c < r->lens->n_columns; c++)
		compiled_filter_done(&r->column[c].sieve);
	free(r->origin);
	free(r->capture_of);
	free(r);
}

/* What has no time does not fade. */
static void fade(struct sample_scan *r)
{
	double lives = 1.0 / (double)r->lens->half_life_ns;

	for (uint64_t i = 0; i < r->n; i++) {
		uint32_t thread = sample_rows_thread(&r->rows, i);
		int64_t at = sample_rows_time(&r->rows, i), since;

		r->left[i] = 1;
		if (at == TIME_NONE)
			continue;
		since = r->origin[thread == ID_NONE ? r->counts.n_threads : thread];
		since = (int64_t)((uint64_t)at - (uint64_t)since);
		if (since < r->newest_ns)
			r->left[i] = exp2((double)since * lives - (double)r->newest_ns * lives);
	}
}

/* any_time (may be NULL) becomes what passes without the time terms, where there are such. */
static void sift(const struct sample_scan *r, const struct compiled_filter *s, bool *passes,
		 bool *any_time)
{
	const struct sample_rows *rows = &r->rows;
	uint64_t begin = r->begin, n = r->n;

	if (s->passes_all)
		return;
	memset(passes, true, n);
	compiled_filter_rows_any_time(s, rows, begin, n, passes);
	if (any_time && s->n_times > 0)
		memcpy(any_time, passes, n);
	compiled_filter_times(s, rows, n, passes);
}

static uint64_t first_sample(const struct sample_scan *r, uint32_t capture)
{
	return profile_capture(r->sieve.profile, (capture_id){ capture })->first_sample;
}

/* The capture of all rows of the batch; ID_NONE: they are of several, or nobody asks. */
static uint32_t batch_capture(struct sample_scan *r)
{
	uint32_t n = r->counts.n_captures, one = ID_NONE;

	for (uint64_t i = 0; r->capture_of && i < r->n; i++) {
		uint32_t thread = sample_rows_thread(&r->rows, i), capture;

		/* rows without a thread are of the capture that they stand in */
		while (r->capture + 1 < n && first_sample(r, r->capture + 1) <= r->begin + i)
			r->capture++;
		capture = thread == ID_NONE ? r->capture : r->capture_of[thread];
		if (i > 0 && capture != one)
			return ID_NONE;
		one = capture;
	}
	return one;
}

/* A comparison of many files has a column for each run, to which most batches add nothing. */
static void sift_column(const struct sample_scan *r, struct sample_scan_column *c, uint32_t capture)
{
	const struct compiled_filter *s = &c->sieve;
	bool known = s->capture && capture != ID_NONE;

	c->none = known && !s->capture[capture];
	if (c->none || (known && s->only_captures))
		memset(c->passes, !c->none, r->n);
	else
		sift(r, s, c->passes, NULL);
}

int sample_scan_next(struct sample_scan *r, struct progress *progress)
{
	uint32_t capture;

	if (read_batch(r) == 0)
		return 0;
	if (progress_cancelled(progress))
		return -ECANCELED;
	if (r->lens->half_life_ns > 0)
		fade(r);
	sift(r, &r->sieve, r->passes, r->any_time);
	capture = batch_capture(r);
	for (uint32_t c = 0; c < r->lens->n_columns; c++)
		sift_column(r, &r->column[c], capture);
	return 1;
}
