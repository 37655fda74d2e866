/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The bottom-up tree: every key is a root, its children are its callers, and so on outward.
 *
 * A node stands for a set of places in the call tree that share their last frames. total is what the
 * samples with such a place weigh, each once however often it recurses, so children of a recursive
 * function may add up to more than it; self is what ends right there. Children are made when asked
 * for: the whole tree would be the sum of all depths. Not thread-safe; node numbers are stable once
 * given.
 */
#ifndef PROFTOP_QUERY_TREE_INVERTED_H
#define PROFTOP_QUERY_TREE_INVERTED_H

#include "query/tree/calltree.h"

struct inverted;

struct inverted_node {
	uint32_t key;
	uint32_t parent; /* KEY_NONE for roots */
	/* children are consecutive: [first_child, first_child + n_children) */
	uint32_t first_child;
	uint32_t n_children; /* valid once expanded */
	uint32_t depth;      /* 0 for roots */
	bool expanded;       /* its children are made */
	bool inlined;        /* everywhere that it stands for is inlined code */
	uint64_t path;       /* hash of the key ids from the root on, as calltree's */
};

/* What nodes with such a self, [n_columns], are sorted by: the larger comes first. */
typedef double inverted_rank(const void *arg, const int64_t *self);

/*
 * Borrows t, k and arg, which must outlive it. Roots are made at once, by falling self of column 0; rank (may be NULL) puts
 * roots and callers alike in another order.
 */
struct inverted *inverted_new(const struct calltree *t, const struct groups *k, inverted_rank *rank,
			      const void *arg);
void inverted_free(struct inverted *v);

/* Roots are nodes [0, inverted_n_roots). Comm keys are no roots, but end the chains. */
uint32_t inverted_n_roots(const struct inverted *v);
/* Borrowed until the next inverted_expand(). */
const struct inverted_node *inverted_node(const struct inverted *v, uint32_t node);
/* [n_columns], borrowed likewise. */
const int64_t *inverted_self(const struct inverted *v, uint32_t node);
const int64_t *inverted_total(const struct inverted *v, uint32_t node);
/* Makes the children, by falling total of column 0, or by rank. No-op when made. */
void inverted_expand(struct inverted *v, uint32_t node);
/* Has it children? Makes none. */
bool inverted_has_callers(struct inverted *v, uint32_t node);
/* Its child, which is made, where it has exactly one; else KEY_NONE, and none is made. */
uint32_t inverted_only_caller(struct inverted *v, uint32_t node);
/* The root of that key, or KEY_NONE. */
uint32_t inverted_root(const struct inverted *v, uint32_t key);

#endif
