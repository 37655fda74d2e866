/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Control sequences by cost; see cursor_output.h. */
#include "config.h"

#include "tui/term/cursor_output.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/canvas/glyphs.h"
#include "tui/term/sgr.h"

/* Bytes of a longest way to a place. */
#define WAY_SIZE 32

/* Bytes that a sequence needs before it is worth more than blanks, the move behind it included. */
#define ECH_COLS 9
#define EL_COLS  4

/* Tab stops stand every so many columns; further ones than so many are not counted on. */
#define TAB_COLS 8
#define MAX_TABS 4

/* Line feeds that are tried; an absolute way takes eight bytes at most on usual screens. */
#define MAX_FEEDS 6

static const struct look plain = { .fg = -1, .bg = -1 };

/* A way to move the cursor. */
struct way {
	char at[WAY_SIZE];
	size_t n; /* bytes; 0: there is none */
};

static struct glyph *glyph_at(struct cursor_output *b, int row, int col)
{
	return &b->have[(size_t)row * (size_t)b->cols + (size_t)col];
}

static const struct glyph *wanted_at(const struct cursor_output *b, int row, int col)
{
	return &b->want[(size_t)row * (size_t)b->cols + (size_t)col];
}

void cursor_output_send(struct cursor_output *b, const char *bytes, size_t n)
{
	vec_reserve(&b->out, b->out.n + n);
	memcpy(b->out.at + b->out.n, bytes, n);
	b->out.n += n;
}

static void dip(struct cursor_output *b, const struct look *look)
{
	struct look to;
	char out[PEN_SIZE];

	if (sgr_fits(&b->pen, look))
		return;
	to = sgr_for(&b->pen, look);
	cursor_output_send(b, out, sgr_switch(&b->pen, &to, b->can->undo, out));
	b->pen = to;
}

/* Code points of names, of which our width need not be the terminal's. */
static bool is_unsure(const struct glyph *g)
{
	return g->mark != 0 || g->cp == 0 || (g->cp >= 0x7f && glyph_ascii(g->cp) == '?');
}

static size_t encode(const struct glyph *g, char out[8])
{
	size_t n = text_encode(g->cp, out);

	return g->mark != 0 ? n + text_encode(g->mark, out + n) : n;
}

static void add_way(struct way *best, const char *bytes, size_t n)
{
	if (best->n > 0 && best->n <= n)
		return;
	memcpy(best->at, bytes, n);
	best->n = n;
}

/*
 * Writes "ESC [ a ; b FINAL" without what is 1 by itself and returns its bytes, fewer than WAY_SIZE. A frame
 * tries thousands: no printf.
 */
static size_t control(char *out, int a, int b, char final)
{
	const int parameters[] = { a, b };
	size_t n = 0;

	out[n++] = '\033';
	out[n++] = '[';
	for (int i = 0; i < 2; i++) {
		char digits[12];
		size_t k = 0;

		if (i > 0 && b <= 1)
			break;
		if (i > 0)
			out[n++] = ';';
		for (int left = parameters[i]; left > 0 && parameters[i] > 1; left /= 10)
			digits[k++] = (char)('0' + left % 10);
		while (k > 0)
			out[n++] = digits[--k];
	}
	out[n++] = final;
	return n;
}

static void add_absolute(struct way *best, int row, int col)
{
	char out[WAY_SIZE];

	add_way(best, out, control(out, row + 1, col + 1, 'H'));
}

static size_t step_right(char *out, int cols)
{
	return cols == 0 ? 0 : control(out, cols, 1, 'C');
}

/* Right in a row, from one column to another: in one step, or by tabs and a step or backspaces. */
static struct way forward(const struct cursor_output *b, int from, int to)
{
	int before = to / TAB_COLS * TAB_COLS;
	struct way best = { .n = 0 };
	char out[WAY_SIZE];

