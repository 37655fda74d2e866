/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums by thread over time, put together by process; see activity.h. */
#include "config.h"

#include "query/activity.h"

#include "base/compare.h"
#include "base/mem.h"
#include "query/core/filter.h"
#include "query/core/sample_scan.h"
#include "query/diff/activity_pairs.h"
#include "query/heap_activity.h"
#include "query/live/recent.h"
#include "query/tree/table.h"

#include <stdlib.h>
#include <string.h>

/* With more slices of threads than this there is no time, only sums: 64 MB of them. */
#define SLICES_MOST ((size_t)1 << 23)

int64_t activity_time(const struct sample_scan *r, int64_t whole_ns, uint64_t i)
{
	uint32_t thread = sample_rows_thread(&r->rows, i);
	int64_t at = sample_rows_time(&r->rows, i), since;

	if (at == TIME_NONE || whole_ns < 0)
		return TIME_NONE;
	/* As in aggregate.c: what lies outside of what was seen goes to an end. */
	since = r->origin[thread == ID_NONE ? r->counts.n_threads : thread];
	since = at > since ? (int64_t)((uint64_t)at - (uint64_t)since) : 0;
	return since < 0 || since > whole_ns ? whole_ns : since;
}

static bool is_within(const struct thread_sums *s, int64_t since)
{
	return since != TIME_NONE && since >= s->span.from_ns &&
	       (since < s->span.to_ns || (since == s->whole_ns && since == s->span.to_ns));
}

/* A row that lasts: what of it is within counts there, and as a whole where it begins. */
static void add_stretch(const struct sample_scan *r, struct thread_sums *s, uint64_t i,
			uint32_t key)
{
	int64_t since = activity_time(r, s->whole_ns, i), *slice = NULL;
	double from, to;

	if (since != TIME_NONE && s->slice)
		slice = s->slice + (size_t)key * s->span.n;
	if (!s->within || is_within(s, since)) {
		s->n_samples[key] += sample_scan_samples(r, 0, i);
		if (!s->within || !slice)
			s->weight[key] += sample_scan_adds(r, &r->column[0], i);
	}
	if (!slice)
		return;
	from = (double)(since - s->span.from_ns);
	to = from + sample_scan_span_ns(r, i);
	since = sample_scan_stretch(slice, s->span.n, from * s->slices_per_ns,
				    to * s->slices_per_ns, sample_scan_weight(&r->column[0], i));
	s->weight[key] += s->within ? since : 0;
}

static void add_row(const struct sample_scan *r, struct thread_sums *s, uint64_t i, uint32_t key)
{
	const struct sample_scan_column *column = &r->column[0];
	int64_t weight = sample_scan_weight(column, i);
	int64_t since = activity_time(r, s->whole_ns, i);
	bool within = is_within(s, since);
	size_t slice, last;

	if (s->within && s->whole_ns >= 0 && !within)
		return;
	s->weight[key] += sample_scan_adds(r, column, i);
	s->n_samples[key] += sample_scan_samples(r, 0, i);
	if (!s->slice || !within)
		return;
	slice = (size_t)((double)(since - s->span.from_ns) * s->slices_per_ns);
	last = (size_t)(((double)(since - s->span.from_ns) + sample_scan_span_ns(r, i)) *
			s->slices_per_ns);
	if (slice >= s->span.n)
		slice = s->span.n - 1;
	if (last >= s->span.n)
		last = s->span.n - 1;
	sample_scan_spread(r, i, s->slice + (size_t)key * s->span.n, slice, last, weight);
}

static void add_batch(const struct sample_scan *r, const struct groups *keys, struct thread_sums *s)
{
	const bool *lens = s->within ? sample_scan_any_time(r) : sample_scan_lens(r);
	const bool *own = sample_scan_own(r, 0);

	for (uint64_t i = 0; i < r->n; i++) {
		uint32_t id = sample_rows_thread(&r->rows, i);

		if ((own && !own[i]) || (lens && !lens[i]) ||
		    !sample_scan_counts(&r->column[0], r->event ? r->event[i] : 0))
			continue;
		if (sample_scan_lasts(r, i))
			add_stretch(r, s, i, groups_of_row(keys, id));
		else
			add_row(r, s, i, groups_of_row(keys, id));
	}
}

