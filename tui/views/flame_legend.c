/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/views/flame_legend.h"

#include <string.h>

#include "base/text.h"
#include "query/analysis.h"

/* Views of fewer rows, or columns, have none. */
#define LEGEND_ROWS 5
#define LEGEND_COLS 16

/* Cells as those of the graph, from much less to much more: see row_change_flame_style(). */
static const struct {
	enum style style;
	const char *text;
	bool little; /* left out where there is little room */
} shades[] = {
	{ STYLE_DIFF_BETTER_3, " -20 % ", false }, { STYLE_DIFF_BETTER_2, " -2 % ", true },
	{ STYLE_DIFF_BETTER_1, " - ", true },      { STYLE_DIFF_SAME, " noise ", false },
	{ STYLE_DIFF_WORSE_1, " + ", true },       { STYLE_DIFF_WORSE_2, " +2 % ", true },
	{ STYLE_DIFF_WORSE_3, " +20 % ", false },
};
#define N_SHADES ((int)(sizeof(shades) / sizeof(shades[0])))

/* What the width of a cell is. */
static const char *const widths[N_SHOWN_SIZES] = {
	[SHOWN_BOTH] = "width both sides",
	[SHOWN_BEFORE] = "width before, new has none",
	[SHOWN_AFTER] = "width after, gone has none",
	[SHOWN_CHANGE] = "width the change",
};
static const char *const short_widths[N_SHOWN_SIZES] = {
	[SHOWN_BOTH] = "both",
	[SHOWN_BEFORE] = "before",
	[SHOWN_AFTER] = "after",
	[SHOWN_CHANGE] = "change",
};

static bool has_legend(const struct scene *s, struct rect r)
{
	return s->analysis->diff && r.rows >= LEGEND_ROWS && r.cols >= LEGEND_COLS;
}

struct rect flame_legend_above(const struct scene *s, struct rect r)
{
	r.rows -= has_legend(s, r);
	return r;
}

static int shades_cols(bool all)
{
	int cols = 0;

	for (int i = 0; i < N_SHADES; i++)
		if (all || !shades[i].little)
			cols += (int)strlen(shades[i].text);
	return cols;
}

/* If it fits; returns the columns used. */
static int put(struct canvas *c, int row, int col, int end, const char *text)
{
	return col + (int)text_width(text, strlen(text)) <= end
		       ? canvas_puts(c, row, col, end - col, STYLE_DIM, text)
		       : 0;
}

/* Without colours an edge is a sign. */
static void draw_signs(const char *width, struct canvas *c, int row, int col, int end)
{
	col += put(c, row, col, end, width);
	col += put(c, row, col, end, "  + more");
	col += put(c, row, col, end, "  - less");
	col += put(c, row, col, end, "  | noise");
	put(c, row, col, end, "  new, gone: on one side alone");
}

void flame_legend_draw(const struct scene *s, struct canvas *c, struct rect r)
{
	enum shown_size shown = s->analysis->lens.sides.shown;
	const char *width = r.cols >= 70 ? widths[shown] : short_widths[shown];
	int row = r.row + r.rows - 1, col = r.col + 1, end = r.col + r.cols;
	bool all = col + (int)strlen(width) + 2 + shades_cols(true) <= end;

	if (!has_legend(s, r))
		return;
	if (c->mono) {
		draw_signs(width, c, row, col, end);
		return;
	}
	col += put(c, row, col, end, width) + 2;
	for (int i = 0; i < N_SHADES; i++)
		if (all || !shades[i].little)
			col += canvas_puts(c, row, col, end - col, (uint16_t)shades[i].style,
					   shades[i].text);
	put(c, row, col, end,
	    col + 45 <= end ? "  and more; new, gone: on one side alone" : "  new, gone");
}
