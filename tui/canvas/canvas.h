/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A grid of cells that views draw on: no terminal, no I/O. term.c puts it on a screen, tests and
 * --screen turn it into text.
 *
 * All text is cleaned here (text_is_unsafe() → U+FFFD or '?'), so nothing a profile holds can reach a
 * terminal otherwise. Drawing outside the grid, or outside the rectangle given, does nothing.
 */
#ifndef PROFTOP_TUI_CANVAS_CANVAS_H
#define PROFTOP_TUI_CANVAS_CANVAS_H

#include "tui/canvas/style.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
	uint32_t cp;    /* code point; 0: the right half of a wide one to the left */
	uint32_t mark;  /* one combining code point on it, or 0 */
	uint16_t style; /* enum style | STYLE_… */
};

struct canvas {
	int cols, rows;
	bool ascii;                 /* only ASCII may be drawn: glyphs have substitutes */
	bool mono;                  /* no colours: what a background would say needs a character */
	bool shaded;                /* backgrounds show on any terminal: nothing has to end them */
	struct cell *cell;          /* [rows][cols]; owned */
	int cursor_row, cursor_col; /* where the hardware cursor belongs; -1: nowhere */
};

struct rect {
	int row, col, rows, cols;
};

void canvas_init(struct canvas *c, int cols, int rows, bool ascii);
void canvas_done(struct canvas *c);
/* To blanks of STYLE_NORMAL, cursor nowhere. */
void canvas_clear(struct canvas *c);

/*
 * Puts n bytes of UTF-8 at (row, col), at most max columns of it, and returns the columns used. A
 * wide glyph that does not fit becomes a blank.
 */
int canvas_put(struct canvas *c, int row, int col, int max, uint16_t style, const char *s,
	       size_t n);
int canvas_puts(struct canvas *c, int row, int col, int max, uint16_t style, const char *s);
int canvas_printf(struct canvas *c, int row, int col, int max, uint16_t style, const char *fmt, ...)
	__attribute__((format(printf, 6, 7)));
/*
 * Over several rows, broken at blanks: the first of them at row, all beginning at col; what does not fit into the last is cut.
 * Returns how many rows it takes without that; rows 0 only asks.
 */
int canvas_put_lines(struct canvas *c, int row, int col, int max, int rows, uint16_t style,
		     const char *s);
/* Right-aligned in max columns. */
void canvas_puts_right(struct canvas *c, int row, int col, int max, uint16_t style, const char *s);
/* cols cells of one code point (the ASCII substitute when c->ascii and cp is a glyph of glyphs.h). */
void canvas_fill(struct canvas *c, int row, int col, int cols, uint16_t style, uint32_t cp);
/* Styles what is there: adds flags to cols cells. */
void canvas_add_style(struct canvas *c, int row, int col, int cols, uint16_t flags);
/* Gives cells of style `from` the style `to`; flags stay. */
/* Is there nothing but a blank? True outside, too. */
bool canvas_is_blank(const struct canvas *c, int row, int col);

void canvas_restyle(struct canvas *c, int row, int col, int cols, enum style from, enum style to);

/* A bar of part/whole of cols columns in eighth blocks ('#' in ASCII). */
void canvas_bar(struct canvas *c, int row, int col, int cols, uint16_t style, int64_t part,
		int64_t whole);
/* A column of value/most that stands on the last of rows cells, in eighth blocks; what is there shows. */
void canvas_column(struct canvas *c, int row, int col, int rows, uint16_t style, int64_t value,
		   int64_t most);
/*
 * One cell per column in eight levels of max (0: of the largest column), blank where 0. With more
 * values than columns a cell is the mean of its values; with fewer, a value takes several cells.
 */
void canvas_spark(struct canvas *c, int row, int col, int cols, uint16_t style,
		  const int64_t *value, size_t n, int64_t max);

/* The cells as UTF-8 lines, trailing blanks cut; the caller frees. */
char *canvas_text(const struct canvas *c);
/*
 * The styles as lines "ROW: COL-COL name[+selected][+match]…", only what is not normal, for golden
 * files; the caller frees.
 */
char *canvas_style_text(const struct canvas *c);

#endif
