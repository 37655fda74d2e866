/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the stack trie to a tree of what a lens shows: locations become frames, frames of one group
 * one node, transforms are applied.
 */
#ifndef PROFTOP_QUERY_TREE_BUILD_TREE_H
#define PROFTOP_QUERY_TREE_BUILD_TREE_H

#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/tree/frametree.h"

struct progress;

/* Of a location that stands for a run of frames. */
#define PLANT_RUN UINT32_MAX

/*
 * Keys of *out's nodes are keys of k; stacks that nobody paid for are left out. What w has per stack
 * is freed on the way. groups has the key of each location, or PLANT_RUN, as they were when a table was made that the tree
 * is to agree with; NULL: as they are known now, and so where there are transforms. Returns 0 or -ECANCELED; the caller ends with frametree_done() only after 0.
 */
int build_tree_tree(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, const struct groups *k, const uint32_t *groups,
		    struct weights *w, struct progress *progress, struct frametree *out);

/*
 * The same of all stacks, whatever they weigh, with *out's of_stack: where rows of stacks are in the tree. Weights of its
 * nodes are without sense.
 */
int build_tree_of_stacks(const struct profile *p, const struct profile_counts *counts,
			 const struct lens *lens, const struct groups *k, struct frametree *out);

#endif
