/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison in a few sentences: the fewest subtrees of the call tree that account for most of the change.
 *
 * One after the other, the largest change that is not accounted for yet is followed from the root down as long as one
 * child has most of it; there it is said, and taken off everything above.
 */
#ifndef PROFTOP_QUERY_EXPLAIN_H
#define PROFTOP_QUERY_EXPLAIN_H

#include "diff.h"
#include "mem.h"

#include <stdbool.h>
#include <stdint.h>

/* One subtree. */
struct reason {
	uint32_t node; /* of the tree */
	/* What it accounts for, which others have not, of a move both ends; in the metric's unit. */
	double change;
	/* Of the node, without the nodes below it that are other reasons; half is that of the whole node. */
	struct noise_delta total;
	bool rest;       /* there are such nodes */
	bool itself;     /* most of it ends in the node's own function */
	bool in_callees; /* most of it is in what it calls, in no single one of them */
	char *sentence;  /* owned */
};

struct explanation {
	VEC(struct reason) reasons; /* by what they account for, a move by its larger end */
	double accounted; /* share of all change, ups and downs, that they account for, 0..1 */
};

/* Of a diff with a tree, at most so many reasons; the caller ends with explanation_done(). */
void explain(const struct diff *d, uint32_t most, struct explanation *out);
void explanation_done(struct explanation *x);

#endif