static int by_process(const void *x, const void *y)
{
	const struct activity_row *a = x, *b = y;

	return COMPARE(a->process, b->process) ?: COMPARE(b->weight, a->weight) ?:
	       COMPARE(a->thread, b->thread);
}

/* A run of rows of one process. */
struct family_of {
	const struct activity_row *row; /* its threads, [n] */
	uint32_t n;
	int64_t weight;
};

static int by_weight(const void *x, const void *y)
{
	const struct family_of *a = x, *b = y;

	return COMPARE(b->weight, a->weight) ?: COMPARE(a->row->process, b->row->process);
}

const char *activity_process_name(const struct profile *p, uint32_t process)
{
	string_id name = { 0 };

	if (process != ID_NONE)
		name = process_name(profile_process(p, (process_id){ process }));
	return name.v ? profile_string(p, name, NULL) : "[no name]";
}

/* Room for the sums of processes. */
struct spare {
	int64_t *slice;  /* [n_slices] of the next one; NULL: there are none */
	int64_t *column; /* [n_columns]; likewise */
};

static void add_sums(int64_t *to, const int64_t *from, size_t n)
{
	for (size_t i = 0; to && i < n; i++)
		to[i] += from[i];
}

/* Is it of processes that ended, of which there may be several? Then that is what it is called. */
static bool is_ended(const struct profile *p, uint32_t process)
{
	return process != ID_NONE && strncmp(activity_process_name(p, process), ENDED_PREFIX,
					     sizeof(ENDED_PREFIX) - 1) == 0;
}

/* Writes a process's own row, unless only its main thread is there, and its threads'. */
static void put_family(const struct profile *p, const struct family_of *f, struct activity *out,
		       const struct spare *spare)
{
	struct activity_row sum = f->row[0];
	bool alone = f->n == 1 && activity_stands_for_process(p, f->row[0].thread);

	if (!alone) {
		sum.thread = ID_NONE;
		sum.name = activity_process_name(p, sum.process);
		sum.weight = 0;
		sum.n_samples = 0;
		sum.is_process = true;
		sum.slice = spare->slice;
		sum.column = spare->column;
		for (uint32_t i = 0; i < f->n; i++) {
			sum.weight += f->row[i].weight;
			sum.n_samples += f->row[i].n_samples;
			add_sums(sum.slice, f->row[i].slice, out->n_slices);
			add_sums(sum.column, f->row[i].column, out->n_columns);
		}
		out->row[out->n_rows++] = sum;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		struct activity_row *row = &out->row[out->n_rows++];

		*row = f->row[i];
		row->is_process = alone;
		if (alone && is_ended(p, row->process))
			row->name = activity_process_name(p, row->process);
	}
}

/* Groups thread rows ([n]) by process. */
static void put_rows(const struct profile *p, struct activity_row *row, uint32_t n,
		     struct activity *out, struct spare spare)
{
	struct family_of *family = xcalloc((size_t)n + 1, sizeof(*family));
	uint32_t n_families = 0;

	qsort(row, n, sizeof(*row), by_process);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 || row[i].process != row[i - 1].process)
			family[n_families++] = (struct family_of){ .row = &row[i] };
		family[n_families - 1].n++;
		family[n_families - 1].weight += row[i].weight;
	}
	qsort(family, n_families, sizeof(*family), by_weight);
	out->row = xcalloc((size_t)n + n_families + 1, sizeof(*out->row));
	for (uint32_t i = 0; i < n_families; i++) {
		uint32_t before = out->n_rows;

		put_family(p, &family[i], out, &spare);
		if (!activity_is_sum(&out->row[before]))
			continue;
		if (spare.slice)
			spare.slice += out->n_slices;
		if (spare.column)
			spare.column += out->n_columns;
	}
	free(family);
}

/* Is there anything over time, as of a heap that had blocks of a thread but has none now? */
static bool has_history(const struct thread_sums *s, uint32_t key)
{
	uint32_t n = s->span.n;

	for (uint32_t i = 0; s->slice && i < n; i++)
		if (s->slice[(size_t)key * n + i] != 0)
			return true;
	return false;
}

