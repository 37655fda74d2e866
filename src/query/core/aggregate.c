/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pass over the samples that every answer begins with.
 *
 * Without filters there is nothing to ask of a row but its event, and that only where a profile has
 * several.
 */
#include "config.h"

#include "query/core/aggregate.h"

#include "base/hash.h"
#include "base/huge_alloc.h"
#include "base/map.h"
#include "base/mem.h"
#include "query/core/heap_aggregate.h"
#include "query/core/heap_pass.h"
#include "query/core/sample_scan.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AHEAD 16 /* rows: sums of stacks lie far apart */

/* What is noted on the way, to be made an answer of at the end. */
struct notes {
	bool *threads;        /* [n_threads] have rows of column 0 that passed; owned */
	double slices_per_ns; /* 0 without times */
};

/* The recording's span: as long as its longest capture. */
static void find_span(const struct profile *p, const struct profile_counts *counts,
		      struct weights *w)
{
	uint64_t longest = 0;

	w->begin_ns = w->end_ns = w->first_ns = w->last_ns = TIME_NONE;
	for (uint32_t i = 0; i < counts->n_captures; i++) {
		struct capture_span c = profile_capture_span(p, counts, (capture_id){ i });
		int64_t begin = c.begin_ns, end = c.end_ns;
		uint64_t span = (uint64_t)end - (uint64_t)begin;

		if (begin == TIME_NONE || end == TIME_NONE || end < begin)
			continue;
		if (w->begin_ns == TIME_NONE || begin < w->begin_ns)
			w->begin_ns = begin;
		if (span > longest)
			longest = span;
	}
	if (w->begin_ns == TIME_NONE)
		return;
	/* Hostile clocks: neither the end nor the difference may pass what 63 bits hold. */
	if (longest > INT64_MAX)
		longest = INT64_MAX;
	if (longest > (uint64_t)INT64_MAX - (uint64_t)w->begin_ns)
		longest = (uint64_t)INT64_MAX - (uint64_t)w->begin_ns;
	w->end_ns = (int64_t)((uint64_t)w->begin_ns + longest);
}

static void weights_init(struct weights *w, const struct profile *p, const struct sample_scan *r)
{
	*w = (struct weights){ .n_stacks = r->counts.n_stacks,
			       .n_columns = r->lens->n_columns,
			       .sample_scale = sample_scan_sample_scale(r, 0) };
	for (uint32_t c = 0; c < w->n_columns; c++) {
		w->scale[c] = r->column[c].one * r->column[c].finer;
		w->square_unit[c] = r->column[c].square_unit;
	}
	find_span(p, &r->counts, w);
}

static void make_room(struct weights *w)
{
	w->stack = huge_alloc_table_new((size_t)w->n_stacks * w->n_columns * sizeof(*w->stack));
	w->samples = huge_alloc_table_new(w->n_stacks * sizeof(*w->samples));
}

/* Rows of the batch that are of column c. */
static void add_column(const struct sample_scan *r, uint32_t c, struct weights *w)
{
	const struct sample_scan_column *column = &r->column[c];
	const bool *lens = sample_scan_lens(r), *own = sample_scan_own(r, c);
	const uint32_t *stack = r->rows.stack;
	const uint16_t *event = r->event;
	int64_t total = 0, whole = 0, *to = w->stack ? w->stack + c : NULL;
	uint32_t n_columns = w->n_columns;

	if (column->none || (!event && column->event != 0))
		return;
	for (uint64_t i = 0; i < r->n; i++) {
		int64_t x;

		if (to && i + AHEAD < r->n)
			__builtin_prefetch(&to[(size_t)stack[i + AHEAD] * n_columns], 1);
		if ((event && !sample_scan_counts(column, event[i])) || (own && !own[i]))
			continue;
		x = sample_scan_adds(r, column, i);
		whole += x;
		if (lens && !lens[i])
			continue;
		total += x;
		if (to)
			to[(size_t)stack[i] * n_columns] += x;
	}
	w->whole[c] += whole;
	w->total[c] += total;
}

/* A row's slice of time, and, where it passes by its time too, the earliest and latest so far. */
static void note_time(const struct sample_scan *r, const struct notes *n, uint64_t i, bool passes,
		      struct weights *w)
{
	const struct sample_scan_column *column = &r->column[0];
	uint32_t thread = sample_rows_thread(&r->rows, i);
	int64_t at = r->rows.time_ns[i], since;
	bool lasts = sample_scan_lasts(r, i);
	size_t slice, last;

	if (at == TIME_NONE || n->slices_per_ns == 0)
		return;
	/* Captures grow while they are read: what lies outside of what was seen goes to an end. */
	since = r->origin[thread == ID_NONE ? r->counts.n_threads : thread];
	since = at > since ? (int64_t)((uint64_t)at - (uint64_t)since) : 0;
	if (since < 0 || since > w->end_ns - w->begin_ns)
		since = w->end_ns - w->begin_ns;
	if (lasts) {
		sample_scan_stretch(w->slice, WEIGH_N_SLICES, (double)since * n->slices_per_ns,
				    ((double)since + sample_scan_span_ns(r, i)) * n->slices_per_ns,
				    sample_scan_weight(column, i));
	} else {
		slice = (size_t)((double)since * n->slices_per_ns);
		last = (size_t)(((double)since + sample_scan_span_ns(r, i)) * n->slices_per_ns);
		if (slice >= WEIGH_N_SLICES)
			slice = WEIGH_N_SLICES - 1;
		sample_scan_spread(r, i, w->slice, slice,
				   last < WEIGH_N_SLICES ? last : WEIGH_N_SLICES - 1,
				   sample_scan_weight(column, i));
	}
	at = w->begin_ns + since;
	if (!passes)
		return;
	if (w->first_ns == TIME_NONE || at < w->first_ns)
		w->first_ns = at;
	if (lasts)
		at += (int64_t)fmin(sample_scan_span_ns(r, i), (double)(w->end_ns - at));
	if (w->last_ns == TIME_NONE || at > w->last_ns)
		w->last_ns = at;
}

