/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The graph of the memory view: bytes over time, with the resident set, the program's marks, and rates. */
#ifndef PROFTOP_TUI_VIEWS_MEMORY_GRAPH_H
#define PROFTOP_TUI_VIEWS_MEMORY_GRAPH_H

#include "query/heap/footprint_lines.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/view.h"
#include "tui/rows/time_axis.h"

#include <stdbool.h>
#include <stdint.h>

struct memory_graph {
	struct time_axis axis;
	struct footprint_slot *slot; /* [axis.cols] what is in sight; owned */
	bool exact;  /* it is; else what lines of another span know of it, or nothing */
	bool moment; /* the file knows one moment: there is no graph */
	int rows;    /* of the columns */
	int gutter;  /* columns on the left, for the scale */
	bool marks;  /* the program's marks stand in a row above it */
	bool rates;  /* allocations and frees over time stand in a row below it */
};

/* The span of time that it shows. */
struct time_span memory_graph_span(const struct memory_graph *g);
/* Shows these lines from now on, as far as they are of what is in sight; NULL: there are none. */
void memory_graph_take(struct memory_graph *g, const struct footprint_lines *lines);
/* How it is laid out in a view of this size, whose first line is the view's own. */
void memory_graph_layout(struct memory_graph *g, const struct scene *s, struct rect r);
/* Lines of the view above the columns, and above what follows the graph. */
int memory_graph_top(const struct memory_graph *g);
int memory_graph_end(const struct memory_graph *g);
/* The column that the cursor is in. */
int memory_graph_cursor(const struct memory_graph *g);

void memory_graph_draw(const struct memory_graph *g, const struct scene *s, struct canvas *c,
		       struct rect r);

#endif
