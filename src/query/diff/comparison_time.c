/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/comparison_time.h"

#include "base/mem.h"
#include "profile/heap/heap.h"
#include "query/core/captures.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"
#include "query/heap/footprint.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t n_all(const struct comparison_time *t)
{
	return t->n_runs[SIDE_BEFORE] + t->n_runs[SIDE_AFTER];
}

/* The longest of a run's captures, or the part of it that time terms let pass. */
static void find_extent(const struct comparison_time *t, struct sides_run *run)
{
	int64_t from, to, longest = 0;

	filter_times(run->lens.filter, &from, &to);
	for (uint32_t i = 0; i < t->counts.n_captures; i++) {
		struct capture_span c = profile_capture_span(t->profile, &t->counts,
							     (capture_id){ i });
		int64_t span;

		if (c.begin_ns != TIME_NONE && c.end_ns != TIME_NONE && run->captures[i] &&
		    !__builtin_sub_overflow(c.end_ns, c.begin_ns, &span) && span > longest)
			longest = span;
	}
	run->begin_ns = from > 0 ? from : 0;
	run->end_ns = to < longest && !t->heap ? to : longest + 1;
}

/* Its one column, with the filters of the comparison and its own as one. */
static void make_lens(const struct lens *of, uint32_t column, struct lens *out)
{
	struct lens plain = *of;
	char *own = filter_text(of->column[column].filter);

	plain.n_columns = 0; /* the filter alone is copied */
	lens_copy(out, &plain);
	out->n_columns = 1;
	out->column[0] = (struct lens_column){ .metric = of->column[column].metric };
	out->sides = (struct lens_sides){ .reference = { ID_NONE } };
	if (out->filter)
		filter_add(out->filter, own, NULL);
	else
		filter_parse(own, &out->filter, NULL);
	free(own);
}

/* When a run set a mark first; TIME_NONE: it did not. */
static int64_t mark_of(const struct comparison_time *t, const struct sides_run *run, string_id name)
{
	const struct heap_mark *mark = profile_heap_marks(t->profile);
	struct heap_columns c;

	profile_heap_of(t->profile, &t->counts, &c);
	for (uint32_t i = 0; i < c.n_marks; i++) {
		int64_t begin = profile_capture_span(t->profile, &t->counts, mark[i].capture)
					.begin_ns,
			at;

		if (mark[i].name.v != name.v || begin == TIME_NONE ||
		    !run->captures[mark[i].capture.v])
			continue;
		at = mark[i].time_ns - begin;
		if (at >= run->begin_ns && at < run->end_ns)
			return at;
	}
	return TIME_NONE;
}

static bool is_known(const struct comparison_time *t, string_id name)
{
	for (size_t i = 0; i < t->mark.n; i++)
		if (t->mark.at[i].v == name.v)
			return true;
	return false;
}

static bool in_all(const struct comparison_time *t, string_id name)
{
	for (uint32_t i = 0; i < n_all(t); i++)
		if (mark_of(t, &t->run[i], name) == TIME_NONE)
			return false;
	return true;
}

static void find_marks(struct comparison_time *t)
{
	const struct heap_mark *mark = profile_heap_marks(t->profile);
	struct heap_columns c;

	profile_heap_of(t->profile, &t->counts, &c);
	for (uint32_t i = 0; i < c.n_marks; i++)
		if (!is_known(t, mark[i].name) && in_all(t, mark[i].name))
			vec_push(&t->mark, mark[i].name);
	for (uint32_t i = 0; i < n_all(t); i++) {
		t->run[i].mark_ns = xcalloc(t->mark.n + 1, sizeof(*t->run[i].mark_ns));
		for (size_t k = 0; k < t->mark.n; k++)
			t->run[i].mark_ns[k] = mark_of(t, &t->run[i], t->mark.at[k]);
	}
}

int comparison_time_new(const struct profile *p, const struct profile_counts *counts,
			const struct lens *lens, const struct weights *w,
			struct comparison_time **out)
{
	struct comparison_time *t = xcalloc(1, sizeof(*t));
	int rc = w->begin_ns == TIME_NONE ? -ENODATA : 0;

