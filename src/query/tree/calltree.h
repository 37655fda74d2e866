/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The top-down call tree: the stack trie seen through a lens (locations of one function are one
 * frame, inlined functions are frames, transforms are applied), with self and total weights.
 *
 * Built whole, in one pass over the trie and one back; nodes nobody paid for are left out. Nodes are
 * in preorder, children by falling total of column 0 (then by label), so that a subtree is a range
 * and drawing from the top is reading on. Public to read, never to write.
 *
 * By module or file, frames that follow each other within one are one node: a tree of who calls into
 * whom.
 */
#ifndef PROFTOP_QUERY_TREE_CALLTREE_H
#define PROFTOP_QUERY_TREE_CALLTREE_H

#include "query/core/aggregate.h"
#include "query/core/groups.h"

#include <stdbool.h>
#include <stdint.h>

struct progress;

struct calltree {
	uint32_t n_nodes; /* at least 1: node 0 is the root, key KEY_NONE, everything */
	uint32_t n_columns;
	uint32_t max_depth; /* deepest node's depth; the root's is 0 */
	uint32_t *key;      /* [n_nodes] */
	uint32_t *parent;   /* [n_nodes]; the root's is 0 */
	uint32_t *end;      /* [n_nodes] one past the last node of the subtree */
	uint32_t *depth;    /* [n_nodes] */
	uint64_t *path; /* [n_nodes] hash of the key ids from the root: a name across rebuilds */
	int64_t *self;  /* [n_nodes][n_columns] */
	int64_t *total; /* [n_nodes][n_columns] */
	uint64_t *
		samples; /* [n_keys] samples of column 0 that end in a key's nodes, in weights' sample_scale */
	bool *outer;     /* [n_nodes] no node above has the same key: totals of a key add these */
	bool *inlined;   /* [n_nodes] every occurrence is inlined code */
	uint32_t n_keys; /* of the keys that it was built with */
	/* Nodes by key: of key k they are of_key[first_of[k] .. first_of[k + 1]), in preorder. */
	uint32_t *first_of; /* [n_keys + 1] */
	uint32_t *of_key;   /* [n_nodes - 1] */
};

/*
 * 0 or -ECANCELED. *out is the caller's to free. Keys must be of a frame grouping. What w has per
 * stack is used up: freed as soon as nodes have it, and NULL then. groups: see build_tree_tree().
 */
int calltree_build(const struct profile *p, const struct profile_counts *counts,
		   const struct lens *lens, const struct groups *keys, const uint32_t *groups,
		   struct weights *w, struct progress *progress, struct calltree **out);
void calltree_free(struct calltree *t);

/* Children: for (c = first; c != KEY_NONE; c = next). */
static inline uint32_t calltree_first(const struct calltree *t, uint32_t node)
{
	return node + 1 < t->end[node] ? node + 1 : KEY_NONE;
}

static inline uint32_t calltree_next(const struct calltree *t, uint32_t node)
{
	uint32_t next = t->end[node];

	return node != 0 && next < t->end[t->parent[node]] ? next : KEY_NONE;
}

/* The path of a node under one of that path, with that key's id. The root's path is 0. */
uint64_t calltree_path(uint64_t parent, uint32_t key_id);
/* The node of that key with that path, or KEY_NONE. Linear in the nodes of the key. */
uint32_t calltree_find(const struct calltree *t, uint32_t key, uint64_t path);
/* The node of that key with the largest total of column 0, or KEY_NONE. Linear in the nodes of the key. */
uint32_t calltree_hottest(const struct calltree *t, uint32_t key);

#endif
