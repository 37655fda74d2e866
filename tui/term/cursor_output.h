/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a terminal's cursor is and what its pen is, and the cheapest bytes that bring them elsewhere
 * or change a cell (ECMA-48).
 *
 * The brush knows what the screen shows and what it is to show: moving over letters may be cheapest
 * by writing them again, or anything at all over what will be written yet.
 */
#ifndef PROFTOP_TUI_TERM_CURSOR_OUTPUT_H
#define PROFTOP_TUI_TERM_CURSOR_OUTPUT_H

#include "tui/canvas/theme.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a terminal is able to do besides placing its cursor. */
struct terminal_can {
	int n_colours;  /* 256, 16, 8, 0 */
	bool undo;      /* switch attributes and colours off one by one */
	bool wait;      /* keep the cursor in the last column until something follows */
	bool tint;      /* fill what it erases with the pen's background */
	bool tabs;      /* jump to every eighth column */
	bool el, ech;   /* erase to the end of the line; some cells */
	bool scroll;    /* scroll a range of rows by line feeds and reverse ones */
	bool leap;      /* scroll by several rows in one sequence */
	bool cp437;     /* show only that code page, as the console of Linux does */
	uint16_t clash; /* LOOK_… that it cannot show in colours */
};

/* A cell as it is shown. What looks the same is the same, byte by byte. */
struct glyph {
	uint32_t cp, mark; /* as in struct cell; cp GLYPH_LOST: nobody knows what is there */
	uint32_t look;     /* index into looks */
};

#define GLYPH_LOST UINT32_MAX

/* Bytes on their way. */
struct sent {
	char *at; /* owned */
	size_t n, cap;
};

struct cursor_output {
	const struct terminal_can *can; /* borrowed */
	/* borrowed; blanks' fg is PEN_ANY; the first is a plain blank's */
	const struct look *looks;
	const struct glyph *want; /* [rows][cols] what is to be shown; borrowed */
	struct glyph *have;       /* the same as it is; borrowed, kept true */
	int cols, rows;
	struct look pen; /* as the terminal has it */
	int row, col;    /* of the cursor; row -1: nobody knows. col may be cols: it waits there */
	bool unsure;     /* a glyph was written that terminals may think of another width */
	struct sent out; /* what to send */
};

/* True where what is shown is not what should be. */
static inline bool cursor_output_differs(const struct cursor_output *b, int row, int col)
{
	size_t i = (size_t)row * (size_t)b->cols + (size_t)col;
	const struct glyph *want = &b->want[i], *have = &b->have[i];

	return want->cp != have->cp || want->look != have->look || want->mark != have->mark;
}

void cursor_output_send(struct cursor_output *b, const char *bytes, size_t n);
void cursor_output_move(struct cursor_output *b, int row, int col);
/* Writes the cell that is wanted there, both halves of a wide one; returns the columns. */
int cursor_output_put(struct cursor_output *b, int row, int col);
/* Makes n cells the blanks that they should be. */
void cursor_output_blank(struct cursor_output *b, int row, int col, int n);
/* Moves rows first to end - 1 up by n (down if negative); blank plain rows come in. */
void cursor_output_scroll(struct cursor_output *b, int first, int end, int n);
/* Makes everything plain blanks. */
void cursor_output_clear(struct cursor_output *b);

#endif
