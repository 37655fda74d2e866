/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What brief blocks (see struct heap_group) of each origin add up to, in one state of a heap. They are most of all blocks, and in
 * hardly any level: who knows their sums reads the other rows alone, whatever origins a filter lets pass.
 */
#ifndef PROFTOP_QUERY_CORE_HEAP_BRIEF_H
#define PROFTOP_QUERY_CORE_HEAP_BRIEF_H

#include "profile/heap/heap.h"
#include "query/core/heap_rules.h"

#include <stdint.h>

struct heap_state;
struct progress;

/* Sums of the last state that was asked for. One thread at a time may use it. */
struct heap_brief;

struct heap_brief *heap_brief_new(void);
void heap_brief_free(struct heap_brief *k);

/* [n_origins] of a state of one track, borrowed until the next state; version: of the profile's counts. NULL: it was cancelled. */
const struct heap_freed *heap_brief_sums(struct heap_brief *k, const struct heap_state *s,
					 uint32_t version, struct progress *progress);

/* Rows [from, to), of one group, that these sums are of: bits, by place in the group. */
static inline uint64_t heap_brief_rows(const struct heap_columns *c, uint32_t from, uint32_t to,
				       uint32_t n_moments)
{
	/* Of groups that have ended no row becomes brief any more. */
	if (allocation_begin(c, to - 1) + 1 >= n_moments)
		return 0;
	return __atomic_load_n(&c->group[from / HEAP_GROUP].brief, __ATOMIC_ACQUIRE) &
	       UINT64_MAX >> (HEAP_GROUP - (to - from)) << from % HEAP_GROUP;
}

#endif
