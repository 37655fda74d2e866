/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Rows are collected as they come, then dealt out to their series, and sorted by time only where they came in another order. */
#include "config.h"

#include "formats/write/export_rows.h"

#include "base/compare.h"
#include "base/hash.h"
#include "base/sum.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "query/core/sample_scan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const enum measure heap_measures[] = {
	MEASURE_PEAK,      MEASURE_LIVE,   MEASURE_LEAKED,  MEASURE_FREED,
	MEASURE_TEMPORARY, MEASURE_WEIGHT, MEASURE_SAMPLES,
};
#define N_HEAP_MEASURES (sizeof(heap_measures) / sizeof(*heap_measures))

/* Collecting. */

static bool same_series(const void *things, uint32_t value, const void *key)
{
	const struct export_series *s = (const struct export_series *)things + value, *k = key;

	return s->thread == k->thread && s->metric.event.v == k->metric.event.v &&
	       s->metric.measure == k->metric.measure;
}

static uint32_t series_of(struct export_rows *r, const struct analysis *a, struct metric m,
			  uint32_t thread, int64_t scale)
{
	const struct metric *shown = &a->lens.column[0].metric;
	struct export_series s = { .metric = m, .thread = thread, .scale = scale };
	uint64_t hash = hash_pair(thread, m.event.v << 8 | (uint32_t)m.measure);
	uint32_t i = map_find(&r->by_key, hash, same_series, r->series.at, &s);

	if (i != MAP_NONE)
		return i;
	s.unit = metric_unit(a->profile, m);
	s.shown = m.event.v == shown->event.v &&
		  (m.measure == shown->measure || !metric_is_heap(a->profile, m));
	map_add(&r->by_key, hash, (uint32_t)r->series.n);
	vec_push(&r->series, s);
	return (uint32_t)r->series.n - 1;
}

static void add(struct export_rows *r, uint32_t series, const struct export_row *row)
{
	struct export_series *s = &r->series.at[series];

	s->n++;
	s->timed |= row->time_ns != TIME_NONE;
	s->total = sum_of(s->total, row->weight);
	vec_push(&r->rows, *row);
	vec_push(&r->of_row, series);
}

static void add_sample(struct export_rows *r, const struct analysis *a,
		       const struct sample_scan *scan, uint64_t i)
{
	const struct sample_rows *rows = &scan->rows;
	uint16_t event = sample_rows_event(rows, i);
	uint32_t thread = sample_rows_thread(rows, i);
	int64_t origin = scan->origin[thread < a->counts.n_threads ? thread : a->counts.n_threads];
	struct metric m = { { event }, MEASURE_WEIGHT, false };
	struct export_row row = { .stack = rows->stack[i],
				  .cpu = sample_rows_cpu(rows, i),
				  .count = (int64_t)sample_scan_count(scan, i),
				  .time_ns = sample_rows_time(rows, i) };

	row.weight = sample_rows_weight(rows, i);
	if (row.time_ns != TIME_NONE)
		row.time_ns -= origin;
	if (r->thread_of && thread < a->counts.n_threads)
		thread = r->thread_of[thread];
	add(r, series_of(r, a, m, thread, rows->scale[event]), &row);
}

static int add_samples(struct export_rows *r, const struct analysis *a)
{
	struct sample_scan *scan;
	int rc = sample_scan_new(a->profile, &a->counts, &a->lens, NULL, &scan);

	if (rc)
		return rc;
	while ((rc = sample_scan_next(scan, NULL)) > 0) {
		const bool *passes = sample_scan_lens(scan);

		for (uint64_t i = 0; i < scan->n; i++)
			if (!passes || passes[i])
				add_sample(r, a, scan, i);
	}
	sample_scan_free(scan);
	return rc;
}

/* A row for each stack and metric of a heap that is not 0. */
static int add_metrics(struct export_rows *r, const struct analysis *a, const struct metric *metric,
		       uint32_t n)
{
	struct lens l = { .filter = a->lens.filter,
			  .n_columns = n,
			  .inlines = a->lens.inlines,
			  .cursor_ns = a->lens.cursor_ns };
	struct weights sums;
	int rc;

	for (uint32_t i = 0; i < n; i++)
		l.column[i].metric = metric[i];
	rc = aggregate(a->profile, &a->counts, &l, NULL, &sums);
	for (uint32_t i = 0; rc == 0 && i < n; i++)
		for (uint32_t stack = 0; stack < sums.n_stacks; stack++) {
			struct export_row row = {
				.stack = stack, .cpu = CPU_NONE, .count = 1, .time_ns = TIME_NONE
			};

			row.weight = sums.stack[(size_t)stack * n + i];
			if (row.weight != 0)
				add(r, series_of(r, a, l.column[i].metric, ID_NONE, sums.scale[i]),
				    &row);
		}
	weights_done(&sums);
	return rc;
}

static int add_heap(struct export_rows *r, const struct analysis *a, uint16_t event)
{
	struct metric metric[N_HEAP_MEASURES];

	for (uint32_t i = 0; i < N_HEAP_MEASURES; i++)
		metric[i] = (struct metric){ { event }, heap_measures[i], false };
	return add_metrics(r, a, metric, N_HEAP_MEASURES);
}

/* Order. */

