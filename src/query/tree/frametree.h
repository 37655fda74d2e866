/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A call tree while it is made and transformed: nodes in the order in which they were found, parents
 * before children. What a node's key numbers (atoms, keys) is its user's affair.
 */
#ifndef PROFTOP_QUERY_TREE_FRAMETREE_H
#define PROFTOP_QUERY_TREE_FRAMETREE_H

#include "base/hash.h"
#include "base/map.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In a map of nodes: what ends here is dropped. */
#define NODE_GONE UINT32_MAX

struct frametree {
	uint32_t n;         /* nodes; node 0 is the root */
	uint32_t cap;       /* nodes that the arrays hold */
	uint32_t n_columns; /* of self */
	uint32_t *parent;   /* [n]; the root's is 0; owned, as all are */
	uint32_t *key;      /* [n]; the root's is UINT32_MAX */
	bool *inlined;      /* [n] every frame here was inlined code */
	int64_t *self;      /* [n][n_columns]; NULL until it is known */
	uint64_t *samples;  /* [n] likewise */
	/* [n_stacks] the node where each stack of the profile ends, or NODE_GONE; NULL: nobody asked */
	uint32_t *of_stack;
	uint32_t n_stacks;
	uint32_t *first; /* [n] a child, or 0: most nodes have one; NULL after frametree_seal() */
	struct map children; /* the others by parent and key; emptied by frametree_seal() */
};

/* A root and nothing else; room for about n_expected nodes. */
void frametree_init(struct frametree *t, uint32_t n_columns, size_t n_expected);
void frametree_done(struct frametree *t);

/* Adds a child that is not there yet, and not to the map. */
uint32_t frametree_add(struct frametree *t, uint32_t parent, uint32_t key, bool inlined);

static inline bool frametree_same(const void *things, uint32_t value, const void *key)
{
	const struct frametree *t = things;
	const uint32_t *k = key;

	return t->parent[value] == k[0] && t->key[value] == k[1];
}

/* The child of parent with that key, made where there is none. */
static inline uint32_t frametree_child(struct frametree *t, uint32_t parent, uint32_t key,
				       bool inlined)
{
	const uint32_t sought[2] = { parent, key };
	uint32_t node = t->first[parent];
	uint64_t hash;

	if (node == 0) {
		node = frametree_add(t, parent, key, inlined);
		t->first[parent] = node;
		return node;
	}
	if (t->key[node] != key) {
		hash = hash_pair(parent, key);
		node = map_find(&t->children, hash, frametree_same, t, sought);
		if (node == MAP_NONE) {
			node = frametree_add(t, parent, key, inlined);
			map_add(&t->children, hash, node);
		}
	}
	t->inlined[node] &= inlined;
	return node;
}

/* Ends the adding of nodes. self and samples are then the caller's to allocate and fill. */
void frametree_seal(struct frametree *t);

/* Ends the adding of nodes to to, which gets what from weighs: node i's goes to map[i]. */
void frametree_move(struct frametree *to, const struct frametree *from, const uint32_t *map);

/* Moves of_stack likewise. */
void frametree_move_stacks(struct frametree *to, struct frametree *from, const uint32_t *map);

/* Takes away nodes below which nothing weighs. */
void frametree_prune(struct frametree *t);

/*
 * Children of all nodes: those of node i are child[start[i] .. start[i + 1]), in the order found.
 * start is [n + 1], child [n - 1]; the caller frees both.
 */
void frametree_children(const struct frametree *t, uint32_t **start, uint32_t **child);

#endif
