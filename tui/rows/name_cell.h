/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A name in so many columns of the screen: folded, without what it is qualified by, without arguments, or cut. */
#ifndef PROFTOP_TUI_ROWS_NAME_CELL_H
#define PROFTOP_TUI_ROWS_NAME_CELL_H

#include <stdbool.h>
#include <stdint.h>

struct canvas;
struct key;

/* Names longer than this many bytes are cut before they are folded: those of nested templates have thousands. */
#define NAME_MOST_BYTES 16384

/* How a name is written. */
struct name_look {
	uint16_t style; /* of the name; what follows the arguments' bracket stands back */
	bool wide;      /* in full; else folded to what fits */
	int shift;      /* columns of longer names that are scrolled out on the left */
};

/*
 * The name in at most cols columns: folded, then without what it is qualified by, then without
 * arguments, then cut. The caller frees.
 */
char *name_short(const char *name, int cols, bool ascii);

/* The same as a row has it, where a cut is marked in fewer columns, too. The caller frees. */
char *name_in_row(const char *name, int cols, bool ascii);

/* Columns below which a name in a row tells nothing: least, or all digits of an address. */
int name_least_cols(const char *name, int least);

/* Writes a name into at most cols columns of the canvas and returns the columns used. */
int name_draw(struct canvas *c, int row, int col, int cols, const char *name,
	      const struct name_look *look);

/*
 * The same, and the detail ("pid 812", or "") behind it, which is never cut: the name is, or only the detail's number is
 * there, or none of it.
 */
int name_draw_detailed(struct canvas *c, int row, int col, int cols, const char *name,
		       const char *detail, const struct name_look *look);

/* The label, cleaned; the caller frees. */
char *name_full(const struct key *k);

#endif