/* Is there anything in another column that is shown than the first? */
static bool has_others(const struct activity *a, uint32_t n_shown, uint32_t key)
{
	for (uint32_t c = 1; a->columns && c < n_shown; c++)
		if (a->columns[(size_t)key * a->n_columns + c] != 0)
			return true;
	return false;
}

/* Has either side of a comparison, each of which may leave threads out, anything of it? */
static bool has_side(const struct activity *a, const struct lens *lens, uint32_t key)
{
	const int64_t *numbers = a->columns + (size_t)key * a->n_columns;

	return lens_side_sum(lens, numbers, SIDE_BEFORE) != 0 ||
	       lens_side_sum(lens, numbers, SIDE_AFTER) != 0;
}

/* Rows for the threads that have samples. */
static void put_threads(const struct profile *p, const struct thread_sums *s,
			const struct lens *lens, struct activity *out)
{
	const struct groups *k = &out->keys;
	struct spare spare = { 0 };
	struct activity_row *row = xcalloc((size_t)k->n + 1, sizeof(*row));
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->n; i++) {
		struct activity_row r = { .name = k->key[i].label, .process = ID_NONE };

		if (s->n_samples[i] == 0 && !has_history(s, i) && !has_others(out, s->n_shown, i))
			continue;
		if (lens_compares(lens) && out->columns && !has_side(out, lens, i))
			continue;
		r.thread = k->key[i].id;
		if (r.thread != ID_NONE)
			r.process = profile_thread(p, (thread_id){ r.thread })->process.v;
		r.weight = s->weight[i];
		r.n_samples = s->n_samples[i];
		if (s->slice)
			r.slice = s->slice + (size_t)i * out->n_slices;
		if (out->columns)
			r.column = out->columns + (size_t)i * out->n_columns;
		for (size_t t = 0; r.slice && t < out->n_slices; t++)
			if (r.slice[t] > out->most)
				out->most = r.slice[t];
		out->weight += r.weight;
		out->n_samples += r.n_samples;
		row[n++] = r;
	}
	if (s->slice)
		spare.slice = s->slice + (size_t)k->n * out->n_slices;
	if (out->columns)
		spare.column = out->columns + (size_t)k->n * out->n_columns;
	put_rows(p, row, n, out, spare);
	free(row);
}

/* All columns of the lens by thread, where there are several. */
static int sum_columns(const struct profile *p, const struct profile_counts *counts,
		       const struct lens *lens, struct progress *progress, struct activity *out)
{
	size_t bytes = lens->n_columns * sizeof(*out->columns);
	struct table t;
	int rc;

	if (lens->n_columns < 2)
		return 0;
	rc = table_of_samples(p, counts, lens, &out->keys, progress, &t);
	out->columns = xcalloc((size_t)out->keys.n * 2, bytes);
	out->n_columns = lens->n_columns;
	for (uint32_t i = 0; rc == 0 && i < t.n_rows; i++)
		memcpy((char *)out->columns + t.key[i] * bytes, (char *)t.self + i * bytes, bytes);
	table_done(&t);
	return rc;
}

/* Sums by key of a thread, of samples and of allocations; the caller frees them, also where it was cancelled. */
static int scan(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, const struct groups *keys, struct progress *progress,
		struct thread_sums *s)
{
	struct sample_scan *r;
	int rc = sample_scan_new(p, counts, lens, progress, &r);

	if (rc < 0)
		return rc;
	s->weight = xcalloc(keys->n, sizeof(*s->weight));
	s->n_samples = xcalloc(keys->n, sizeof(*s->n_samples));
	if (s->whole_ns >= 0 && keys->n <= SLICES_MOST / s->span.n)
		s->slice = xcalloc((size_t)keys->n * 2, s->span.n * sizeof(*s->slice));
	s->slices_per_ns = s->span.n / ((double)(s->span.to_ns - s->span.from_ns));
	while ((rc = sample_scan_next(r, progress)) > 0)
		add_batch(r, keys, s);
	if (rc == 0)
		rc = heap_activity(p, r, keys, progress, s);
	sample_scan_free(r);
	return rc;
}

