/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The order of rows and siblings, the same in all answers. */
#ifndef PROFTOP_QUERY_CORE_ORDER_H
#define PROFTOP_QUERY_CORE_ORDER_H

#include "base/compare.h"
#include "query/core/groups.h"

#include <stdint.h>

/* The larger weight first; differences may be negative and go by their size. */
static inline int order_weights(int64_t a, int64_t b)
{
	uint64_t x = a < 0 ? -(uint64_t)a : (uint64_t)a, y = b < 0 ? -(uint64_t)b : (uint64_t)b;

	return COMPARE(y, x) ?: COMPARE(b, a);
}

/* Ranks keys, once, as rows and siblings of equal weight are compared by label over and over. */
void order_rank(struct groups *k);

/* By label, then module, then age. Either may be KEY_NONE, which comes first. */
static inline int order_keys(const struct groups *k, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (a == KEY_NONE || b == KEY_NONE)
		return a == KEY_NONE ? -1 : 1;
	return k->rank[a] < k->rank[b] ? -1 : 1;
}

#endif