static int compare_series(const void *a, const void *b)
{
	const struct export_series *s = a, *t = b;

	if (s->shown != t->shown)
		return s->shown ? -1 : 1;
	return COMPARE(t->total, s->total) ?: COMPARE(s->first, t->first);
}

static int compare_rows(const void *a, const void *b)
{
	const struct export_row *r = a, *s = b;

	return COMPARE(r->time_ns, s->time_ns) ?: COMPARE(r->stack, s->stack);
}

static void sort_series(struct export_row *row, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (row[i].time_ns < row[i - 1].time_ns) {
			qsort(row, n, sizeof(*row), compare_rows);
			return;
		}
}

static void deal_out(struct export_rows *r)
{
	struct export_row *to = xmalloc((r->rows.n + 1) * sizeof(*to));
	size_t *next = xmalloc((r->series.n + 1) * sizeof(*next)), at = 0;

	for (size_t i = 0; i < r->series.n; i++) {
		r->series.at[i].first = next[i] = at;
		at += r->series.at[i].n;
	}
	for (size_t i = 0; i < r->rows.n; i++)
		to[next[r->of_row.at[i]]++] = r->rows.at[i];
	free(next);
	free(r->rows.at);
	r->rows.at = to;
	r->rows.cap = r->rows.n;
	vec_done(&r->of_row);
	for (size_t i = 0; i < r->series.n; i++)
		sort_series(to + r->series.at[i].first, r->series.at[i].n);
	if (r->series.n > 0)
		qsort(r->series.at, r->series.n, sizeof(*r->series.at), compare_series);
}

static void count_metrics(struct export_rows *r)
{
	for (size_t i = 0; i < r->series.n; i++) {
		size_t k = 0;

		while (k < i && (r->series.at[k].metric.event.v != r->series.at[i].metric.event.v ||
				 r->series.at[k].metric.measure != r->series.at[i].metric.measure))
			k++;
		r->n_metrics += k == i;
	}
}

static bool same_thread(const void *things, uint32_t value, const void *key)
{
	const struct thread *t = profile_thread(things, (thread_id){ value }), *k = key;

	return t->process.v == k->process.v && t->tid == k->tid && t->name.v == k->name.v;
}

/* The profile has a thread for each of its labels and control groups. */
static void join_threads(struct export_rows *r, const struct analysis *a)
{
	struct map firsts = { 0 };

	r->thread_of = xmalloc((a->counts.n_threads + 1u) * sizeof(*r->thread_of));
	for (uint32_t i = 0; i < a->counts.n_threads; i++) {
		const struct thread *t = profile_thread(a->profile, (thread_id){ i });
		uint64_t hash = hash_u64(hash_pair(t->process.v, (uint32_t)t->tid) + t->name.v);
		uint32_t first = map_find(&firsts, hash, same_thread, a->profile, t);

		if (first == MAP_NONE)
			map_add(&firsts, hash, i);
		r->thread_of[i] = first == MAP_NONE ? i : first;
	}
	map_done(&firsts);
}

static int collect(struct export_rows *r, const struct analysis *a)
{
	int rc = add_samples(r, a);

	for (uint16_t i = 0; i < a->counts.n_events && rc == 0; i++)
		if (profile_event(a->profile, (event_id){ i })->is_heap)
			rc = add_heap(r, a, i);
	deal_out(r);
	count_metrics(r);
	return rc;
}

int export_rows_init(struct export_rows *r, const struct analysis *a)
{
	*r = (struct export_rows){ 0 };
	join_threads(r, a);
	return collect(r, a);
}

int export_rows_init_labelled(struct export_rows *r, const struct analysis *a)
{
	*r = (struct export_rows){ 0 };
	return collect(r, a);
}

int export_rows_init_shown(struct export_rows *r, const struct analysis *a)
{
	struct metric shown = a->lens.column[0].metric;
	int rc;

	*r = (struct export_rows){ 0 };
	join_threads(r, a);
	rc = metric_is_heap(a->profile, shown) ? add_metrics(r, a, &shown, 1) : add_samples(r, a);
	deal_out(r);
	count_metrics(r);
	return rc;
}

void export_rows_done(struct export_rows *r)
{
	vec_done(&r->series);
	vec_done(&r->rows);
	vec_done(&r->of_row);
	map_done(&r->by_key);
	free(r->thread_of);
}

/* "python3 812/813", without numbers where they are unknown, "" for ID_NONE; the caller frees. */
static char *thread_name(const struct profile *p, uint32_t thread)
{
	const struct thread *t;
	const char *name;
	int32_t pid;

	if (thread == ID_NONE)
		return xstrdup("");
	t = profile_thread(p, (thread_id){ thread });
	name = profile_string(p, t->name, NULL);
	pid = profile_process(p, t->process)->pid;
	if (pid < 0 && t->tid < 0)
		return xstrdup(name);
	return xasprintf("%s%s%" PRId32 "/%" PRId32, name, *name ? " " : "", pid, t->tid);
}

char *export_rows_name(const struct export_rows *r, const struct analysis *a,
		       const struct export_series *s)
{
	char *metric = metric_name(a->profile, s->metric), *who, *name;

	if (s->thread == ID_NONE)
		return metric;
	who = thread_name(a->profile, s->thread);
	if (r->n_metrics < 2 && *who) {
		free(metric);
		return who;
	}
	name = xasprintf("%s%s%s", who, *who ? " " : "", metric);
	free(who);
	free(metric);
	return name;
}
