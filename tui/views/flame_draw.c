/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a flame graph looks. A cell begins with an edge, so that it is one without colours, too. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "tui/canvas/glyphs.h"
#include "tui/rows/chain.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/name_set.h"
#include "tui/rows/row.h"
#include "tui/rows/row_change.h"
#include "tui/rows/row_note.h"
#include "tui/views/flame_legend.h"
#include "tui/views/flame_view.h"

/* Names in narrower cells are read in the status line. */
#define APART_COLS_MIN 12

/* Where one cell is drawn. */
struct flame_cell_at {
	struct canvas *c;
	int row, col, cols;
	uint16_t style;
};

/* Without colours it says what became of a cell that compares. */
static uint32_t edge_glyph(const struct canvas *c, uint16_t style)
{
	enum style of = STYLE_OF(style);

	if (!c->mono)
		return GLYPH_EDGE_LEFT;
	if (of >= STYLE_DIFF_WORSE_3 && of <= STYLE_DIFF_WORSE_1)
		return '+';
	return of >= STYLE_DIFF_BETTER_1 && of <= STYLE_DIFF_BETTER_3 ? '-' : '|';
}

/* The name, and room for its share where that costs nothing of the name; the caller frees. */
static char *fitting_name(const char *label, int cols, int share_cols, bool ascii)
{
	char *name = name_short(label, cols, ascii), *shorter;

	if (cols <= share_cols + 8 || strnlen(label, NAME_MOST_BYTES + 1) > NAME_MOST_BYTES)
		return name;
	shorter = text_fold_name(label, (size_t)(cols - share_cols), ascii);
	if (strncmp(shorter, ascii ? "..." : "…", 3) == 0) {
		free(shorter);
		return name;
	}
	free(name);
	return shorter;
}

/* [n_columns] what a node is coloured by: what adds up over the children. */
static const int64_t *numbers_of(const struct flame_view *v, const struct scene *s, uint32_t node)
{
	const struct tree_source *src = v->layout.src;

	return src->by_self ? src->self(s->analysis, node) : src->total(s->analysis, node);
}

/* The label of a frame's cell; apart: what its name is written as, or NULL. */
static void draw_label(const struct flame_view *v, const struct scene *s, struct flame_cell_at at,
		       const struct flame_cell *cell, const char *apart)
{
	struct chain_look look = { .style = at.style, .bold = true };
	int64_t whole = s->analysis->weights.total[0], weight = whole;
	const char *label = "all";
	char share[FMT_SIZE], *name;
	int used, share_cols, room = at.cols;

	if (cell->node != TREE_NONE) {
		uint32_t node = chain_main(v->layout.src, cell->first, cell->node);

		label = tree_key(v->layout.src, s->analysis, node)->label;
		weight = tree_weight(v->layout.src, s->analysis, node);
	}
	if (!s->analysis->diff)
		row_share(share, s, weight, whole);
	else if (cell->node != TREE_NONE)
		row_change_flame_style(s, v->layout.src->key(s->analysis, cell->node),
				       numbers_of(v, s, cell->node), share);
	else
		share[0] = '\0';
	share_cols = (int)text_width(share, strlen(share)) + 1;
	name = apart ? xstrdup(apart) : fitting_name(label, room, share_cols, at.c->ascii);
	if (cell->first != cell->node && room > share_cols + 16) {
		used = chain_draw(at.c, (struct chain_cell){ at.row, at.col, room - share_cols }, s,
				  v->layout.src, cell->first, cell->node, &look);
	} else {
		used = canvas_puts(at.c, at.row, at.col, room, (uint16_t)(at.style | STYLE_BOLD),
				   name);
	}
	if (room - used >= share_cols)
		canvas_printf(at.c, at.row, at.col + used, room - used, at.style, " %s", share);
	free(name);
}

static bool chain_matches(const struct flame_view *v, const struct scene *s,
			  const struct flame_cell *cell)
{
	for (uint32_t n = cell->node; s->search && n != TREE_NONE;) {
		if (row_matches(s, &s->analysis->keys, v->layout.src->key(s->analysis, n)))
			return true;
		if (n == cell->first)
			break;
		n = v->layout.src->parent(s->analysis, n);
	}
	return false;
}

static uint16_t style_of(const struct flame_view *v, const struct scene *s,
			 const struct flame_cell *cell)
{
	uint16_t style = STYLE_FLAME_MERGED;
	char ignored[FMT_SIZE];

	if (s->analysis->diff && cell->n_merged == 0 && cell->node != TREE_NONE)
		style = row_change_flame_style(s, v->layout.src->key(s->analysis, cell->node),
					       numbers_of(v, s, cell->node), ignored);
	else if (cell->n_merged == 0 && cell->node != TREE_NONE)
		style = row_flame_style(tree_key(v->layout.src, s->analysis, cell->node));
	if (cell->odd)
		style |= STYLE_ALT;
	if (cell->n_merged == 0 && chain_matches(v, s, cell))
		style |= STYLE_MATCH;
	return style;
}

