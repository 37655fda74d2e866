/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The grid of cells: cleaning, clipping, wide glyphs.
 *
 * Invariant: a cell with cp 0 stands right of a cell of width 2, and every cell of width 2 has one.
 */
#include "config.h"

#include "tui/canvas/canvas.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/transliterate.h"
#include "tui/canvas/glyphs.h"

static const char *const style_names[N_STYLES] = {
#define X(name, text) [STYLE_##name] = text,
	STYLES(X)
#undef X
};

static const struct {
	uint16_t flag;
	const char *name;
} style_flags[] = {
	{ STYLE_SELECTED, "+selected" },
	{ STYLE_MATCH, "+match" },
	{ STYLE_ALT, "+alt" },
	{ STYLE_BOLD, "+bold" },
};

static struct cell *cell_at(const struct canvas *c, int row, int col)
{
	assert(row >= 0 && row < c->rows && col >= 0 && col < c->cols);
	return &c->cell[(size_t)row * (size_t)c->cols + (size_t)col];
}

static void blank(struct cell *cell, uint16_t style)
{
	cell->cp = ' ';
	cell->mark = 0;
	cell->style = style;
}

/* What is about to be overwritten at (row, col) must not leave half of a wide glyph behind. */
static void break_wide(struct canvas *c, int row, int col)
{
	struct cell *cell = cell_at(c, row, col);

	if (cell->cp == 0 && col > 0)
		blank(cell - 1, cell[-1].style);
	if (col + 1 < c->cols && cell[1].cp == 0)
		blank(cell + 1, cell[1].style);
}

static void set_cell(struct canvas *c, int row, int col, uint16_t style, uint32_t cp, int width)
{
	struct cell *cell = cell_at(c, row, col);

	break_wide(c, row, col);
	if (width == 2)
		break_wide(c, row, col + 1);
	*cell = (struct cell){ .cp = cp, .style = style };
	if (width == 2)
		cell[1] = (struct cell){ .cp = 0, .style = style };
}

/* The code point that may be shown for cp. */
static uint32_t shown(const struct canvas *c, uint32_t cp)
{
	if (text_is_unsafe(cp))
		cp = GLYPH_UNKNOWN;
	return c->ascii ? glyph_ascii(cp) : cp;
}

/* Columns of width at (row, col) that are on the grid. */
static int room(const struct canvas *c, int row, int col, int cols)
{
	if (row < 0 || row >= c->rows || col >= c->cols || cols <= 0)
		return 0;
	return cols < c->cols - col ? cols : c->cols - col;
}

/* Joiners and variation selectors are left out: they change widths, and terminals disagree how. */
static void add_mark(struct canvas *c, int row, int col, uint32_t cp)
{
	struct cell *cell;

	if (c->ascii || cp == 0x200d || (cp >= 0xfe00 && cp <= 0xfe0f))
		return;
	cell = cell_at(c, row, col);
	if (cell->cp == 0 && col > 0)
		cell--;
	if (cell->mark == 0)
		cell->mark = cp;
}

void canvas_init(struct canvas *c, int cols, int rows, bool ascii)
{
	assert(cols >= 0 && rows >= 0);
	*c = (struct canvas){ .cols = cols, .rows = rows, .ascii = ascii };
	c->cell = xcalloc((size_t)cols * (size_t)rows + 1, sizeof(*c->cell));
	canvas_clear(c);
}

void canvas_done(struct canvas *c)
{
	free(c->cell);
	*c = (struct canvas){ .cols = 0 };
}

void canvas_clear(struct canvas *c)
{
	size_t n = (size_t)c->cols * (size_t)c->rows;

	for (size_t i = 0; i < n; i++)
		blank(&c->cell[i], STYLE_NORMAL);
	c->cursor_row = c->cursor_col = -1;
}

/* Puts what a character of a name is spelled as where only ASCII may be drawn; returns the columns used. */
static int put_spelled(struct canvas *c, int row, int col, int max, uint16_t style, uint32_t cp)
{
	char text[SPELL_MOST];
	size_t n = transliterate_ascii(cp, text);
	int used = 0;

	for (; (size_t)used < n && used < max; used++)
		set_cell(c, row, col + used, style, (uint32_t)text[used], 1);
	return used;
}

int canvas_put(struct canvas *c, int row, int col, int max, uint16_t style, const char *s, size_t n)
{
	int used = 0;

	if (col < 0)
		return 0;
	max = room(c, row, col, max);
	while (n > 0 && used <= max) {
		size_t bytes;
		uint32_t raw = text_decode(s, n, &bytes), cp = shown(c, raw);
		int width = text_cp_width(raw) == 0 ? 0 : text_cp_width(cp);

		s += bytes;
		n -= bytes;
		if (width == 0) {
			if (used > 0)
				add_mark(c, row, col + used - 1, cp);
			continue;
		}
		if (used == max)
			break;
		if (c->ascii && cp == '?' && raw != '?') {
			used += put_spelled(c, row, col + used, max - used, style, raw);
			continue;
		}
		if (used + width > max) {
			cp = ' ';
			width = 1;
			n = 0;
		}
		set_cell(c, row, col + used, style, cp, width);
		used += width;
	}
	return used;
}

