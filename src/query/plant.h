/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * From the stack trie to a tree of what a lens shows: locations become frames, frames of one group
 * one node, transforms are applied.
 */
#ifndef PROFTOP_QUERY_PLANT_H
#define PROFTOP_QUERY_PLANT_H

#include "frametree.h"
#include "keys.h"
#include "weigh.h"

struct progress;

/*
 * Keys of *out's nodes are keys of k; stacks that nobody paid for are left out. What w has per stack
 * is freed on the way. Returns 0 or -ECANCELED; the caller ends with frametree_done() only after 0.
 */
int plant_tree(const struct profile *p, const struct profile_counts *counts,
	       const struct lens *lens, const struct keys *k, struct weights *w,
	       struct progress *progress, struct frametree *out);

#endif