/* What column 0 tells beyond its weights. */
static void note_activity(const struct sample_scan *r, const struct notes *n, struct weights *w)
{
	const struct sample_rows *rows = &r->rows;
	const bool *lens = sample_scan_lens(r), *own = sample_scan_own(r, 0);
	const bool *any_time = sample_scan_any_time(r);

	for (uint64_t i = 0; i < r->n; i++) {
		bool passes = !lens || lens[i];
		uint64_t n_samples;

		if (w->samples && i + AHEAD < r->n)
			__builtin_prefetch(&w->samples[rows->stack[i + AHEAD]], 1);
		if ((own && !own[i]) || (any_time && !any_time[i]) ||
		    !sample_scan_counts(&r->column[0], r->event ? r->event[i] : 0))
			continue;
		if (rows->time_ns)
			note_time(r, n, i, passes, w);
		if (!passes)
			continue;
		n_samples = sample_scan_samples(r, 0, i);
		w->n_samples += n_samples;
		if (w->samples)
			w->samples[rows->stack[i]] += n_samples;
		if (sample_rows_thread(rows, i) != ID_NONE)
			n->threads[rows->thread[i]] = true;
	}
}

struct tid_key {
	uint32_t process;
	int32_t tid;
	uint32_t name; /* string_id of those without a tid; else 0 */
};

static struct tid_key key_of(const struct thread *t)
{
	return (struct tid_key){ t->process.v, t->tid, t->tid < 0 ? t->name.v : 0 };
}

static bool same_tid(const void *things, uint32_t value, const void *key)
{
	const struct tid_key own = key_of(profile_thread(things, (thread_id){ value })), *k = key;

	return own.process == k->process && own.tid == k->tid && own.name == k->name;
}

/* Where an input tells of labels only, its thread is none. */
static bool is_named(const struct thread *t)
{
	return t->tid >= 0 || t->name.v != 0;
}

/* A thread that has had several names is one; threads without a tid are told apart by name. */
uint64_t aggregate_count_threads(const struct profile *p, const bool *threads, uint32_t n_threads)
{
	struct map seen = { 0 };
	uint64_t n = 0;

	for (uint32_t i = 0; i < n_threads; i++) {
		const struct thread *t = profile_thread(p, (thread_id){ i });
		struct tid_key key = key_of(t);
		uint64_t hash = hash_pair(key.process, t->tid < 0 ? key.name : (uint32_t)t->tid);

		if ((threads && !threads[i]) || !is_named(t))
			continue;
		if (map_find(&seen, hash, same_tid, p, &key) != MAP_NONE)
			continue;
		map_add(&seen, hash, i);
		n++;
	}
	map_done(&seen);
	return n;
}

static int pass(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, bool of_stacks, struct progress *progress,
		struct weights *out)
{
	struct notes notes = { 0 };
	struct sample_scan *r;
	int rc;

	*out = (struct weights){ 0 };
	rc = sample_scan_new(p, counts, lens, progress, &r);
	if (rc < 0)
		return rc;
	weights_init(out, p, r);
	if (of_stacks)
		make_room(out);
	notes.threads = xcalloc(counts->n_threads, sizeof(*notes.threads));
	if (out->begin_ns != TIME_NONE)
		notes.slices_per_ns = WEIGH_N_SLICES /
				      ((double)(out->end_ns - out->begin_ns) + 1.0);
	while ((rc = sample_scan_next(r, progress)) > 0) {
		for (uint32_t c = 0; c < lens->n_columns; c++)
			add_column(r, c, out);
		note_activity(r, &notes, out);
	}
	if (rc == 0)
		rc = heap_aggregate(p, r, progress, notes.threads, out);
	out->n_threads = aggregate_count_threads(p, notes.threads, counts->n_threads);
	free(notes.threads);
	sample_scan_free(r);
	return rc;
}

int aggregate(const struct profile *p, const struct profile_counts *counts, const struct lens *lens,
	      struct progress *progress, struct weights *out)
{
	return pass(p, counts, lens, true, progress, out);
}

int aggregate_sums(const struct profile *p, const struct profile_counts *counts,
		   const struct lens *lens, struct progress *progress, struct weights *out)
{
	return pass(p, counts, lens, false, progress, out);
}

void weights_done(struct weights *w)
{
	weights_drop_stacks(w);
	weights_drop_samples(w);
	heap_filter_free(w->passing);
	*w = (struct weights){ 0 };
}

/* Parents come first: what is above a stack still has what is above itself. */
void weights_unsum(struct weights *w, const uint32_t *parent)
{
	uint32_t n = w->n_columns;

	for (uint32_t i = 1; w->summed && i < w->n_stacks; i++)
		for (uint32_t c = 0; c < n; c++)
			w->stack[(size_t)parent[i] * n + c] -= w->stack[(size_t)i * n + c];
	w->summed = false;
}

void weights_drop_stacks(struct weights *w)
{
	huge_alloc_table_free(w->stack, (size_t)w->n_stacks * w->n_columns * sizeof(*w->stack));
	w->stack = NULL;
}

void weights_drop_samples(struct weights *w)
{
	huge_alloc_table_free(w->samples, w->n_stacks * sizeof(*w->samples));
	w->samples = NULL;
}