static int sum_up(const struct profile *p, const struct profile_counts *counts,
		  const struct lens *lens, const struct weights *w, struct thread_sums *s,
		  struct progress *progress, struct activity *out)
{
	struct lens shown = *lens; /* without the columns that ratios are made of; borrows */
	int rc;

	shown.n_columns = s->n_shown = lens_n_shown(lens);
	*out = (struct activity){ .n_slices = s->span.n,
				  .span_ns = (s->span.to_ns < s->whole_ns ? s->span.to_ns
									  : s->whole_ns) -
					     s->span.from_ns };
	groups_init(&out->keys, p, counts, GROUP_THREAD);
	rc = scan(p, counts, lens, &out->keys, progress, s);
	out->slices = s->slice;
	if (rc == 0 && !s->within)
		rc = sum_columns(p, counts, lens, progress, out);
	if (rc == 0)
		put_threads(p, s, lens, out);
	if (rc == 0 && !s->within)
		rc = recent_new(p, counts, &shown, &out->keys, w, RECENT_THREADS, progress,
				&out->recent);
	if (rc == 0 && !s->within && lens_compares(lens))
		activity_pair(out, p, lens->names);
	free(s->weight);
	free(s->n_samples);
	return rc;
}

/* What time terms let pass, of the recording, which may be but a moment. */
static struct time_span passing_span(const struct lens *lens, const struct weights *w,
				     uint32_t n_slices)
{
	int64_t whole = w->begin_ns == TIME_NONE ? 0 : w->end_ns - w->begin_ns, from, to;
	struct time_span span = { .to_ns = whole < INT64_MAX ? whole + 1 : whole, .n = n_slices };

	if (!filter_times(lens->filter, &from, &to) || from >= span.to_ns || to <= from)
		return span;
	span.from_ns = from > 0 ? from : 0;
	span.to_ns = to > span.from_ns && to < span.to_ns ? to : span.to_ns;
	return span;
}

bool activity_stands_for_process(const struct profile *p, uint32_t thread)
{
	const struct thread *t;
	const struct process *process;

	if (thread == ID_NONE)
		return true;
	t = profile_thread(p, (thread_id){ thread });
	process = profile_process(p, t->process);
	return t->tid == process->pid || process_name(process).v == 0 ||
	       (t->tid < 0 && process_name(process).v == t->name.v);
}

int activity_of_threads(const struct profile *p, const struct profile_counts *counts,
			const struct lens *lens, const struct weights *w, uint32_t n_slices,
			struct progress *progress, struct activity *out)
{
	struct thread_sums s = {
		.span = passing_span(lens, w, n_slices),
		.whole_ns = w->begin_ns == TIME_NONE ? -1 : w->end_ns - w->begin_ns,
	};

	return sum_up(p, counts, lens, w, &s, progress, out);
}

int activity_within(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, const struct weights *w, const struct time_span *span,
		    struct progress *progress, struct activity *out)
{
	struct thread_sums s = {
		.span = *span,
		.within = true,
		.whole_ns = w->begin_ns == TIME_NONE ? -1 : w->end_ns - w->begin_ns,
	};

	return sum_up(p, counts, lens, w, &s, progress, out);
}

int activity_together(const struct profile *p, const struct profile_counts *counts,
		      const struct lens *lens, const struct weights *w,
		      const struct time_span *span, int64_t latest_ns, struct progress *progress,
		      int64_t **slices)
{
	uint32_t all = 0;
	/* One key for threads of any id. */
	const struct groups one = { .n = 1, .of_id = &all, .n_ids = 1 };
	struct thread_sums s = {
		.span = *span,
		.within = true,
		.whole_ns = w->begin_ns == TIME_NONE ? -1 : w->end_ns - w->begin_ns,
	};
	int rc;

	if (s.whole_ns > latest_ns)
		s.whole_ns = latest_ns;
	rc = scan(p, counts, lens, &one, progress, &s);

	free(s.weight);
	free(s.n_samples);
	if (rc == 0)
		*slices = s.slice;
	else
		free(s.slice);
	return rc;
}

void activity_done(struct activity *a)
{
	free(a->row);
	free(a->slices);
	free(a->columns);
	recent_free(a->recent);
	activity_pairs_free(a->pairs);
	groups_done(&a->keys);
	*a = (struct activity){ .n_rows = 0 };
}
