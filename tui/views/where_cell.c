/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/views/where_cell.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/glyphs.h"
#include "tui/contract/view.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/name_set.h"

#define GAP       2
#define NOTE_COLS 2

/* Fewer columns of where it is say nothing. */
#define BEHIND_LEAST 3

static int width_of(const char *s)
{
	return (int)text_width(s, strlen(s));
}

/* The text for so many columns: a second part of which hardly anything would be left is left out. The caller frees. */
static char *behind_for(const char *text, int cols, bool ascii)
{
	const char *second = strstr(text, "  ");
	int first = second ? (int)text_width(text, (size_t)(second - text)) : 0;
	int left = cols - width_of(ascii ? "..." : "…") - first - GAP;

	if (second && first <= cols && left < BEHIND_LEAST && width_of(text) > cols)
		return xasprintf("%.*s", (int)(second - text), text);
	return xstrdup(text);
}

/* behind: where it is, as far as there is room beside the name as it is; the caller's. */
static struct seen_name seen_of(const struct where_cell *w, int cols, bool ascii, char **behind)
{
	char *name = name_in_row(w->name, cols > 0 ? cols : 0, ascii);
	int left = cols - width_of(name) - GAP;

	free(name);
	*behind = behind_for(w->behind, left, ascii);
	return (struct seen_name){ .label = w->name,
				   .module = *behind,
				   .cols = cols,
				   .module_cols = left >= BEHIND_LEAST ? left : 0 };
}

/* What does not fit ends in a sign that it is cut. */
static void draw_behind(struct canvas *c, int row, int col, int cols, const char *text)
{
	const char *dots = c->ascii ? "..." : "…";
	char *behind = behind_for(text, cols, c->ascii);
	int room = cols - width_of(dots);
	size_t got;

	if (width_of(behind) <= cols)
		canvas_puts(c, row, col, cols, STYLE_DIM, behind);
	else if (room >= BEHIND_LEAST)
		canvas_printf(c, row, col, cols, STYLE_DIM, "%.*s%s",
			      (int)text_clip(behind, strlen(behind), (size_t)room, &got), behind,
			      dots);
	free(behind);
}

static void draw_cell(const struct where_cell *w, const struct scene *s, struct canvas *c,
		      struct rect r, int col, const char *label)
{
	struct name_look look = { .style = w->style, .wide = s->wide };
	int row = r.row + w->line;

	if (w->note && col + NOTE_COLS < r.cols) {
		canvas_fill(c, row, r.col + col, 1, STYLE_MARK, GLYPH_NOTE);
		col += NOTE_COLS;
	}
	col += name_draw(c, row, r.col + col, r.cols - col, label ? label : w->name, &look) + GAP;
	if (col < r.cols)
		draw_behind(c, row, r.col + col, r.cols - col, w->behind);
}

void where_cells_draw(struct where_cells *cells, const struct scene *s, struct canvas *c,
		      struct rect r, int col)
{
	struct seen_name *seen = xcalloc(cells->n + 1, sizeof(*seen));
	char **behind = xcalloc(cells->n + 1, sizeof(*behind)), **label;

	/* names in full end where they are cut */
	for (size_t i = 0; i < cells->n && !s->wide; i++)
		seen[i] = seen_of(&cells->at[i], r.cols - col - (cells->at[i].note ? NOTE_COLS : 0),
				  c->ascii, &behind[i]);
	label = names_apart(seen, cells->n, c->ascii);
	for (size_t i = 0; i < cells->n; i++) {
		draw_cell(&cells->at[i], s, c, r, col, label[i]);
		free(cells->at[i].behind);
		free(behind[i]);
	}
	free(behind);
	names_apart_free(label, cells->n);
	free(seen);
	vec_done(cells);
}
