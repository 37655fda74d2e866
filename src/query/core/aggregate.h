/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One linear pass over the samples: filter → a weight per stack and column.
 *
 * Also counts, on the way, what screens always show: totals, samples, activity over time.
 */
#ifndef PROFTOP_QUERY_CORE_AGGREGATE_H
#define PROFTOP_QUERY_CORE_AGGREGATE_H

#include "profile/profile.h"
#include "query/core/lens.h"

#include <stdbool.h>
#include <stdint.h>

struct groups;
struct heap_filter;
struct progress;

/* Activity is kept in this many equal slices of the whole recording's time. */
#define WEIGH_N_SLICES 512

/* Sums by key, which become the rows of a table. */
struct table_sums {
	const struct groups *keys;
	int64_t *self;       /* [n_keys][n_columns]; owned, as are the following */
	int64_t *total;      /* [n_keys][n_columns] */
	uint64_t *n_samples; /* [n_keys] */
	bool *wanted;        /* [n_keys] is to be a row */
	uint32_t n_columns;
};

/* When most was there. Each process has a peak of its own: their sum need not have been there at any time. */
struct peak {
	int64_t time_ns; /* of the highest, since the start; TIME_NONE: there is none */
	int64_t bytes;   /* of its process */
	uint32_t n;      /* processes that have one */
};

struct weights {
	uint32_t n_stacks;
	uint32_t n_columns;
	int64_t *
		stack; /* [n_stacks][n_columns] of samples that end there; of huge_alloc_table_new(), or NULL */
	bool summed;       /* stack has what is above, too, not only what ends there */
	uint64_t *samples; /* [n_stacks] how many those are in column 0, in 1/sample_scale; same */
	int64_t scale[LENS_MAX_COLUMNS]; /* weights are in 1/scale of the unit; 1 where counted */
	/*
	 * Of a column of squares: its sums estimate the variance of the sums of weights that it stands beside,
	 * in squares of so many 1/scale of the unit. Were samples taken anew, each would be there or not by
	 * chance, so that squares of their weights add up (Poisson); a sampled block that stands for k
	 * adds the part 1 - 1/k of its square, and one that was recorded for certain nothing. 0: no squares.
	 */
	int64_t square_unit[LENS_MAX_COLUMNS];
	int64_t total[LENS_MAX_COLUMNS]; /* of all samples that passed the filters */
	int64_t whole
		[LENS_MAX_COLUMNS]; /* of all that pass the column's own filter, not the lens' */
	uint64_t n_samples;         /* that passed, of column 0, in 1/sample_scale */
	int64_t sample_scale; /* 1 but for fractional counts, and so of all counts of samples */
	uint64_t n_threads;   /* distinct threads (tids) among them */
	int64_t begin_ns;     /* of the whole recording, TIME_NONE without times; */
	int64_t end_ns;       /* several captures are laid over each other, starts aligned */
	/* Column 0 over [begin, end], whatever time terms say: sums of slices; of bytes that are live,
	   at the peak or leaked, how many are there at a slice's end. */
	int64_t slice[WEIGH_N_SLICES];
	int64_t first_ns; /* earliest and latest time that passed the filter */
	int64_t last_ns;
	struct peak peak; /* of the first MEASURE_PEAK */
	/* the lens' filter of allocations, for answers that follow; NULL: there is none that took long to make; owned */
	struct heap_filter *passing;
};

/*
 * Weighs the samples below the counts. Frame predicates (fn:, module:, …) are evaluated once per
 * function and passed down the trie, not once per sample. Stacks' transforms are not applied here.
 *
 * Returns 0 or -ECANCELED. The caller ends with weights_done().
 */
int aggregate(const struct profile *p, const struct profile_counts *counts, const struct lens *lens,
	      struct progress *progress, struct weights *out);
/* The same but for what is per stack, which is NULL. */
int aggregate_sums(const struct profile *p, const struct profile_counts *counts,
		   const struct lens *lens, struct progress *progress, struct weights *out);
void weights_done(struct weights *w);
/* Makes stack again what ends there, where it is more; parent is [n_stacks]. */
void weights_unsum(struct weights *w, const uint32_t *parent);
/* Free what is per stack, for when it has been added up elsewhere; the sums stay. */
void weights_drop_stacks(struct weights *w);
void weights_drop_samples(struct weights *w);

/*
 * Distinct threads (tids) among those that are set in threads[n_threads]; NULL: among all. One thread may be several of a
 * profile, with other names or labels.
 */
uint64_t aggregate_count_threads(const struct profile *p, const bool *threads, uint32_t n_threads);

#endif