/* The mark of a note, in front of the label; returns the columns used. */
static int draw_note(const struct flame_view *v, const struct scene *s, struct flame_cell_at at,
		     const struct flame_cell *cell)
{
	if (at.cols < 2 || cell->node == TREE_NONE ||
	    !row_note_of_nodes(s, v->layout.src, cell->first, cell->node))
		return 0;
	canvas_fill(at.c, at.row, at.col, 1, at.style, GLYPH_NOTE);
	return 1;
}

/* "+9 more", "+9", or "+": unlike a name that is cut, which begins with dots. */
static void draw_merged(struct flame_cell_at at, uint32_t n)
{
	char count[FMT_SIZE];
	int cols = (int)strlen(fmt_count(count, n)) + 1;

	canvas_printf(at.c, at.row, at.col, at.cols, at.style, "+%s%s",
		      cols <= at.cols ? count : "", cols + 5 <= at.cols ? " more" : "");
}

static void draw_cell(const struct flame_view *v, const struct scene *s, struct canvas *c,
		      struct rect r, int row, uint32_t i, const char *apart)
{
	const struct flame_cell *cell = &v->layout.cells.at[i];
	struct flame_cell_at at = { .c = c, .row = row, .style = style_of(v, s, cell) };
	int col = r.col + cell->begin, cols = cell->end - cell->begin;

	canvas_fill(c, row, col, cols, at.style, ' ');
	canvas_fill(c, row, col, 1, at.style, edge_glyph(c, at.style));
	at.col = col + 1;
	at.cols = cols - 1;
	if (at.cols > 0 && cell->n_merged > 0)
		draw_merged(at, cell->n_merged);
	else if (at.cols > 0) {
		int mark = draw_note(v, s, at, cell);

		at.col += mark;
		at.cols -= mark;
		draw_label(v, s, at, cell, apart);
	}
	if (i != v->cell)
		return;
	canvas_add_style(c, row, col, cols, STYLE_SELECTED);
	c->cursor_row = row;
	c->cursor_col = col;
}

/* The names of a level's cells [first, end) that are wide enough to be told apart; the caller frees. */
static char **names_of_level(const struct flame_view *v, const struct scene *s, uint32_t first,
			     uint32_t end, bool ascii)
{
	struct seen_name *seen = xcalloc(end - first + 1, sizeof(*seen));
	char **label;

	for (uint32_t i = first; i < end; i++) {
		const struct flame_cell *cell = &v->layout.cells.at[i];
		const struct key *key;

		if (cell->n_merged > 0 || cell->node == TREE_NONE || cell->first != cell->node ||
		    cell->end - cell->begin < APART_COLS_MIN)
			continue;
		key = tree_key(v->layout.src, s->analysis, cell->node);
		seen[i - first] = (struct seen_name){ .label = key->label,
						      .module = key->module,
						      .cols = cell->end - cell->begin - 1 };
	}
	label = names_apart(seen, end - first, ascii);
	free(seen);
	return label;
}

static void draw_level(const struct flame_view *v, const struct scene *s, struct canvas *c,
		       struct rect r, int row, uint32_t level)
{
	uint32_t first, end;
	char **label;

	flame_layout_level(&v->layout, level, &first, &end);
	label = names_of_level(v, s, first, end, c->ascii);
	for (uint32_t i = first; i < end; i++) {
		const struct flame_cell *cell = &v->layout.cells.at[i];
		bool last = i + 1 == end || v->layout.cells.at[i + 1].begin > cell->end;

		if (cell->begin == cell->end)
			continue;
		draw_cell(v, s, c, r, row, i, label[i - first]);
		if (last && cell->end < r.cols && !c->shaded)
			canvas_fill(c, row, r.col + cell->end, 1, STYLE_DIM,
				    edge_glyph(c, STYLE_DIM));
	}
	names_apart_free(label, end - first);
}

/* Arrows at the right where levels go on that are out of sight. */
static void draw_more(const struct flame_view *v, struct canvas *c, struct rect r)
{
	bool up = v->mode == FLAME_FLAME;
	int first = up ? r.row + r.rows - 1 : r.row, last = up ? r.row : r.row + r.rows - 1;

	if (v->scroll > 0)
		canvas_puts(c, first, r.col + r.cols - 1, 1, STYLE_HEADER, up ? "↓" : "↑");
	if (v->layout.levels.n > v->scroll + (uint32_t)r.rows)
		canvas_puts(c, last, r.col + r.cols - 1, 1, STYLE_HEADER, up ? "↑" : "↓");
}

void flame_draw(const struct flame_view *v, const struct scene *s, struct canvas *c, struct rect r)
{
	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (s->analysis->weights.total[0] <= 0 || v->cell == FLAME_NONE) {
		row_draw_nothing(c, r, s);
		return;
	}
	flame_legend_draw(s, c, r);
	r = flame_legend_above(s, r);
	for (int i = 0; i < r.rows; i++) {
		uint32_t level = v->scroll + (uint32_t)i;
		int row = v->mode == FLAME_FLAME ? r.row + r.rows - 1 - i : r.row + i;

		if (level < v->layout.levels.n)
			draw_level(v, s, c, r, row, level);
	}
	draw_more(v, c, r);
}
