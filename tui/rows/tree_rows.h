/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows in sight or scrolled away of an open tree: a flat array in the order of the screen, into
 * which opening a row splices its children and from which closing cuts them. What is open is kept
 * by path, so that the same rows can be made again from another analysis.
 *
 * A row stands for a chain of nodes (tree_chain_end) from `node` on and has the numbers of its last.
 * Opening it shows the children of the last; opening it again unfolds it into one row per node, and
 * closing the first of these folds them again.
 *
 * Where a node has very many children, those that weigh next to nothing are gathered in one row.
 */
#ifndef PROFTOP_TUI_ROWS_TREE_ROWS_H
#define PROFTOP_TUI_ROWS_TREE_ROWS_H

#include "tui/rows/path_map.h"
#include "tui/rows/tree_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many rows as open_all makes at most. */
#define TREE_ROWS_MOST 200000u

/* More children than this, and the light ones are gathered even if all of them are. */
#define TREE_CHILDREN_MOST 100u

enum tree_order { TREE_BY_TOTAL, TREE_BY_SELF, TREE_BY_RATIO, TREE_BY_NAME };

struct tree_row {
	uint32_t node;   /* first node of the chain; of a gathering, the parent, or TREE_NONE */
	uint32_t indent; /* levels */
	uint32_t n_more; /* how many children are gathered here; 0: a row of a node */
	uint32_t up;     /* the row that this one is a child of, or TREE_NONE */
	int64_t more;    /* their weight together, of column 0 */
};

struct tree_rows {
	struct tree_row *at; /* [n]; owned */
	size_t n, cap;
	const struct tree_source *src;
	struct path_map open;  /* path of a node → is it open, is its chain unfolded */
	struct path_map shown; /* path of a parent → how many children were asked for */
	enum tree_order order; /* of siblings */
	uint32_t ratio;        /* of TREE_BY_RATIO: which of the lens's */
	bool reverse;
	uint32_t top; /* the node that all rows are of, or TREE_NONE: all roots */
};

void tree_rows_init(struct tree_rows *t, const struct tree_source *src);
void tree_rows_done(struct tree_rows *t);

/* Makes all rows anew: after another analysis, order or top. */
void tree_rows_build(struct tree_rows *t, struct analysis *a);

/* The last node that the row stands for; the row must be one of a node. */
uint32_t tree_rows_last(const struct tree_rows *t, struct analysis *a, size_t row);
bool tree_rows_is_open(const struct tree_rows *t, struct analysis *a, size_t row);
/* Could it be opened, or opened further? */
bool tree_rows_has_more(const struct tree_rows *t, struct analysis *a, size_t row);

/* Opens one level: the row, then its chain, or more of a gathering. False when nothing was left. */
bool tree_rows_open(struct tree_rows *t, struct analysis *a, size_t row);
/* False when it was not open. */
bool tree_rows_close(struct tree_rows *t, struct analysis *a, size_t row);
/* Opens all below; false when TREE_ROWS_MOST were not enough. */
bool tree_rows_open_all(struct tree_rows *t, struct analysis *a, size_t row);
/*
 * Opens row after row along the heaviest children as long as they weigh at least `least` (of tree_heat), half of their
 * row and twice the next of its parts, what it has itself being one; a row that is open at first is left for its heaviest
 * child where it splits, too. One that is closed opens in any case. Returns the last one's row.
 */
size_t tree_rows_open_hot(struct tree_rows *t, struct analysis *a, size_t row, int64_t least);

/* Opens what is above node and returns its row; SIZE_MAX when it is not below top. */
size_t tree_rows_reveal(struct tree_rows *t, struct analysis *a, uint32_t node);

/* The row that this one is a child of, or SIZE_MAX. */
size_t tree_rows_parent(const struct tree_rows *t, size_t row);

#endif
