/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tree that can be shown as rows or as a flame graph: the call tree, or the inverted one.
 *
 * Nodes are numbers, which mean something until the analysis is replaced. TREE_NONE stands above
 * the roots when a parent is meant, and for no node when a child is.
 */
#ifndef PROFTOP_TUI_ROWS_TREE_SOURCE_H
#define PROFTOP_TUI_ROWS_TREE_SOURCE_H

#include "query/core/groups.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;
struct match_cursor;
struct scene;

#define TREE_NONE UINT32_MAX

struct tree_source {
	const char *title; /* of the column of names */
	bool by_self;      /* what adds up over the children is self, not total */

	/* Children by falling total of column 0; the inverted tree's roots by falling self; in comparisons by what changed. */
	uint32_t (*first)(struct analysis *a, uint32_t node);
	uint32_t (*next)(struct analysis *a, uint32_t node);
	uint32_t (*parent)(struct analysis *a, uint32_t node);
	/* Has the node children? Its only child, or TREE_NONE when it has none or several. Neither
	 * makes what first() and next() have to. */
	bool (*inner)(struct analysis *a, uint32_t node);
	uint32_t (*only)(struct analysis *a, uint32_t node);
	uint32_t (*key)(struct analysis *a, uint32_t node);
	uint64_t (*path)(struct analysis *a, uint32_t node);
	bool (*inlined)(struct analysis *a, uint32_t node);
	/* Nodes [*first, *end) are what a search looks through, below top or in all. */
	void (*range)(struct analysis *a, uint32_t top, uint32_t *first, uint32_t *end);
	/* Of these the one with that key and number, from 0, or TREE_NONE after the last. */
	uint32_t (*of_key)(struct analysis *a, uint32_t key, uint32_t i);
	/* [n_columns], borrowed until the next call of first(). */
	const int64_t *(*self)(struct analysis *a, uint32_t node);
	const int64_t *(*total)(struct analysis *a, uint32_t node);
};

extern const struct tree_source tree_of_calls;
extern const struct tree_source tree_of_callers;

/*
 * The last node of the run that starts at node and in which each has but one child that weighs the
 * same: what is shown in one row without loss. Threads' names stay by themselves, and so do the
 * functions that callers are listed of.
 */
uint32_t tree_chain_end(const struct tree_source *src, struct analysis *a, uint32_t node);

/* A child of node (or a root) by its key's id, or TREE_NONE. Linear in the children. */
uint32_t tree_child(const struct tree_source *src, struct analysis *a, uint32_t node,
		    uint32_t key_id);

/* Calls fn for each node of the source that matches the search, in no order. */
void tree_each_match(const struct tree_source *src, const struct scene *s,
		     void (*fn)(void *arg, uint32_t node), void *arg);

/* Goes over all nodes of the source (below top) that match the search; see match_cursor.h. */
void tree_find(const struct tree_source *src, const struct scene *s, uint32_t top,
	       struct match_cursor *f);

/* The key of a node. */
const struct key *tree_key(const struct tree_source *src, struct analysis *a, uint32_t node);

/* By what the hottest path is followed: the weight, or in comparisons the size of its change, in the unit of column 0. */
int64_t tree_heat(const struct tree_source *src, struct analysis *a, uint32_t node);

/* Column 0 of what adds up over the children. */
int64_t tree_weight(const struct tree_source *src, struct analysis *a, uint32_t node);

#endif
