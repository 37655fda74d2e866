/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The call tree of a comparison without its recursions: what a function calls is the same at any depth of its own calls.
 *
 * A node is taken for the nearest one above it of the same function where all between them are recursive functions, too. What is
 * called through an interpreter's one function stays where it is: what that one calls in turn is not recursive.
 *
 * Parents come before their children; children are in no order.
 */
#ifndef PROFTOP_QUERY_DIFF_FOLDED_TREE_H
#define PROFTOP_QUERY_DIFF_FOLDED_TREE_H

#include <stdbool.h>
#include <stdint.h>

struct calltree;

struct folded_tree {
	uint32_t n; /* at least 1: node 0 is the root */
	uint32_t n_columns;
	uint32_t *key;    /* [n]; KEY_NONE of the root; owned, as are: */
	uint32_t *parent; /* [n]; the root's is 0 */
	uint32_t *first;  /* [n] a child, or KEY_NONE */
	uint32_t *next;   /* [n] another one of its parent, or KEY_NONE */
	bool *recursive;  /* [n] several depths are this one */
	int64_t *self;    /* [n][n_columns] */
	int64_t *total;   /* [n][n_columns] */
};

void folded_tree_init(struct folded_tree *f, const struct calltree *t);
void folded_tree_done(struct folded_tree *f);

/* The outermost node above a node, or that one, that is not also above the other one: 0 where one of them is above the other. */
uint32_t folded_tree_parting(const struct folded_tree *f, uint32_t node, uint32_t other);

#endif
