/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What threads ran over time: the few functions with most self cost, and in each slice of a row of activity the one of
 * them that had most. So phases are seen. A sample counts for the innermost of them in its stack, so that what a
 * function calls is part of its phase, and for none where there is none.
 */
#ifndef PROFTOP_QUERY_ACTIVITY_LANES_H
#define PROFTOP_QUERY_ACTIVITY_LANES_H

#include "query/core/time_span.h"

#include <stdint.h>

struct activity;
struct analysis;
struct progress;

/* As many as can be told apart by colours on any background. */
#define LANES_MOST 6

struct activity_lanes {
	uint32_t key[LANES_MOST]; /* in the analysis' keys, by falling self cost */
	uint32_t n;
	uint32_t n_slices;
	uint8_t *
		of; /* [rows of the activity][n_slices] 1 + which, 0: another one, or nothing ran; owned */
};

/*
 * Of the rows of an activity over that span, whatever time terms say; transforms of stacks do not count. *out is NULL where
 * nothing is known of it: without times, of heaps, of too many threads. 0 or -ECANCELED; the caller frees *out.
 */
int activity_lanes_new(const struct analysis *a, const struct activity *act,
		       const struct time_span *span, struct progress *progress,
		       struct activity_lanes **out);
void activity_lanes_free(struct activity_lanes *l);

#endif
