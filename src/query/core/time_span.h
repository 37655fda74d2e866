/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which time is looked at, and how closely: a span in equal slots.
 */
#ifndef PROFTOP_QUERY_CORE_TIME_SPAN_H
#define PROFTOP_QUERY_CORE_TIME_SPAN_H

#include <stdbool.h>
#include <stdint.h>

struct time_span {
	int64_t from_ns; /* since the recording's start; at least 0 */
	int64_t to_ns; /* behind from; INT64_MAX: the end, whenever that is; what is at the end counts */
	uint32_t n; /* slots; 0: nothing is wanted */
	/* of comparisons: how the axis is that from and to are on, see comparison_time.h */
	uint32_t align;
};

static inline bool time_span_same(const struct time_span *a, const struct time_span *b)
{
	return a->from_ns == b->from_ns && a->to_ns == b->to_ns && a->n == b->n &&
	       a->align == b->align;
}

#endif
