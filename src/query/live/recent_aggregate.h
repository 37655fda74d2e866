/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What stacks, or threads, weighed in each slot of a stretch of time: samples, or what was there of a heap. */
#ifndef PROFTOP_QUERY_LIVE_RECENT_AGGREGATE_H
#define PROFTOP_QUERY_LIVE_RECENT_AGGREGATE_H

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/lens.h"
#include "query/core/time_span.h"

#include <stdint.h>

struct groups;
struct progress;

/* What rows of *out are of; stacks, where neither is there. */
struct recent_rows {
	uint32_t n;
	const uint32_t *
		of_stack; /* [counts->n_stacks] the row that each counts for, of samples only; or NULL */
	const struct groups *threads; /* their keys; or NULL */
};

/*
 * Of column 0 of lens, whose filter says nothing of times. The span may begin before the recording, by a minute or so.
 * *out has a column for each slot and nothing but such rows, as stacks; samples are 0. Where the metric is of what is there,
 * columns are of what is at the ends of slots. 0, -ECANCELED, or -ENODATA without times; the caller ends with weights_done()
 * in any case.
 */
int recent_aggregate(const struct profile *p, const struct profile_counts *counts,
		     const struct lens *lens, const struct time_span *span,
		     const struct recent_rows *rows, struct progress *progress,
		     struct weights *out);

#endif
