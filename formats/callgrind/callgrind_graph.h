/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The calls of one thread as a graph without cycles: functions that call each other in a circle are one group. What a call costs with
 * all that it calls is made to agree with what the callee costs, so that what flows into a group is what it costs and passes on.
 */
#ifndef PROFTOP_FORMATS_CALLGRIND_CALLGRIND_GRAPH_H
#define PROFTOP_FORMATS_CALLGRIND_CALLGRIND_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callgrind_text;

struct callgrind_graph {
	const struct callgrind_text *t; /* borrowed */
	uint32_t n_events;

	/* Items of the thread, those of a function together. */
	uint32_t *item;  /* [n_items] indexes of the text's */
	uint32_t *first; /* [functions + 1] where a function's begin in .item */
	size_t n_items;

	/* Groups, callees before their callers: a group is called by later ones only. */
	uint32_t *group;       /* [functions] */
	uint32_t *member;      /* [functions] those of a group together */
	uint32_t *group_first; /* [n_groups + 1] where a group's begin in .member */
	uint32_t n_groups;

	int64_t *flow;  /* [n_items][n_events] what remains of the item's cost for the tree */
	int64_t *total; /* [n_groups][n_events] the same of groups */
	int64_t *root;  /* [n_groups][n_events] what no call brings */

	uint32_t n_recursive; /* functions in groups of several, or that call themselves */
	uint32_t n_uneven;    /* groups whose calls cost more than they do */
};

void callgrind_graph_init(struct callgrind_graph *g, const struct callgrind_text *t,
			  uint32_t thread);
void callgrind_graph_done(struct callgrind_graph *g);

/* Is the item a call of a function of another group? */
bool callgrind_graph_leaves(const struct callgrind_graph *g, uint32_t item);

/* Splits `amount` in proportion of parts, whose sum it does not pass, and takes each share from its part. */
void callgrind_split(int64_t amount, int64_t *const *part, size_t n, int64_t *share);

#endif
