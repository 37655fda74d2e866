/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison in a few sentences: the fewest subtrees of the call tree that account for most of the change.
 *
 * One after the other, the largest change that is not accounted for yet is followed from the root down as long as one
 * child has most of it; there it is said, and taken off everything above. It is said of the caller where all that this one calls
 * changed alike. What is new or gone as a whole is said where it begins. Recursions are folded (folded_tree.h): one cause, however
 * deep. Last come functions that changed beyond noise in all places together, and in none of them alone.
 */
#ifndef PROFTOP_QUERY_DIFF_EXPLAIN_H
#define PROFTOP_QUERY_DIFF_EXPLAIN_H

#include "base/mem.h"
#include "query/diff/diff.h"

#include <stdbool.h>
#include <stdint.h>

/* One cause: a subtree, or what ends in a function's own code. */
struct reason {
	uint32_t node; /* of the folded tree; KEY_NONE: wherever the function is called */
	uint32_t key;  /* the function */
	bool own;      /* nothing that it calls */
	/* What it accounts for, which others have not, of a move both ends; in the metric's unit. */
	double change;
	/* Without nodes below that are other reasons; half is that of everything there. */
	struct noise_delta total;
	bool rest;       /* there are such nodes */
	bool itself;     /* most of it ends in the function's own code */
	bool in_callees; /* most of it is in what it calls, in no single one of them */
	uint32_t
		apart; /* what tells it from another one that would read the same: a node above, or 0 */
	char *sentence; /* owned */
};

struct explanation {
	VEC(struct reason) reasons; /* by what they account for, a move by its larger end */
	double accounted; /* share of all change beyond noise, ups and downs, that they account for, 0..1 */
	double sum;      /* of what they account for, downs taken off ups */
	uint32_t n_left; /* functions with something beyond noise that no reason accounts for */
};

/* Of a diff with a tree, at most so many reasons; the caller ends with explanation_done(). */
void explain(const struct diff *d, uint32_t most, struct explanation *out);
void explanation_done(struct explanation *x);

/* Of an explanation with reasons: "one subtree explains the change", "3 subtrees explain 69.6 % of …". The caller frees. */
char *explain_heading(const struct diff *d, const struct explanation *x);
/* "together +232 ms of +240 ms; the other +8 ms is in smaller changes and noise". The caller frees. */
char *explain_sum(const struct diff *d, const struct explanation *x);

#endif