	t->profile = p;
	t->counts = *counts;
	t->heap = metric_is_heap(p, lens->column[0].metric);
	t->whole_begin_ns = w->begin_ns;
	t->whole_end_ns = w->end_ns;
	for (int side = 0; side < N_SIDES; side++)
		t->n_runs[side] = lens->sides.n_runs[side];
	t->run = xcalloc(n_all(t), sizeof(*t->run));
	for (uint32_t i = 0; i < n_all(t); i++) {
		struct sides_run *run = &t->run[i];

		make_lens(lens, SIDES_FIRST + i, &run->lens);
		run->captures = captures_of_filter(p, counts, run->lens.filter);
		find_extent(t, run);
		if (rc == 0 && run->end_ns <= run->begin_ns)
			rc = -ENODATA;
	}
	find_marks(t);
	if (rc < 0)
		comparison_time_free(t);
	else
		*out = t;
	return rc;
}

int comparison_time_weigh(struct comparison_time *t, struct progress *progress)
{
	int rc = 0;

	for (uint32_t i = 0; t->heap && rc == 0 && i < n_all(t); i++) {
		struct sides_run *run = &t->run[i];

		if (!run->footprint)
			rc = footprint_new(t->profile, &t->counts, &run->lens,
					   run->lens.column[0].metric, progress, &run->footprint);
	}
	return rc;
}

void comparison_time_free(struct comparison_time *t)
{
	if (!t)
		return;
	for (uint32_t i = 0; i < n_all(t); i++) {
		footprint_free(t->run[i].footprint);
		lens_done(&t->run[i].lens);
		free(t->run[i].mark_ns);
		free(t->run[i].captures);
	}
	free(t->run);
	vec_done(&t->mark);
	free(t);
}

const char *comparison_time_name(const struct comparison_time *t, uint32_t align)
{
	if (align == ALIGN_START)
		return "start";
	if (align == ALIGN_PROGRESS || align - ALIGN_MARK >= t->mark.n)
		return "progress";
	return profile_string(t->profile, t->mark.at[align - ALIGN_MARK], NULL);
}

/* How long before (sign -1) the mark runs begin, or end behind it (1), at most. */
static int64_t around_mark(const struct comparison_time *t, uint32_t mark, int sign)
{
	int64_t most = 0;

	for (uint32_t i = 0; i < n_all(t); i++) {
		const struct sides_run *run = &t->run[i];
		int64_t d = sign < 0 ? run->mark_ns[mark] - run->begin_ns
				     : run->end_ns - run->mark_ns[mark];

		most = d > most ? d : most;
	}
	return most;
}

int64_t comparison_time_mark(const struct comparison_time *t, uint32_t align)
{
	return around_mark(t, align - ALIGN_MARK, -1);
}

int64_t comparison_time_length(const struct comparison_time *t, uint32_t align)
{
	int64_t most = 1, behind;

	if (align == ALIGN_PROGRESS)
		return PROGRESS_NS;
	if (align >= ALIGN_MARK) {
		behind = around_mark(t, align - ALIGN_MARK, 1);
		return __builtin_add_overflow(comparison_time_mark(t, align), behind, &most)
			       ? INT64_MAX
			       : most;
	}
	for (uint32_t i = 0; i < n_all(t); i++)
		if (t->run[i].end_ns - t->run[i].begin_ns > most)
			most = t->run[i].end_ns - t->run[i].begin_ns;
	return most;
}

double comparison_time_at(const struct comparison_time *t, uint32_t align, uint32_t run,
			  double axis_ns)
{
	const struct sides_run *r = &t->run[run];

	if (align == ALIGN_START)
		return (double)r->begin_ns + axis_ns;
	if (align == ALIGN_PROGRESS)
		return (double)r->begin_ns +
		       axis_ns / (double)PROGRESS_NS * (double)(r->end_ns - r->begin_ns);
	return (double)r->mark_ns[align - ALIGN_MARK] + axis_ns -
	       (double)comparison_time_mark(t, align);
}

int64_t comparison_time_common_end(const struct comparison_time *t, uint32_t align)
{
	int64_t least = t ? comparison_time_length(t, align) : 1;

	for (uint32_t i = 0; t && align != ALIGN_PROGRESS && i < n_all(t); i++) {
		const struct sides_run *r = &t->run[i];
		int64_t end = align == ALIGN_START ? r->end_ns - r->begin_ns
						   : r->end_ns - r->mark_ns[align - ALIGN_MARK] +
							     comparison_time_mark(t, align);

		least = end < least ? end : least;
	}
	return least - 1;
}
