/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When the runs of a comparison were, and how their times are laid on one axis: by their starts, by a mark that all of
 * them set, or by how far each had come.
 */
#ifndef PROFTOP_QUERY_DIFF_COMPARISON_TIME_H
#define PROFTOP_QUERY_DIFF_COMPARISON_TIME_H

#include "profile/profile.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct footprint;
struct progress;
struct weights;

/* How runs are aligned: one of these, or ALIGN_MARK + the number of a mark. */
enum { ALIGN_START, ALIGN_PROGRESS, ALIGN_MARK };

/* The axis of progress is so long: a second stands for a percent. */
#define PROGRESS_NS INT64_C(100000000000)

struct sides_run {
	struct lens lens; /* of its filter and the comparison's; one column; owned */
	bool *captures;   /* [n_captures] those that its filter lets pass; owned */
	/* of a heap, after comparison_time_weigh(); else NULL; owned */
	struct footprint *footprint;
	int64_t begin_ns; /* since its captures' start */
	int64_t end_ns;   /* behind it; memory lives on behind a range of time */
	int64_t *mark_ns; /* [n_marks] since its captures' start; owned */
};

struct comparison_time {
	const struct profile *profile; /* borrowed */
	struct profile_counts counts;
	bool heap;
	int64_t whole_begin_ns, whole_end_ns; /* as weights of the comparison have them */
	uint32_t n_runs[N_SIDES];
	struct sides_run *run; /* [n runs], those before first; owned */
	struct {
		string_id *at;
		size_t n, cap;
	} mark; /* names of marks that are in all runs; owned */
};

/* Of a lens that compares and the weights made through it. 0, or -ENODATA where runs have no times; the caller frees *out. */
int comparison_time_new(const struct profile *p, const struct profile_counts *counts,
			const struct lens *lens, const struct weights *w,
			struct comparison_time **out);
/* Makes the footprints of a heap's runs, as far as they are not there; nothing else changes. 0 or -ECANCELED. */
int comparison_time_weigh(struct comparison_time *t, struct progress *progress);
void comparison_time_free(struct comparison_time *t);

/* How many ways of aligning there are. */
static inline uint32_t comparison_time_alignments(const struct comparison_time *t)
{
	return ALIGN_MARK + (uint32_t)t->mark.n;
}

/* "start", "progress", or the name of a mark, which is untrusted text. */
const char *comparison_time_name(const struct comparison_time *t, uint32_t align);

/* The length of the axis, in ns. */
int64_t comparison_time_length(const struct comparison_time *t, uint32_t align);

/* The last point of the axis at which all runs are still there; t may be NULL. */
int64_t comparison_time_common_end(const struct comparison_time *t, uint32_t align);

/* What time of a run, since its captures' start, stands at a point of the axis; it may be before or behind the run. */
double comparison_time_at(const struct comparison_time *t, uint32_t align, uint32_t run,
			  double axis_ns);

/* Where the mark stands that runs are aligned by. */
int64_t comparison_time_mark(const struct comparison_time *t, uint32_t align);

#endif
