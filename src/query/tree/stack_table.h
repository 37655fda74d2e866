/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The flat table of frames straight from the stack trie, for who wants no call tree. */
#ifndef PROFTOP_QUERY_TREE_STACK_TABLE_H
#define PROFTOP_QUERY_TREE_STACK_TABLE_H

#include "query/core/aggregate.h"
#include "query/tree/table.h"

/*
 * The same as table_of_frames() of the tree of the same lens, which must have no transforms, and of the same beyond. What w
 * has per stack, which it may not have where its cache may do without, is freed, unless a tree of the same may be wanted later: then *groups is what build_tree_tree() makes it by, the
 * caller's to free. NULL: none is. Returns 0 or -ECANCELED.
 */
int table_of_stacks(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, const struct groups *k, const int64_t *beyond,
		    struct weights *w, uint32_t **groups, struct progress *progress,
		    struct table *out);

#endif
