/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The last cell of rows of sites, or of threads: a name, and behind it, as far as there is room, where that is. */
#ifndef PROFTOP_TUI_VIEWS_WHERE_CELL_H
#define PROFTOP_TUI_VIEWS_WHERE_CELL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct canvas;
struct rect;
struct scene;

struct where_cell {
	int line;         /* of the view */
	const char *name; /* borrowed */
	char *behind;     /* "parse.c:12  demo", or ""; owned */
	uint16_t style;   /* of the name */
	bool note;        /* somebody noted something about it */
};

/* The cells of all rows in sight; begins as zeros, see vec_push(). */
struct where_cells {
	struct where_cell *at;
	size_t n, cap;
};

/* Draws and frees them, from column col of the view on. Names that would read alike are told apart. */
void where_cells_draw(struct where_cells *cells, const struct scene *s, struct canvas *c,
		      struct rect r, int col);

#endif