int canvas_puts(struct canvas *c, int row, int col, int max, uint16_t style, const char *s)
{
	return canvas_put(c, row, col, max, style, s, strlen(s));
}

int canvas_printf(struct canvas *c, int row, int col, int max, uint16_t style, const char *fmt, ...)
{
	char line[512], *text = line;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line), fmt, ap);
	va_end(ap);
	if (n < 0)
		return 0;
	if ((size_t)n >= sizeof(line)) {
		text = xmalloc((size_t)n + 1);
		va_start(ap, fmt);
		vsnprintf(text, (size_t)n + 1, fmt, ap);
		va_end(ap);
	}
	n = canvas_put(c, row, col, max, style, text, (size_t)n);
	if (text != line)
		free(text);
	return n;
}

int canvas_put_lines(struct canvas *c, int row, int col, int max, int rows, uint16_t style,
		     const char *s)
{
	int n = 0;

	for (size_t left = strlen(s), line, next; left > 0 && max > 0; s += next, left -= next) {
		line = text_first_line(s, left, (size_t)max, &next);
		if (next == 0) /* not even a wide glyph fits */
			break;
		if (n < rows)
			canvas_put(c, row + n, col, max, style, s, n == rows - 1 ? left : line);
		n++;
	}
	return n;
}

void canvas_puts_right(struct canvas *c, int row, int col, int max, uint16_t style, const char *s)
{
	size_t width = text_width(s, strlen(s));

	if (max > 0 && width < (size_t)max) {
		col += max - (int)width;
		max = (int)width;
	}
	canvas_puts(c, row, col, max, style, s);
}

void canvas_fill(struct canvas *c, int row, int col, int cols, uint16_t style, uint32_t cp)
{
	if (col < 0) {
		cols += col;
		col = 0;
	}
	cols = room(c, row, col, cols);
	cp = shown(c, cp);
	if (text_cp_width(cp) != 1)
		cp = ' ';
	for (int i = 0; i < cols; i++)
		set_cell(c, row, col + i, style, cp, 1);
}

void canvas_add_style(struct canvas *c, int row, int col, int cols, uint16_t flags)
{
	if (col < 0) {
		cols += col;
		col = 0;
	}
	cols = room(c, row, col, cols);
	for (int i = 0; i < cols; i++)
		cell_at(c, row, col + i)->style |= flags;
}

void canvas_restyle(struct canvas *c, int row, int col, int cols, enum style from, enum style to)
{
	if (col < 0) {
		cols += col;
		col = 0;
	}
	cols = room(c, row, col, cols);
	for (int i = 0; i < cols; i++) {
		struct cell *cell = cell_at(c, row, col + i);

		if (STYLE_OF(cell->style) == from)
			cell->style = (uint16_t)((cell->style & ~0xffu) | (unsigned)to);
	}
}

bool canvas_is_blank(const struct canvas *c, int row, int col)
{
	const struct cell *cell;

	if (row < 0 || row >= c->rows || col < 0 || col >= c->cols)
		return true;
	cell = &c->cell[(size_t)row * (size_t)c->cols + (size_t)col];
	return cell->cp == ' ' || cell->cp == 0;
}

void canvas_bar(struct canvas *c, int row, int col, int cols, uint16_t style, int64_t part,
		int64_t whole)
{
	static const uint32_t eighths[] = {
		' ',         GLYPH_EDGE_LEFT, GLYPH_BAR_2, GLYPH_BAR_3,
		GLYPH_BAR_4, GLYPH_BAR_5,     GLYPH_BAR_6, GLYPH_BAR_7
	};
	double share;
	int n;

	if (cols <= 0 || part <= 0 || whole <= 0)
		return;
	share = part < whole ? (double)part / (double)whole : 1.0;
	if (c->ascii) {
		canvas_fill(c, row, col, (int)(share * cols + 0.5), style, '#');
		return;
	}
	n = (int)(share * cols * 8 + 0.5);
	canvas_fill(c, row, col, n / 8, style, GLYPH_BLOCK);
	if (n % 8 != 0)
		canvas_fill(c, row, col + n / 8, 1, style, eighths[n % 8]);
}

/* The mean of the values that column i of cols stands for. */
static double spark_value(const int64_t *value, size_t n, int i, int cols)
{
	size_t first = (size_t)i * n / (size_t)cols;
	size_t end = ((size_t)i + 1) * n / (size_t)cols;
	double sum = 0;

	if (end <= first)
		end = first + 1;
	for (size_t k = first; k < end; k++)
		sum += (double)value[k];
	return sum / (double)(end - first);
}

