/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A tree as a flame graph: levels of cells, in whole columns.
 *
 * Edges are rounded from sums of weights counted from the left of the graph, so that siblings touch,
 * children stand within their parent, and what is lost to rounding is never more than a column.
 * Siblings too narrow to be read are one cell with their number and their weight, if that is narrow, too. Levels are made
 * when they are needed. Where a level is one cell, a run of single calls is folded into it.
 */
#ifndef PROFTOP_TUI_VIEWS_FLAME_LAYOUT_H
#define PROFTOP_TUI_VIEWS_FLAME_LAYOUT_H

#include "tui/rows/tree_source.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FLAME_NONE UINT32_MAX

struct flame_cell {
	uint32_t first, node; /* first and last node of its chain; TREE_NONE: everything */
	uint32_t n_merged;    /* how many narrow siblings this is; then first is one of them */
	uint32_t n_before;    /* and so many wider ones stand left of them; node is the parent */
	uint32_t parent;      /* cell of the level above, FLAME_NONE */
	uint32_t level;
	int begin, end; /* columns [begin, end) */
	int64_t offset; /* weight left of it, from the graph's left edge on */
	int64_t weight; /* its own */
	bool odd;       /* every other of the cells that touch */
};

struct flame_layout {
	const struct tree_source *src;
	struct {
		struct flame_cell *at; /* [n] level by level, from the left; owned */
		size_t n, cap;
	} cells;
	struct {
		uint32_t *at; /* [n] first cell of each level; the next one's is its end; owned */
		size_t n, cap;
	} levels;
	struct {
		uint32_t *at; /* for passing over children; owned */
		size_t n, cap;
	} scratch;
	int cols;
	int64_t whole; /* weight of the full width */
	uint32_t base; /* the cell of what is zoomed into, full width */
	bool complete; /* the last level has no children */
};

/* What is shown over the full width. */
struct flame_focus {
	uint32_t node;   /* TREE_NONE: everything */
	uint32_t n_skip; /* its children but for the first n_skip; 0: the node itself */
};

void flame_layout_done(struct flame_layout *l);

/*
 * Lays out anew; the levels above the focus are made, at most n_context of them, and the focus's.
 * cols > 0.
 */
void flame_layout_init(struct flame_layout *l, const struct tree_source *src, struct analysis *a,
		       struct flame_focus focus, uint32_t n_context, int cols);

/* Makes sure of n levels, as far as there are any; returns how many there are now. */
uint32_t flame_layout_need(struct flame_layout *l, struct analysis *a, uint32_t n);

/* The cells of a level that was made: [*first, *end). */
void flame_layout_level(const struct flame_layout *l, uint32_t level, uint32_t *first,
			uint32_t *end);

/* The first child of a cell, FLAME_NONE when it has none; its level must have been made. */
uint32_t flame_layout_child(const struct flame_layout *l, uint32_t cell);

/*
 * The cell that shows node, or else the deepest one above it (merged ones included). Makes levels.
 * *exact: it shows that very node.
 */
uint32_t flame_layout_find(struct flame_layout *l, struct analysis *a, uint32_t node, bool *exact);

#endif
