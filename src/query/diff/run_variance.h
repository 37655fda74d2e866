/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What runs of the same program differ by, learned from all functions at once: two or three runs say too little of that for
 * each function alone.
 */
#ifndef PROFTOP_QUERY_DIFF_RUN_VARIANCE_H
#define PROFTOP_QUERY_DIFF_RUN_VARIANCE_H

#include "query/diff/common_factor.h"
#include "query/diff/noise.h"

/*
 * Of several runs on some side, whose numbers are multiplied with factor[runs] before they are compared: the variance
 * between runs beyond chance that functions have in common, and how much that is worth beside what a function's own runs
 * say, in degrees of freedom: many where functions are alike, few where each has its own.
 *
 * equal[runs] becomes what makes the runs of a side equally fast, where enough functions tell how fast each was; what the
 * means of sides differ by as their runs were fast or slow is the spread's `speed`, and no part of the variance then. Sides are not
 * compared for any of that, so that it is known however much was changed. All zero where there are too few functions.
 */
void run_variance_of_runs(const struct run_rows *rows, const double *factor, double *equal,
			  struct noise_spread *out);

#endif
