/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One function, who calls it and whom it calls.
 *
 * Every sample with the function anywhere counts once, by the outermost place of the function in its
 * stack: callers' totals add up to the function's total, callees' totals plus what ends right there
 * too. A recursive function therefore appears among its own callees.
 */
#ifndef PROFTOP_QUERY_TREE_BUTTERFLY_H
#define PROFTOP_QUERY_TREE_BUTTERFLY_H

#include "query/tree/calltree.h"

struct butterfly_row {
	uint32_t key; /* KEY_NONE: called by nothing (a root frame) */
	int64_t total[LENS_MAX_COLUMNS];
};

struct butterfly {
	uint32_t key;
	int64_t self[LENS_MAX_COLUMNS]; /* samples that end in the function */
	int64_t total[LENS_MAX_COLUMNS];
	struct butterfly_row *callers; /* [n_callers] by falling total of column 0; owned */
	struct butterfly_row *callees; /* [n_callees] likewise; owned */
	uint32_t n_callers, n_callees;
};

void butterfly_init(struct butterfly *b, const struct calltree *t, const struct groups *k,
		    uint32_t key);
void butterfly_done(struct butterfly *b);

#endif
