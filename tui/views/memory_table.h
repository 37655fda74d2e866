/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of the memory view: which columns there are, where they stand, and what rows are sorted by. */
#ifndef PROFTOP_TUI_VIEWS_MEMORY_TABLE_H
#define PROFTOP_TUI_VIEWS_MEMORY_TABLE_H

#include "query/heap/footprint.h"
#include "tui/canvas/canvas.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"

#include <stdbool.h>
#include <stdint.h>

#define MEMORY_TABLE_COLUMNS 8

struct memory_table {
	enum footprint_column by; /* by LIVE is by the column of the moment */
	bool reverse;
	enum measure measure; /* of the metric that was last taken */

	/* As of the last layout. */
	enum footprint_column
		moment; /* what stands in the place of LIVE, see memory_table_layout() */
	int cols[MEMORY_TABLE_COLUMNS]; /* of each column, with the gap before it; 0: it is not shown */
	int line_form;                  /* of the line over time; -1: there is none */
	int line, name;                 /* where it begins, and where names begin */
};

/* What a program that runs on has not freed yet is no leak, and LIVE says it. */
bool memory_table_has_leaks(const struct scene *s);

/*
 * Places the columns in a view of so many columns. The first is of the cursor's moment: LIVE, or in its place PEAK at
 * the peak and LEAKED at the end, where these say the same and are left out of the rest.
 */
void memory_table_layout(struct memory_table *t, const struct scene *s, bool at_peak, int cols);

/* "cache.cc:88": the line of the site's call, or where its function is declared; "" unknown. The caller frees. */
char *memory_table_source(const struct scene *s, const struct footprint_site *site);

/* Sorts by the metric's column when the metric has changed. */
void memory_table_take_metric(struct memory_table *t, const struct scene *s);
/* Sorts the sites of the scene's footprint. */
void memory_table_sort(const struct memory_table *t, const struct scene *s);
/* The order of the next column, which is on the screen. */
void memory_table_next(struct memory_table *t, const struct scene *s);
/* The order of the column whose title is at col, or the same one turned round; false: there is none. */
bool memory_table_click(struct memory_table *t, int col);

/* The order as --sort has it; NULL: turned round, or none of its words. */
const char *memory_table_order(const struct memory_table *t);
/* Takes such a word, for the next sort; false when it is none. */
bool memory_table_sort_by(struct memory_table *t, const char *word);

void memory_table_draw_titles(const struct memory_table *t, const struct scene *s, struct canvas *c,
			      struct rect r, int line);
/* What is resident beyond the sites, in the columns that know of it; see resident.h. */
void memory_table_draw_beyond(const struct memory_table *t, const struct scene *s, struct canvas *c,
			      struct rect r, int line);
/* The rows of sites in sight, from a line on. */
void memory_table_draw_sites(const struct memory_table *t, const struct scene *s, struct canvas *c,
			     struct rect r, int top, const struct list *list);

#endif
