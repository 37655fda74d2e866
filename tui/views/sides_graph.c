/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/views/sides_graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "query/analysis.h"
#include "query/diff/comparison_lines.h"
#include "query/diff/comparison_time.h"
#include "tui/canvas/glyphs.h"

/* Rows of the columns: at most so many, and one in GRAPH_PART. */
#define GRAPH_MOST 8
#define GRAPH_PART 4

/* Rows of the view from which on there is room for the difference alone, and for the legend. */
#define CHANGES_NEED 11
#define LEGEND_NEED  14

#define GUTTER 11

/* Lines are doubles and columns of canvases integers: rates are small numbers. */
#define FINE 1e6

void sides_graph_layout(struct sides_graph *g, struct rect r)
{
	int part = r.rows / GRAPH_PART > GRAPH_MOST ? GRAPH_MOST : r.rows / GRAPH_PART;

	g->gutter = r.cols >= 60 ? GUTTER : 0;
	g->rows = part > 1 ? part : 1;
	g->legend = r.rows >= LEGEND_NEED;
	g->changes = r.rows < CHANGES_NEED ? 0 : g->rows > 3 ? g->rows / 2 : 1;
	time_axis_fit(&g->axis, g->axis.whole_ns, r.cols - g->gutter);
}

static int top_line(const struct sides_graph *g)
{
	return 1 + g->legend;
}

int sides_graph_end(const struct sides_graph *g)
{
	return top_line(g) + g->rows + g->changes + 1;
}

int sides_graph_cursor(const struct sides_graph *g)
{
	int col = time_axis_col(&g->axis, g->axis.cursor_ns);

	return col < 0 ? 0 : col >= g->axis.cols ? g->axis.cols - 1 : col;
}

const char *sides_graph_text(char out[FMT_SIZE + 8], const struct scene *s,
			     const struct comparison_lines *l, double value, bool change)
{
	const struct analysis *a = s->analysis;
	enum unit unit = l->heap ? UNIT_BYTES : metric_unit(a->profile, a->lens.column[0].metric);
	char number[FMT_SIZE];

	if (isnan(value)) {
		snprintf(out, FMT_SIZE + 8, "-");
	} else if (!l->heap && unit == UNIT_NS) {
		snprintf(out, FMT_SIZE + 8, change ? "%+.2f CPUs" : "%.2f CPUs", value / 1e9);
	} else {
		snprintf(out, FMT_SIZE + 8, "%s%s",
			 change ? fmt_change(number, value, unit) : fmt_amount(number, value, unit),
			 l->heap ? "" : "/s");
	}
	return out;
}

/* After less before; where a side has no such time it is not known. */
static double change_at(const struct comparison_lines *l, uint32_t i)
{
	return l->line[SIDE_AFTER][i] - l->line[SIDE_BEFORE][i];
}

static enum style style_of(double change)
{
	return change > 0 ? STYLE_WORSE : change < 0 ? STYLE_BETTER : STYLE_SPARK;
}

/* Cells of so many rows that value/most takes, to the nearest. */
static int cells_of(double value, double most, int rows)
{
	return most > 0 ? (int)(value / most * rows + 0.5) : 0;
}

/* Cells of a column from one height to another; the lowest stands on `bottom`. */
static void fill_cells(struct canvas *c, int bottom, int col, int from, int to, enum style style,
		       uint32_t cp)
{
	for (int i = from; i < to; i++)
		canvas_fill(c, bottom - i, col, 1, (uint16_t)style, cp);
}

/* Without colours a difference is made of signs, and eighths of cells, some of which look like these, are left out. */
static uint32_t sign_of(double change)
{
	return change > 0 ? '+' : '-';
}

/* What both have, and on top of it what one has more. */
static void draw_levels(const struct sides_graph *g, const struct comparison_lines *l,
			struct canvas *c, struct rect r, uint32_t i, double most)
{
	double before = l->line[SIDE_BEFORE][i], after = l->line[SIDE_AFTER][i];
	double low = fmin(before, after), high = fmax(before, after), change = change_at(l, i);
	int col = r.col + g->gutter + (int)i, bottom = r.row + g->rows - 1;
	int n_low = cells_of(low, most, g->rows);
	enum style style = style_of(change);

	if (isnan(high))
		return;
	if (c->mono) {
		fill_cells(c, bottom, col, 0, n_low, STYLE_SPARK, GLYPH_BLOCK);
		fill_cells(c, bottom, col, n_low, cells_of(high, most, g->rows), style,
			   sign_of(change));
		return;
	}
	canvas_column(c, r.row, col, g->rows, (uint16_t)style, (int64_t)(high * FINE),
		      (int64_t)(most * FINE));
	for (int k = 0; k < n_low && style != STYLE_SPARK; k++)
		canvas_restyle(c, bottom - k, col, 1, style, STYLE_SPARK);
}

