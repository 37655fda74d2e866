/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The trees of massif's snapshots: a node a line, indented below the function that it called, from the allocator outwards. A leaf is a
 * whole stack with the bytes that it holds.
 */
#ifndef PROFTOP_FORMATS_VALGRIND_MASSIF_TREE_H
#define PROFTOP_FORMATS_VALGRIND_MASSIF_TREE_H

#include "formats/valgrind/valgrind_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct massif_leaf {
	uint32_t stack; /* stack_id */
	uint64_t bytes;
};

/* A node on the way to the line that was read last. */
struct massif_node {
	uint32_t location; /* location_id; of the root it is not used */
	uint64_t bytes;    /* that are in none of the callers so far */
	uint64_t n_left;   /* callers that are still to come */
};

struct massif_tree {
	struct valgrind_frames frames;
	VEC(struct massif_leaf) leaves; /* of all trees; of each by rising stack */
	VEC(struct massif_node) path;   /* the root first */
	size_t first;                   /* leaf of the tree that is being read */
	uint64_t n_missing;             /* callers that did not come, of that tree */
};

void massif_tree_init(struct massif_tree *t, struct profile *p);
void massif_tree_done(struct massif_tree *t);

/* All of the following want the pen. */
void massif_tree_begin(struct massif_tree *t);
/* What is wrong with the line, a constant, or NULL. */
const char *massif_tree_line(struct massif_tree *t, const char *s, size_t n);
/* How many callers are missing that the tree told of. */
uint64_t massif_tree_end(struct massif_tree *t);

#endif
