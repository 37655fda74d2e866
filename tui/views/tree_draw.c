/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How a tree of rows looks; see tree_draw.h. */
#include "config.h"

#include "tui/views/tree_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "query/analysis.h"
#include "tui/canvas/glyphs.h"
#include "tui/rows/chain.h"
#include "tui/rows/name_set.h"
#include "tui/rows/row.h"
#include "tui/rows/row_change.h"
#include "tui/rows/row_note.h"

/* Columns of a level, where there is room for it; and of the arrow with its blank. */
#define LEVEL_COLS 2
#define ARROW_COLS 2

/* Callers of a row, one within the other, beyond which its last minute is not looked for. */
#define MINUTE_CALLERS 1024

/* Levels by which rows must be fewer before levels are wide again. */
#define CALM_LEVELS 3

/* Levels of indentation that the name cell has room for: the name keeps half of it. */
static uint32_t level_room(const struct tree_view *v, int level_cols)
{
	int levels = v->shape.name_cols / 2 / level_cols;

	return levels > 1 ? (uint32_t)levels : 1;
}

static void fit_outdent(struct tree_view *v, uint32_t indent)
{
	uint32_t room = level_room(v, v->level_cols);

	if (indent >= v->outdent && indent - v->outdent <= room &&
	    (v->outdent == 0 || indent > room))
		return;
	v->outdent = indent > room ? indent - room / 2 : 0;
}

/* The deepest row in sight. */
static uint32_t deepest(const struct tree_view *v)
{
	uint32_t most = 0;

	for (size_t i = v->list.top; i < v->rows.n && i - v->list.top < v->list.height; i++)
		most = v->rows.at[i].indent > most ? v->rows.at[i].indent : most;
	return most;
}

void tree_draw_fit(struct tree_view *v)
{
	uint32_t most = deepest(v), indent = 0, room = level_room(v, LEVEL_COLS);

	if (v->list.cursor < v->rows.n)
		indent = v->rows.at[v->list.cursor].indent;
	if (v->level_cols == 0)
		v->level_cols = LEVEL_COLS;
	if (most > room)
		v->level_cols = 1;
	else if (most + CALM_LEVELS <= room)
		v->level_cols = LEVEL_COLS;
	fit_outdent(v, indent);
}

int tree_draw_arrow_col(const struct tree_view *v, uint32_t indent)
{
	uint32_t levels = indent > v->outdent ? indent - v->outdent : 0;
	uint32_t most = (uint32_t)(v->shape.name_cols / v->level_cols);

	return v->shape.name + (int)(levels < most ? levels : most) * v->level_cols;
}

/* The verdict on its change, where two sides are compared. */
static enum change_verdict verdict_of(const struct tree_view *v, struct analysis *a, uint32_t node)
{
	const struct tree_source *src = v->rows.src;

	return a->diff ? row_change_verdict(&v->shape, src->key(a, node), src->self(a, node),
					    src->total(a, node))
		       : VERDICT_BEYOND;
}

/* The remark behind the names of a row whose last node it is. */
static const char *tag_of(const struct tree_view *v, const struct scene *s, uint32_t node)
{
	const struct tree_source *src = v->rows.src;
	struct analysis *a = s->analysis;
	const char *tag = a->diff ? row_change_tag(&v->shape, s, tree_key(src, a, node),
						   verdict_of(v, a, node))
				  : NULL;

	return tag ? tag : src->inlined(a, node) ? "inl" : NULL;
}

/* The row of a line on the screen; false: there is none. */
static bool row_at(const struct tree_view *v, size_t line, size_t *i)
{
	*i = line < v->list.pinned ? v->pin[line] : v->list.top + line;
	return *i < v->rows.n;
}

/* Where the names of a row stand in the view, on whichever line; left: columns of the name's cell beside its tags. */
static struct chain_cell cell_of(const struct tree_view *v, const struct scene *s, int left,
				 const struct tree_row *row, uint32_t last)
{
	int col = tree_draw_arrow_col(v, row->indent);

	if (row_note_of_nodes(s, v->rows.src, row->node, last))
		left = row_note_cols(left);
	return (struct chain_cell){ .col = col + ARROW_COLS,
				    .cols = left - (col - v->shape.name) - ARROW_COLS };
}

