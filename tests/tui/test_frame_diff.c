/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of tui/term/frame_diff: whatever the frames, libvterm shows what the canvas says, on terminals of all abilities. */
#include "config.h"

#include "base/text.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/glyphs.h"
#include "tui/canvas/theme.h"
#include "tui/term/cursor_output.h"
#include "tui/term/frame_diff.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <vterm.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

#define COLS 40
#define ROWS 12

/* Of a list that scrolls by a row: two names, a module and a few numbers. */
#define LIST_BYTES 104

static const struct {
	const char *what;
	struct terminal_can can;
} terminals[] = {
	{ "everything", { 256, true, true, true, true, true, true, true, true, false, 0 } },
	{ "screen", { 256, true, true, false, true, true, false, true, true, false, 0 } },
	{ "no colours", { 0, true, true, true, true, true, true, true, true, false, 0 } },
	{ "16 colours", { 16, true, true, true, true, true, true, true, false, false, 0 } },
	{ "8 colours, as little as can be",
	  { 8, false, false, false, false, false, false, false, false, false, LOOK_UNDERLINE } },
	{ "vt100", { 0, false, true, false, true, true, false, true, false, false, 0 } },
};

/* A sequence of numbers that looks like chance, the same every time. */
static uint32_t dice(uint32_t *state, uint32_t n)
{
	*state = *state * 1664525u + 1013904223u;
	return (*state >> 8) % n;
}

/* Runs of a few words in a few styles. */
static void scribble(struct canvas *c, uint32_t *seed, int n)
{
	static const char *const words[] = { "go_on", "▏push", "  ", "x", "██▌",
					     "漢字",  "é",     "▸",  "…", "main(int)" };
	static const uint16_t styles[] = {
		STYLE_NORMAL,
		STYLE_DIM,
		STYLE_FLAME_PROGRAM,
		STYLE_FLAME_PROGRAM | STYLE_ALT,
		STYLE_FLAME_LIBC | STYLE_SELECTED,
		STYLE_FAMILY_LIBRARY | STYLE_SELECTED,
		STYLE_FLAME_KERNEL | STYLE_MATCH,
		STYLE_HOT,
	};

	for (int i = 0; i < n; i++) {
		int row = (int)dice(seed, ROWS), col = (int)dice(seed, COLS);
		uint16_t style = styles[dice(seed, N(styles))];

		if (dice(seed, 3) == 0)
			canvas_fill(c, row, col, (int)dice(seed, COLS), style, ' ');
		else
			canvas_puts(c, row, col, COLS, style, words[dice(seed, N(words))]);
	}
}

/* The view's rows go up or down, as when a list is scrolled. */
static void roll(struct canvas *c, int first, int end, int by)
{
	struct canvas was;

	canvas_init(&was, c->cols, c->rows, false);
	memcpy(was.cell, c->cell, (size_t)(c->cols * c->rows) * sizeof(*c->cell));
	for (int row = first; row < end; row++)
		if (row + by >= first && row + by < end)
			memcpy(c->cell + row * c->cols, was.cell + (row + by) * c->cols,
			       (size_t)c->cols * sizeof(*c->cell));
	canvas_done(&was);
}

static bool same_colour(const VTermColor *c, int number, bool fg)
{
	if (number < 0)
		return fg ? VTERM_COLOR_IS_DEFAULT_FG(c) : VTERM_COLOR_IS_DEFAULT_BG(c);
	return VTERM_COLOR_IS_INDEXED(c) && c->indexed.idx == number;
}

/* Does a cell show what it should? Blanks of plain text show their background only. */
static bool same_cell(const VTermScreenCell *shown, const struct cell *cell,
		      const struct terminal_can *can)
{
	struct look l = theme_look(cell->style, can->n_colours);
	uint32_t cp = shown->chars[0] ? shown->chars[0] : ' ';

	if (l.fg >= 0 || l.bg >= 0)
		l.attrs &= (uint16_t)~can->clash;
	if (cp != cell->cp || (cell->mark ? shown->chars[1] != cell->mark : shown->chars[1] != 0))
		return false;
	if ((shown->attrs.reverse != 0) != ((l.attrs & LOOK_REVERSE) != 0) ||
	    (shown->attrs.underline != 0) != ((l.attrs & LOOK_UNDERLINE) != 0) ||
	    !same_colour(&shown->bg, l.bg, false))
		return false;
	if (cp == ' ' && (l.attrs & (LOOK_REVERSE | LOOK_UNDERLINE)) == 0)
		return true;
	return (shown->attrs.bold != 0) == ((l.attrs & LOOK_BOLD) != 0) &&
	       same_colour(&shown->fg, l.fg, true);
}

