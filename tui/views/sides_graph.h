/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two sides over time as a graph: columns as high as the higher side, with what the sides differ by as another colour
 * on top of what both have, and below it the difference alone.
 */
#ifndef PROFTOP_TUI_VIEWS_SIDES_GRAPH_H
#define PROFTOP_TUI_VIEWS_SIDES_GRAPH_H

#include "base/fmt.h"
#include "tui/contract/view.h"
#include "tui/rows/time_axis.h"

#include <stdbool.h>

struct comparison_lines;

struct sides_graph {
	struct time_axis axis;
	int rows;    /* of the columns */
	int changes; /* rows of the difference */
	int gutter;  /* columns on the left, for the scale */
	bool legend; /* a line above it says what the colours are */
};

/* How it is laid out in a view of this size, whose first line is the view's own. */
void sides_graph_layout(struct sides_graph *g, struct rect r);
/* Lines of the view above what follows it. */
int sides_graph_end(const struct sides_graph *g);
/* The column that the cursor is in. */
int sides_graph_cursor(const struct sides_graph *g);
/* l may be NULL: the lines are on their way. */
void sides_graph_draw(const struct sides_graph *g, const struct scene *s,
		      const struct comparison_lines *l, struct canvas *c, struct rect r);

/* What stands in a slot: bytes, CPUs, or an amount for each second; "-" of no time of the side. Returns out. */
const char *sides_graph_text(char out[FMT_SIZE + 8], const struct scene *s,
			     const struct comparison_lines *l, double value, bool change);

#endif