static struct chain_look look_of(const struct tree_view *v, const struct scene *s,
				 const struct tree_row *row, uint32_t last, bool selected,
				 bool pinned, char detail[FMT_SIZE])
{
	struct analysis *a = s->analysis;
	const struct tree_source *src = v->rows.src;
	uint32_t node = chain_main(src, row->node, last);
	struct chain_look look = { .by_family = true, .wide = s->wide };

	look.style = selected ? STYLE_SELECTED : 0;
	if (pinned)
		look = (struct chain_look){ .style = STYLE_RULE };
	else if (verdict_of(v, a, last) != VERDICT_BEYOND)
		look = (struct chain_look){ .style = (uint16_t)(look.style | STYLE_DIM),
					    .wide = s->wide };
	look.bold = !pinned && row_is_hot(s, src->self(a, last));
	/* which process a thread's name is of */
	row_detail(s, &a->keys, src->key(a, node), detail);
	look.detail = row->node == last ? detail : "";
	return look;
}

/* The names that rows in sight are known by, as wide as they are drawn; returns how many lines there are. */
static size_t names_in_sight(const struct tree_view *v, const struct scene *s,
			     const struct canvas *c, size_t most, struct seen_name *seen)
{
	const struct tree_source *src = v->rows.src;
	struct analysis *a = s->analysis;
	size_t line = 0, i;

	for (; line < most && row_at(v, line, &i); line++) {
		const struct tree_row *row = &v->rows.at[i];
		char detail[FMT_SIZE];
		struct chain_look look;
		struct chain_cell at;
		const struct key *key;
		uint32_t last;

		if (row->n_more > 0 || s->wide)
			continue;
		last = tree_rows_last(&v->rows, a, i);
		key = tree_key(src, a, chain_main(src, row->node, last));
		look = look_of(v, s, row, last, false, line < v->list.pinned, detail);
		at = cell_of(v, s, row_tags_left(&v->shape, c->mono, key, tag_of(v, s, last)), row,
			     last);
		if (*detail)
			continue;
		seen[line].label = key->label;
		seen[line].module = key->module;
		seen[line].module_cols = v->shape.module_cols;
		seen[line].cols = chain_name_cols(at, c->ascii, s, src, row->node, last, &look);
	}
	return line;
}

/* What a node weighed in the last minute: all that is below it, or of callers what ends in the function. */
static struct recent_line minute_of(const struct tree_source *src, struct analysis *a,
				    uint32_t node)
{
	uint32_t id[MINUTE_CALLERS], n = 0;

	if (!src->by_self)
		return recent_node(a->recent, src->path(a, node));
	for (; node != TREE_NONE; node = src->parent(a, node)) {
		if (n == MINUTE_CALLERS)
			return (struct recent_line){ { 0 } };
		id[MINUTE_CALLERS - ++n] = tree_key(src, a, node)->id;
	}
	return recent_self(a->recent, id + MINUTE_CALLERS - n, n);
}

/* A row that stands for light children: their number and what they weigh together. */
static void draw_more(const struct tree_view *v, const struct scene *s, struct canvas *c,
		      struct rect r, int line, const struct tree_row *row, bool selected)
{
	enum number_kind kind = v->rows.src->by_self ? NUMBER_SELF : NUMBER_TOTAL;
	uint16_t style = (uint16_t)(STYLE_DIM | (selected ? STYLE_SELECTED : 0));
	int col = tree_draw_arrow_col(v, row->indent);
	char count[FMT_SIZE];

	(void)s;
	for (int i = 0; i < v->shape.n_numbers; i++)
		if (v->shape.number[i].kind == kind && v->shape.number[i].of == 0)
			row_draw_number(&v->shape, c, r, line, i, row->more, STYLE_DIM, STYLE_BAR);
	canvas_printf(c, r.row + line, r.col + col, v->shape.name + v->shape.name_cols - col, style,
		      "… %s more", fmt_count(count, row->n_more));
}

