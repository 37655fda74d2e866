/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The allocations' part of activity: what threads asked for, and when. */
#ifndef PROFTOP_QUERY_HEAP_ACTIVITY_H
#define PROFTOP_QUERY_HEAP_ACTIVITY_H

#include "query/activity.h"
#include "query/core/sample_scan.h"

#include <stdbool.h>
#include <stdint.h>

/* Sums by key of a thread. */
struct thread_sums {
	uint32_t n_shown;      /* columns of the lens without what only ratios are made of */
	int64_t *weight;       /* [n_keys] */
	uint64_t *n_samples;   /* [n_keys] */
	int64_t *slice;        /* [n_keys][span.n], or NULL */
	struct time_span span; /* what is looked at */
	bool within;           /* rows outside of it do not count, and time terms do not rule */
	double slices_per_ns;
	int64_t whole_ns; /* the recording's length; -1: it has no times */
	uint32_t column;  /* of the lens */
};

/*
 * Adds the allocations of the column, if that is of heaps. Slices are of what is there at their end where
 * the metric is of what is there, else of what was asked for. Returns 0 or -ECANCELED.
 */
int heap_activity(const struct profile *p, const struct sample_scan *r, const struct groups *keys,
		  struct progress *progress, struct thread_sums *to);

/*
 * Adds slices of column 0 to the columns of w, by key of a thread, or by stack where there are none: of what is there at their
 * ends, or of what was asked for in them, whatever time terms say. Of samples it adds nothing. 0 or -ECANCELED.
 */
int heap_activity_columns(const struct profile *p, const struct sample_scan *r,
			  const struct groups *threads, const struct time_span *span,
			  struct progress *progress, struct weights *to);

#endif