	add_way(&best, out, step_right(out, to - from));
	for (int stop = before; b->can->tabs && stop <= before + TAB_COLS; stop += TAB_COLS) {
		int tabs = stop / TAB_COLS - from / TAB_COLS;
		size_t n = (size_t)tabs;

		if (tabs <= 0 || tabs > MAX_TABS || stop >= b->cols)
			continue;
		memset(out, '\t', n);
		if (stop > to)
			memset(out + n, '\b', (size_t)(stop - to));
		n += stop > to ? (size_t)(stop - to) : step_right(out + n, to - stop);
		add_way(&best, out, n);
	}
	return best;
}

/* Left in a row. */
static struct way backward(int from, int to)
{
	static const char backspaces[] = "\b\b\b\b\b";
	int n = from - to;
	struct way best = { .n = 0 };

	if (n < (int)sizeof(backspaces))
		add_way(&best, backspaces, (size_t)n);
	else
		best.n = control(best.at, n, 1, 'D');
	return best;
}

/* By line feeds, then along the row: from where it is or, after a carriage return, from its begin. */
static void add_feeds(const struct cursor_output *b, struct way *best, int row, int col, bool back)
{
	int from = back ? 0 : b->col;
	struct way along = { .n = 0 };
	char out[2 * WAY_SIZE];
	size_t n = 0;

	if (row < b->row || row - b->row > MAX_FEEDS)
		return;
	if (back)
		out[n++] = '\r';
	for (int i = b->row; i < row; i++)
		out[n++] = '\n';
	if (col > from)
		along = forward(b, from, col);
	else if (col < from)
		along = backward(from, col);
	memcpy(out + n, along.at, along.n);
	add_way(best, out, n + along.n);
}

/* By writing what is there, or anything where something will be written yet. */
static void add_rewrite(struct cursor_output *b, struct way *best, int col)
{
	char out[WAY_SIZE], bytes[8];
	size_t used = 0;

	for (int i = b->col; i < col; i++) {
		const struct glyph *g = glyph_at(b, b->row, i), *w = wanted_at(b, b->row, i);
		size_t n = 1;

		if (g->cp == 0 || w->cp == 0 || (i + 1 < b->cols && (g[1].cp == 0 || w[1].cp == 0)))
			return;
		bytes[0] = ' ';
		if (!cursor_output_differs(b, b->row, i)) {
			if (is_unsure(g) || !sgr_fits(&b->pen, &b->looks[g->look]))
				return;
			n = encode(g, bytes);
		}
		if (used + n > best->n || used + n > sizeof(out))
			return;
		memcpy(out + used, bytes, n);
		used += n;
	}
	if (used >= best->n)
		return;
	memcpy(best->at, out, used);
	best->n = used;
	for (int i = b->col; i < col; i++)
		if (cursor_output_differs(b, b->row, i))
			glyph_at(b, b->row, i)->cp = GLYPH_LOST;
}

void cursor_output_move(struct cursor_output *b, int row, int col)
{
	struct way best = { .n = 0 };
	bool sure = b->row >= 0 && b->col < b->cols && !b->unsure;

	if (sure && b->row == row && b->col == col)
		return;
	add_absolute(&best, row, col);
	if (sure || (b->row >= 0 && b->can->wait))
		add_feeds(b, &best, row, col, true);
	if (sure)
		add_feeds(b, &best, row, col, false);
	if (sure && b->row == row && col > b->col)
		add_rewrite(b, &best, col);
	cursor_output_send(b, best.at, best.n);
	b->row = row;
	b->col = col;
	b->unsure = false;
}

/* The cursor has passed n cells. */
static void pass(struct cursor_output *b, int n)
{
	b->col += n;
	if (b->col == b->cols && !b->can->wait)
		b->row = -1;
}