static void draw_change(const struct sides_graph *g, const struct comparison_lines *l,
			struct canvas *c, struct rect r, uint32_t i, double most)
{
	double change = change_at(l, i);
	int row = r.row + g->rows, col = r.col + g->gutter + (int)i;

	if (isnan(change) || change == 0 || g->changes == 0)
		return;
	if (c->mono)
		fill_cells(c, row + g->changes - 1, col, 0,
			   cells_of(fabs(change), most, g->changes), style_of(change),
			   sign_of(change));
	else
		canvas_column(c, row, col, g->changes, (uint16_t)style_of(change),
			      (int64_t)(fabs(change) * FINE), (int64_t)(most * FINE));
}

static void draw_scale(const struct sides_graph *g, const struct scene *s,
		       const struct comparison_lines *l, struct canvas *c, struct rect r,
		       const double most[2])
{
	char text[FMT_SIZE + 8];
	int cols = g->gutter - 1;

	if (g->gutter == 0)
		return;
	canvas_puts_right(c, r.row, r.col, cols, STYLE_NUMBER,
			  sides_graph_text(text, s, l, most[0], false));
	if (g->rows > 1)
		canvas_puts_right(c, r.row + g->rows - 1, r.col, cols, STYLE_NUMBER, "0");
	if (g->changes == 0)
		return;
	canvas_puts_right(c, r.row + g->rows, r.col, cols, STYLE_NUMBER,
			  sides_graph_text(text, s, l, most[1], false));
	canvas_puts(c, r.row + g->rows, r.col, 1, STYLE_DIM, "Δ");
}

static void draw_lines(const struct sides_graph *g, const struct scene *s,
		       const struct comparison_lines *l, struct canvas *c, struct rect r)
{
	uint32_t n = (uint32_t)g->axis.cols < l->span.n ? (uint32_t)g->axis.cols : l->span.n;
	double most[2] = { 0, 0 };
	int cursor = r.col + g->gutter + sides_graph_cursor(g);

	for (uint32_t i = 0; i < n; i++) {
		double high = fmax(l->line[SIDE_BEFORE][i], l->line[SIDE_AFTER][i]);
		double change = fabs(change_at(l, i));

		most[0] = high > most[0] ? high : most[0];
		most[1] = change > most[1] ? change : most[1];
	}
	for (uint32_t i = 0; i < n; i++) {
		draw_levels(g, l, c, r, i, most[0]);
		draw_change(g, l, c, r, i, most[1]);
	}
	draw_scale(g, s, l, c, r, most);
	for (int i = 0; i < g->rows + g->changes; i++)
		canvas_add_style(c, r.row + i, cursor, 1, STYLE_SELECTED);
}

static void draw_legend(struct canvas *c, struct rect r, int row)
{
	int col = r.col + 1, end = r.col + r.cols;
	const struct {
		enum style style;
		const char *sign, *text;
	} parts[] = {
		{ STYLE_SPARK, "█", " both  " },
		{ STYLE_WORSE, c->mono ? "+" : "█", " more after  " },
		{ STYLE_BETTER, c->mono ? "-" : "█", " less after  " },
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		col += canvas_puts(c, row, col, end - col, (uint16_t)parts[i].style, parts[i].sign);
		col += canvas_puts(c, row, col, end - col, STYLE_DIM, parts[i].text);
	}
	canvas_puts(c, row, col, end - col, STYLE_DIM, "Δ the difference alone");
}

/* The mark that sides are aligned by, on the axis. */
static void draw_mark(const struct sides_graph *g, const struct scene *s, uint32_t align,
		      struct canvas *c, int row, int left)
{
	const struct comparison_time *t = s->analysis->sides_time;
	int at;

	if (!t || align < ALIGN_MARK || align >= comparison_time_alignments(t))
		return;
	at = time_axis_col(&g->axis, comparison_time_mark(t, align));
	if (at >= 0 && at < g->axis.cols)
		canvas_puts(c, row, left + at, 1, STYLE_HOT, "▾");
}

void sides_graph_draw(const struct sides_graph *g, const struct scene *s,
		      const struct comparison_lines *l, struct canvas *c, struct rect r)
{
	struct rect below = r;

	below.row += top_line(g);
	if (r.rows < sides_graph_end(g))
		return;
	if (g->legend)
		draw_legend(c, r, r.row + 1);
	if (l)
		draw_lines(g, s, l, c, below);
	else
		canvas_puts(c, below.row, r.col + g->gutter, g->axis.cols, STYLE_DIM, "counting");
	time_axis_draw(&g->axis, c, below.row + g->rows + g->changes, r.col + g->gutter, NULL);
	if (l)
		draw_mark(g, s, l->span.align, c, below.row + g->rows + g->changes,
			  r.col + g->gutter);
}