/* The first cell that is not as it should be, row * cols + col, or -1. */
static int first_wrong(VTermScreen *screen, const struct canvas *c, const struct terminal_can *can)
{
	for (int i = 0; i < c->rows * c->cols; i++) {
		VTermScreenCell cell;

		int next = i + 1 < c->rows * c->cols && c->cell[i + 1].cp == 0 ? i + 2 : i + 1;

		/* the last cell is out of reach where the cursor does not wait */
		if (c->cell[i].cp == 0 || (!can->wait && next == c->rows * c->cols))
			continue;
		/* libvterm leaves out what a blank has not */
		memset(&cell, 0, sizeof(cell));
		vterm_screen_get_cell(screen, (VTermPos){ .row = i / c->cols, .col = i % c->cols },
				      &cell);
		if (!same_cell(&cell, &c->cell[i], can))
			return i;
	}
	return -1;
}

static void change(struct canvas *c, uint32_t *seed)
{
	switch (dice(seed, 4)) {
	case 0:
		canvas_clear(c);
		scribble(c, seed, 60);
		break;
	case 1:
		roll(c, 2, ROWS - 1, (int)dice(seed, 5) - 2);
		break;
	default:
		scribble(c, seed, 1 + (int)dice(seed, 8));
		break;
	}
	c->cursor_row = (int)dice(seed, ROWS + 1) - 1;
	c->cursor_col = (int)dice(seed, COLS);
}

Test(paint, shows_what_the_canvas_says)
{
	for (size_t t = 0; t < N(terminals); t++) {
		const struct terminal_can *can = &terminals[t].can;
		VTerm *vt = vterm_new(ROWS, COLS);
		VTermScreen *screen = vterm_obtain_screen(vt);
		struct frame_diff *p = frame_diff_new(can);
		struct canvas c;
		uint32_t seed = 7;

		vterm_set_utf8(vt, 1);
		vterm_screen_reset(screen, 1);
		canvas_init(&c, COLS, ROWS, false);
		for (int i = 0; i < 500; i++) {
			VTermPos at;
			size_t n;
			const char *bytes;
			int wrong;

			change(&c, &seed);
			if (dice(&seed, 50) == 0)
				frame_diff_forget(p);
			bytes = frame_diff_frame(p, &c, &n);
			vterm_input_write(vt, bytes, n);
			vterm_screen_flush_damage(screen);
			wrong = first_wrong(screen, &c, can);
			cr_assert(wrong < 0, "%s, frame %d: row %d, column %d after \"%.*s\"",
				  terminals[t].what, i, wrong / COLS, wrong % COLS, (int)n, bytes);
			vterm_state_get_cursorpos(vterm_obtain_state(vt), &at);
			cr_assert(c.cursor_row < 0 ||
				  (at.row == c.cursor_row && at.col == c.cursor_col));
			frame_diff_frame(p, &c, &n);
			cr_assert_eq(n, (size_t)0, "%zu bytes for nothing new", n);
		}
		canvas_done(&c);
		frame_diff_free(p);
		vterm_free(vt);
	}
}

/* A list of which the last row in sight is selected, `top` rows down; under it a line that stays. */
static void draw_list(struct canvas *c, int top)
{
	canvas_clear(c);
	for (int row = 0; row < ROWS - 1; row++) {
		uint16_t style = row == ROWS - 2 ? STYLE_SELECTED : 0;

		int i = top + row;

		canvas_printf(c, row, 2, 8, STYLE_NORMAL, "%d.%d  %d.%d", i % 7, i % 3, i % 5,
			      i % 4);
		canvas_printf(c, row, 12, 10, STYLE_FAMILY_PROGRAM | style, "visit_%d", i);
		canvas_puts(c, row, 24, 14, STYLE_DIM, i % 2 ? "libmemory.so.6" : "my_program");
	}
	canvas_puts(c, ROWS - 2, 1, 1, STYLE_NORMAL, "▸");
	canvas_puts(c, ROWS - 1, 1, 20, STYLE_NORMAL, "? help");
	c->cursor_row = ROWS - 2;
	c->cursor_col = 1;
}

/* The row that the cursor leaves scrolls away with the others: of it, only its mark and name change. */
Test(paint, moves_the_row_that_loses_the_cursor)
{
	struct frame_diff *p = frame_diff_new(&terminals[0].can);
	struct canvas c;
	const char *bytes;
	size_t n;

	canvas_init(&c, COLS, ROWS, false);
	draw_list(&c, 0);
	frame_diff_frame(p, &c, &n);
	for (int top = 1; top < 5; top++) {
		draw_list(&c, top);
		bytes = frame_diff_frame(p, &c, &n);
		cr_expect_leq(n, (size_t)LIST_BYTES, "%zu bytes: \"%.*s\"", n, (int)n, bytes);
	}
	canvas_done(&c);
	frame_diff_free(p);
}