/* label: what its name is written as, or NULL. pinned: the row is above what is in sight, and stands back. */
static void draw_row(const struct tree_view *v, const struct scene *s, struct canvas *c,
		     struct rect r, int line, size_t i, const char *label, bool pinned)
{
	struct analysis *a = s->analysis;
	const struct tree_source *src = v->rows.src;
	const struct row_shape *sh = &v->shape;
	const struct tree_row *row = &v->rows.at[i];
	bool selected = i == v->list.cursor;
	uint32_t last;
	const struct key *key;
	struct row_values values;
	uint32_t arrow = ' ';
	struct chain_cell at;
	struct chain_look look;
	char detail[FMT_SIZE];
	int left;

	if (row->n_more > 0) {
		draw_more(v, s, c, r, line, row, selected);
		return;
	}
	last = tree_rows_last(&v->rows, a, i);
	key = tree_key(src, a, chain_main(src, row->node, last));
	if (tree_rows_has_more(&v->rows, a, i))
		arrow = tree_rows_is_open(&v->rows, a, i) ? GLYPH_OPEN : GLYPH_CLOSED;
	values = (struct row_values){ .key = src->key(a, last),
				      .self = src->self(a, last),
				      .total = src->total(a, last) };
	values.bar = row_bar_style(key);
	values.hot = row_is_hot(s, values.self);
	row_draw_numbers(sh, c, r, line, &values);
	if (v->minute.cols > 0) {
		struct recent_line l = minute_of(src, a, last);

		row_sparkline_draw(&v->minute, c, r, line, &l);
	}
	left = row_draw_tags(sh, c, r, line, key, tag_of(v, s, last));
	at = cell_of(v, s, left, row, last);
	if (row_note_of_nodes(s, src, row->node, last))
		row_draw_note(sh, c, r, line, left);
	if (at.cols + ARROW_COLS > 0)
		canvas_fill(c, r.row + line, r.col + at.col - ARROW_COLS, 1, row_joint_style(key),
			    arrow);
	at.row = r.row + line;
	at.col += r.col;
	look = look_of(v, s, row, last, selected, pinned, detail);
	look.label = label;
	chain_draw(c, at, s, src, row->node, last, &look);
	row_draw_module(sh, c, r, line, key);
}

static void draw_header(const struct tree_view *v, struct canvas *c, struct rect r)
{
	int sorted = ROW_BY_NAME;
	char title[64];

	for (int i = 0; v->rows.order != TREE_BY_NAME && i < v->shape.n_numbers; i++) {
		enum number_kind kind = v->rows.order == TREE_BY_SELF ? NUMBER_SELF : NUMBER_TOTAL;

		if (v->rows.order == TREE_BY_RATIO) {
			if (v->shape.number[i].kind == NUMBER_RATIO &&
			    v->shape.number[i].of == v->rows.ratio)
				sorted = i;
			continue;
		}
		if ((v->shape.number[i].kind == kind && v->shape.number[i].of == 0) ||
		    (v->shape.number[i].kind == NUMBER_CHANGE &&
		     v->shape.number[i].of_total == (kind == NUMBER_TOTAL)))
			sorted = i;
	}
	if (v->outdent > 0)
		snprintf(title, sizeof(title), "%s  ← %u levels", v->rows.src->title, v->outdent);
	else
		snprintf(title, sizeof(title), "%s", v->rows.src->title);
	row_draw_header(&v->shape, c, r, 0, sorted, v->rows.reverse, title, "MODULE");
	row_sparkline_draw_title(&v->minute, c, r, 0);
}

int tree_draw_top(struct rect r)
{
	return r.rows >= 3;
}

void tree_draw(const struct tree_view *v, const struct scene *s, struct canvas *c, struct rect r)
{
	int top = tree_draw_top(r);
	struct seen_name *seen;
	size_t most, n;
	char **label;

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (top > 0)
		draw_header(v, c, r);
	if (v->rows.n == 0)
		row_draw_nothing(c, r, s);
	most = r.rows > top ? (size_t)(r.rows - top) : 0;
	seen = xcalloc(most + 1, sizeof(*seen));
	n = names_in_sight(v, s, c, most, seen);
	label = names_apart(seen, n, c->ascii);
	for (size_t line = 0; line < n; line++) {
		int at = (int)line + top;
		size_t i;

		row_at(v, line, &i);
		draw_row(v, s, c, r, at, i, label[line], line < v->list.pinned);
		if (i == v->list.cursor)
			row_draw_marker(c, r, at);
	}
	names_apart_free(label, n);
	free(seen);
}
