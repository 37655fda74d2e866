/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums of what a file says: where 63 bits do not hold them, they stop at the most that these hold. */
#ifndef PROFTOP_BASE_SUM_H
#define PROFTOP_BASE_SUM_H

#include <stdint.h>

static inline int64_t sum_of(int64_t a, int64_t b)
{
	int64_t s;

	if (__builtin_add_overflow(a, b, &s))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return s;
}

/* The same of counts, which are shown as signed numbers, too. */
static inline uint64_t sum_of_counts(uint64_t a, uint64_t b)
{
	uint64_t s;

	return __builtin_add_overflow(a, b, &s) || s > INT64_MAX ? (uint64_t)INT64_MAX : s;
}

#endif