/* A cell of a column of several: bars with a low, a half or a full end, as levels of shades would be a pattern. */
static uint32_t ascii_part(int eighths)
{
	return eighths > 6 ? '|' : eighths > 3 ? ':' : eighths > 0 ? '.' : ' ';
}

void canvas_column(struct canvas *c, int row, int col, int rows, uint16_t style, int64_t value,
		   int64_t most)
{
	static const uint32_t levels[] = { ' ',           GLYPH_LEVEL_1, GLYPH_LEVEL_2,
					   GLYPH_LEVEL_3, GLYPH_LEVEL_4, GLYPH_LEVEL_5,
					   GLYPH_LEVEL_6, GLYPH_LEVEL_7, GLYPH_BLOCK };
	int left = 0;

	if (value > 0 && most > 0) {
		left = (int)((double)value / (double)most * rows * 8 + 0.5);
		left = left < 1 ? 1 : left > rows * 8 ? rows * 8 : left;
	}
	for (int line = rows - 1; line >= 0; line--) {
		canvas_fill(c, row + line, col, 1, style,
			    c->ascii && rows > 1 ? ascii_part(left) : levels[left > 8 ? 8 : left]);
		left = left > 8 ? left - 8 : 0;
	}
}

void canvas_spark(struct canvas *c, int row, int col, int cols, uint16_t style,
		  const int64_t *value, size_t n, int64_t max)
{
	static const uint32_t levels[] = { ' ',           GLYPH_LEVEL_1, GLYPH_LEVEL_2,
					   GLYPH_LEVEL_3, GLYPH_LEVEL_4, GLYPH_LEVEL_5,
					   GLYPH_LEVEL_6, GLYPH_LEVEL_7, GLYPH_BLOCK };
	double top = (double)max;

	if (n == 0)
		return;
	for (int i = 0; max <= 0 && i < cols; i++) {
		double v = spark_value(value, n, i, cols);

		top = v > top ? v : top;
	}
	for (int i = 0; i < cols; i++) {
		double v = spark_value(value, n, i, cols);
		int level = v <= 0 ? 0 : v >= top ? 8 : 1 + (int)(v * 8 / top);

		canvas_fill(c, row, col + i, 1, style, levels[level > 8 ? 8 : level]);
	}
}

/* A text that grows. */
struct growing {
	char *at;      /* owned */
	size_t n, cap; /* bytes used, bytes held */
};

static void grow_by(struct growing *g, const char *s, size_t n)
{
	vec_reserve(g, g->n + n + 1);
	memcpy(g->at + g->n, s, n);
	g->n += n;
	g->at[g->n] = '\0';
}

static void grow_by_cp(struct growing *g, uint32_t cp)
{
	char bytes[4];

	grow_by(g, bytes, text_encode(cp, bytes));
}

char *canvas_text(const struct canvas *c)
{
	struct growing g = { .n = 0 };

	grow_by(&g, "", 0);
	for (int row = 0; row < c->rows; row++) {
		int end = c->cols;

		while (end > 0 && cell_at(c, row, end - 1)->cp == ' ')
			end--;
		for (int col = 0; col < end; col++) {
			const struct cell *cell = cell_at(c, row, col);

			if (cell->cp != 0)
				grow_by_cp(&g, cell->cp);
			if (cell->mark != 0)
				grow_by_cp(&g, cell->mark);
		}
		grow_by(&g, "\n", 1);
	}
	return g.at;
}

static void grow_by_style(struct growing *g, uint16_t style)
{
	const char *name = STYLE_OF(style) < N_STYLES ? style_names[STYLE_OF(style)] : "?";

	grow_by(g, name, strlen(name));
	for (size_t i = 0; i < sizeof(style_flags) / sizeof(style_flags[0]); i++)
		if (style & style_flags[i].flag)
			grow_by(g, style_flags[i].name, strlen(style_flags[i].name));
}

char *canvas_style_text(const struct canvas *c)
{
	struct growing g = { .n = 0 };

	grow_by(&g, "", 0);
	for (int row = 0; row < c->rows; row++) {
		for (int col = 0, end; col < c->cols; col = end) {
			uint16_t style = cell_at(c, row, col)->style;
			char place[64];

			for (end = col + 1; end < c->cols; end++)
				if (cell_at(c, row, end)->style != style)
					break;
			if (style == STYLE_NORMAL)
				continue;
			grow_by(&g, place,
				(size_t)snprintf(place, sizeof(place), "%d: %d-%d ", row, col,
						 end - 1));
			grow_by_style(&g, style);
			grow_by(&g, "\n", 1);
		}
	}
	return g.at;
}