int cursor_output_put(struct cursor_output *b, int row, int col)
{
	const struct glyph *want = wanted_at(b, row, col);
	struct glyph *have = glyph_at(b, row, col);
	bool unsure = is_unsure(want);
	int width = col + 1 < b->cols && want[1].cp == 0 ? 2 : 1;
	char out[8];

	memcpy(have, want, (size_t)width * sizeof(*want));
	/* a terminal that does not wait in the last column would scroll */
	if (!b->can->wait && row == b->rows - 1 && col + width == b->cols)
		return width;
	if (b->row != row || b->col != col || (b->unsure && !unsure))
		cursor_output_move(b, row, col);
	dip(b, &b->looks[want->look]);
	cursor_output_send(b, out, encode(want, out));
	pass(b, width);
	b->unsure = unsure || width == 2;
	return width;
}

/* May cells be erased, when their look is that of plain blanks? */
static bool may_erase(const struct cursor_output *b, const struct look *look)
{
	return look->fg == PEN_ANY && (look->bg < 0 || b->can->tint);
}

void cursor_output_blank(struct cursor_output *b, int row, int col, int n)
{
	const struct glyph *want = wanted_at(b, row, col);
	const struct look *look = &b->looks[want->look];
	bool to_end = col + n == b->cols && b->can->el;
	char out[WAY_SIZE];
	int differ = 0;

	for (int i = 0; i < n; i++)
		differ += cursor_output_differs(b, row, col + i);
	to_end = to_end && differ >= EL_COLS;
	if (!may_erase(b, look) || !(to_end || (b->can->ech && differ >= ECH_COLS))) {
		for (int i = 0; i < n; i++)
			if (cursor_output_differs(b, row, col + i))
				cursor_output_put(b, row, col + i);
		return;
	}
	cursor_output_move(b, row, col);
	dip(b, look);
	if (to_end)
		cursor_output_send(b, "\033[K", 3);
	else
		cursor_output_send(b, out, control(out, n, 1, 'X'));
	memcpy(glyph_at(b, row, col), want, (size_t)n * sizeof(*want));
}

/* Row `to` becomes as row `from` was, or plain blanks where there is none. */
static void move_row(struct cursor_output *b, int to, int from, bool none)
{
	const struct glyph blank = { .cp = ' ' };

	if (!none) {
		memcpy(glyph_at(b, to, 0), glyph_at(b, from, 0),
		       (size_t)b->cols * sizeof(*b->have));
		return;
	}
	for (int col = 0; col < b->cols; col++)
		*glyph_at(b, to, col) = blank;
}

void cursor_output_scroll(struct cursor_output *b, int first, int end, int n)
{
	char out[WAY_SIZE];
	int by = abs(n);

	assert(by < end - first && b->can->scroll);
	dip(b, &plain);
	cursor_output_send(b, out, control(out, first + 1, end, 'r'));
	b->row = b->col = 0;
	b->unsure = false;
	if (b->can->leap) {
		cursor_output_send(b, out, control(out, by, 1, n > 0 ? 'S' : 'T'));
	} else {
		struct way way = { .n = 0 };

		add_absolute(&way, n > 0 ? end - 1 : first, 0);
		cursor_output_send(b, way.at, way.n);
		for (int i = 0; i < by; i++)
			cursor_output_send(b, n > 0 ? "\n" : "\033M", n > 0 ? 1 : 2);
	}
	cursor_output_send(b, "\033[r", 3);
	for (int i = 0; n > 0 && i < end - first; i++)
		move_row(b, first + i, first + i + n, i >= end - first - n);
	for (int i = end - first - 1; n < 0 && i >= 0; i--)
		move_row(b, first + i, first + i + n, i < by);
}

void cursor_output_clear(struct cursor_output *b)
{
	/* the pen is not known here, so that it is always set */
	cursor_output_send(b, "\033[m\033[H\033[2J", 10);
	b->pen = plain;
	b->row = b->col = 0;
	b->unsure = false;
	for (int row = 0; row < b->rows; row++)
		move_row(b, row, row, true);
}
