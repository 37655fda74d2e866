/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What most functions of a comparison did: the factor by which its runs differ in nearly everything, as they do on a machine
 * that was slower, or when more was run; and what functions differ by besides.
 *
 * It is not the ratio of the totals, which a single function that grew changes, but that of the most usual function (what Anders
 * and Huber, 2010, call the median of ratios): each function is a witness, and those that are far from the others, as ones
 * that were changed are, are not heard.
 */
#ifndef PROFTOP_QUERY_DIFF_COMMON_FACTOR_H
#define PROFTOP_QUERY_DIFF_COMMON_FACTOR_H

#include "base/mem.h"
#include "query/core/lens.h"
#include "query/diff/noise.h"

#include <stdbool.h>
#include <stdint.h>

/* Functions with enough samples in every run to tell anything; all zero but n_runs: none. */
struct run_rows {
	uint32_t n_runs[N_SIDES];
	uint32_t n;
	VEC(uint32_t) key; /* [n] what they are in the table; owned, as are: */
	VEC(double) log;   /* [n][runs of both sides] logarithm of what was measured */
	VEC(double)
	chance; /* [n][runs] the variance that chance gives to that: 0 where it is exact */
};

/* Adds a function: of each run what was measured, and the variance of it. Those with too few samples are left out. */
void run_rows_add(struct run_rows *rows, uint32_t key, const double *x, const double *variance);
void run_rows_done(struct run_rows *rows);

struct common_factor {
	bool agreed; /* most functions agree, however few they are */
	bool known; /* there are enough functions, not all below one caller, and most of them agree */
	bool differs; /* and runs differ by more than chance explains, and more than is worth a word */
	double run
		[LENS_MAX_COLUMNS]; /* [runs] what the typical function has in each, of what it has on average */
	double ratio;               /* after over before */
	double low, high; /* 95 % */
	double error;     /* deviation of the ratio's logarithm */
	uint32_t n_rows;  /* functions that were heard, … */
	uint32_t n_alike; /* … and those that did as most do */
	/* Of one run a side: what those differ by among themselves beyond chance, none of which can be their common factor. */
	struct noise_spread spread;
};

void common_factor_find(const struct run_rows *rows, struct common_factor *out);

/*
 * What is below one caller may have one cause. branch says by key below which of the callers that divide the program each
 * function is. Unless functions outside the largest of these branches say the same, nothing is known.
 */
void common_factor_check(const struct run_rows *rows, const uint32_t *branch,
			 struct common_factor *t);

/*
 * "11 of 12 functions grew by about 48.0 % (95 %: +45.1 to +50.9): host slower, or more work?", or of
 * several runs whose sides are alike what the runs differ by; of a heap, no host is blamed. The caller frees.
 */
char *common_factor_say(const struct common_factor *t, bool of_heap);
/*
 * The same of numbers whose runs were multiplied with factor[runs], as by `name`: "made equal by time, most functions still differ
 * by +3.0 %; --normalise typical scales by that", or "…, most functions are alike". The caller frees.
 */
char *common_factor_say_rest(const struct common_factor *t, const uint32_t n_runs[N_SIDES],
			     const double *factor, const char *name);
/* What NORMALISE_TYPICAL does to the side after: "scaled by 1/1.48", "scaled by 1.50", "scaled run by run". The caller frees. */
char *common_factor_scale(const struct common_factor *t);
/* The change alone, "+48.0", or of runs whose sides are alike "up to 32.0", in per cent. The caller frees. */
char *common_factor_change(const struct common_factor *t);

#endif
