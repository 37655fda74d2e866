/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leaks, lifetimes, sizes, temporaries, handoffs, reallocs, waste, blocks, allocators: tables about the allocations that pass the filter
 * (heap_table.h). One view draws all of them; each is a view of its own.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/heap/footprint_rows.h"
#include "query/heap/heap_table.h"
#include "tui/canvas/glyphs.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/rows/row_note.h"
#include "tui/views/row_effects.h"
#include "tui/views/where_cell.h"

/* In front of rows; between columns; of the bars of histograms; the least of a name. */
#define MARKER_COLS   3
#define GAP           2
#define BAR_MOST      40
#define NAME_LEAST    16
#define NAME_LINE     24 /* beside a line over time */
#define NAME_GOOD     40 /* beside more than the usual columns */
#define USUAL_COLUMNS 6
#define LINE_COLS     12

/* Of the lines of a view, so many at most are sentences. */
#define NOTES_PART 3

struct heap_view {
	enum heap_question question;
	struct list list;
	int sorted; /* column; -1: the order of the answer */
	bool rising;

	/* As of the last layout. */
	int notes;                    /* lines of sentences */
	int label;                    /* columns of labels, with the gap behind; 0: none */
	int cols[HEAP_TABLE_COLUMNS]; /* of numbers, with the gap behind; 0: not shown */
	int bar;                      /* columns of bars */
	int line;                     /* where lines over time begin; 0: they are not shown */
	int site;                     /* where sites begin; the width of the view: nowhere */
};

static struct heap_table *table_of(const struct heap_view *v, const struct scene *s)
{
	const struct over_time *o = s->analysis->over[OVER_HEAP];

	/* What grows in the part that was read may be freed in the next. */
	if (v->question == HEAP_LEAKS && s->loading && !s->live)
		return NULL;
	return o && o->heap && o->heap->question == v->question ? o->heap : NULL;
}

static uint32_t n_of(const struct heap_view *v, const struct scene *s)
{
	const struct heap_table *t = table_of(v, s);

	return t ? (uint32_t)t->rows.n : 0;
}

static const struct heap_table_row *current(const struct heap_view *v, const struct scene *s)
{
	return v->list.cursor < n_of(v, s) ? &table_of(v, s)->rows.at[v->list.cursor] : NULL;
}

static const struct key *key_of(const struct scene *s, const struct heap_table_row *row)
{
	return row->key == KEY_NONE ? NULL : &s->analysis->footprint->rows->key[row->key];
}

static bool heap_applies(const struct scene *s)
{
	return s->analysis->footprint && !s->analysis->diff;
}

static void *new_of(enum heap_question q)
{
	struct heap_view *v = xcalloc(1, sizeof(*v));

	v->question = q;
	v->sorted = -1;
	return v;
}

static void heap_view_free(void *state)
{
	free(state);
}

static void sort_rows(struct heap_view *v, const struct scene *s)
{
	struct heap_table *t = table_of(v, s);

	if (t && v->sorted >= 0)
		heap_table_sort(t, v->sorted, v->rising);
}

static void heap_update(void *state, const struct scene *s)
{
	struct heap_view *v = state;

	sort_rows(v, s);
	list_fit(&v->list, n_of(v, s), (int)v->list.height);
}

static int text_cols(const char *text)
{
	return (int)text_width(text, strlen(text));
}

/* As wide as its widest number and title. */
static int number_cols(const struct heap_table *t, int column)
{
	int most = text_cols(t->form->column[column].title) + 1; /* the arrow */
	char text[64];

	for (size_t i = 0; i < t->rows.n; i++) {
		int cols = text_cols(heap_table_text(t, &t->rows.at[i], column, text));

		most = cols > most ? cols : most;
	}
	return most + GAP;
}

static int label_cols(const struct heap_table *t)
{
	int most = t->form->label ? text_cols(t->form->label) : 0;

	for (size_t i = 0; t->form->label && i < t->rows.n; i++) {
		int cols = t->rows.at[i].label ? text_cols(t->rows.at[i].label) : 0;

		most = cols > most ? cols : most;
	}
	return most > 0 ? (most < BAR_MOST ? most : BAR_MOST) + GAP : 0;
}

static bool has_lines(const struct heap_table *t)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (t->rows.at[i].line_over_time)
			return true;
	return false;
}

/* What stands last is missed least. */
static void place_columns(struct heap_view *v, const struct heap_table *t, int cols)
{
	int room = cols - MARKER_COLS - v->label - (t->form->sites ? NAME_LEAST : 0);

	memset(v->cols, 0, sizeof(v->cols));
	for (int i = 0; i < t->n_columns; i++) {
		int wide = number_cols(t, i);

		if (wide + (i < USUAL_COLUMNS ? 0 : NAME_GOOD - NAME_LEAST) > room && i > 0)
			break;
		v->cols[i] = wide;
		room -= wide;
	}
	v->bar = t->form->bar >= 0 && room >= GAP + 4
			 ? (room - GAP < BAR_MOST ? room - GAP : BAR_MOST)
			 : 0;
	v->line = 0;
	if (has_lines(t) && room >= LINE_COLS + GAP + NAME_LINE - NAME_LEAST) {
		v->line = cols - room - (t->form->sites ? NAME_LEAST : 0);
		room -= LINE_COLS + GAP;
	}
	v->site = cols;
	if (t->form->sites)
		v->site = cols - room - NAME_LEAST;
}

static void heap_layout(void *state, const struct scene *s, struct rect r)
{
	struct heap_view *v = state;
	const struct heap_table *t = table_of(v, s);
	int most = r.rows / NOTES_PART;

	v->notes = 0;
	v->label = 0;
	if (!t || r.rows <= 0 || r.cols <= 0) {
		list_fit(&v->list, 0, 0);
		return;
	}
	for (size_t i = 0; i < t->notes.n; i++)
		v->notes += canvas_put_lines(NULL, 0, 0, r.cols - 1, 0, STYLE_DIM, t->notes.at[i]);
	v->notes = v->notes < most ? v->notes : most;
	v->label = label_cols(t);
	place_columns(v, t, r.cols);
	list_fit(&v->list, n_of(v, s), r.rows - v->notes - 1);
}

static void draw_titles(const struct heap_view *v, const struct heap_table *t, struct canvas *c,
			struct rect r)
{
	int at = r.row + v->notes, col = MARKER_COLS;

	if (v->label > 0)
		canvas_puts(c, at, r.col + col, v->label, STYLE_HEADER, t->form->label);
	col += v->label;
	for (int i = 0; i < t->n_columns; i++) {
		bool sorted = i == (v->sorted >= 0 ? v->sorted : t->form->order);
		uint16_t style = sorted ? STYLE_HEADER_SORTED : STYLE_HEADER;

		if (v->cols[i] == 0)
			continue;
		canvas_puts_right(c, at, r.col + col, v->cols[i] - GAP, style,
				  t->form->column[i].title);
		col += v->cols[i];
		if (sorted)
			canvas_fill(c, at, r.col + col - GAP, 1, style,
				    v->sorted >= 0 && v->rising ? GLYPH_UP : GLYPH_DOWN);
	}
	if (v->line > 0)
		canvas_puts(c, at, r.col + v->line, LINE_COLS, STYLE_HEADER, "OVER TIME");
	if (v->site < r.cols)
		canvas_puts(c, at, r.col + v->site, r.cols - v->site, STYLE_HEADER,
			    footprint_rows_title(t->footprint));
}

/* The line of the call, or where the function is declared; the caller frees. */
static char *source_of(const struct scene *s, const struct heap_table_row *row)
{
	return row->line || row->key == KEY_NONE
		       ? row_place(s, row->file, row->line)
		       : row_source(s, s->analysis->footprint->rows, row->key);
}

/* The site, the line of its call and the remark. */
static struct where_cell site_of(const struct scene *s, int line, const struct heap_table_row *row,
				 bool selected)
{
	const struct key *key = key_of(s, row);
	struct where_cell w = { .line = line, .name = key ? key->label : "" };
	char *source = source_of(s, row);

	w.style = (uint16_t)((key ? row_key_style(key) : STYLE_NORMAL) |
			     (selected ? STYLE_SELECTED : 0));
	w.note = key && row_note_of_site(s, key, source);
	w.behind = xasprintf("%s%s%s", source, *source && row->remark ? "  " : "",
			     row->remark ? row->remark : "");
	free(source);
	return w;
}

static uint16_t label_style(const struct heap_view *v, const struct heap_table_row *row)
{
	return v->question == HEAP_LEAKS && row->cell[0] != CELL_NONE ? STYLE_HOT : STYLE_NORMAL;
}

static int64_t largest(const struct heap_table *t, int column)
{
	int64_t most = 0;

	for (size_t i = 0; i < t->rows.n; i++)
		if (t->rows.at[i].cell[column] > most)
			most = t->rows.at[i].cell[column];
	return most;
}

static void draw_row(const struct heap_view *v, const struct scene *s, struct canvas *c,
		     struct rect r, int line, uint32_t i, int64_t most)
{
	const struct heap_table *t = table_of(v, s);
	const struct heap_table_row *row = &t->rows.at[i];
	bool selected = i == v->list.cursor;
	int col = MARKER_COLS, at = r.row + line;
	char text[64];

	if (v->label > 0 && row->label)
		canvas_puts(c, at, r.col + col, v->label - 1,
			    (uint16_t)(label_style(v, row) |
				       (selected && !t->form->sites ? STYLE_SELECTED : 0)),
			    row->label);
	col += v->label;
	for (int k = 0; k < t->n_columns; k++) {
		if (v->cols[k] > 0)
			canvas_puts_right(c, at, r.col + col, v->cols[k] - GAP, STYLE_NUMBER,
					  heap_table_text(t, row, k, text));
		col += v->cols[k];
	}
	if (v->line > 0 && row->line_over_time)
		canvas_spark(c, at, r.col + v->line, LINE_COLS, STYLE_SPARK, row->line_over_time,
			     HEAP_LINE, 0);
	if (v->bar > 0 && row->cell[t->form->bar] > 0)
		canvas_bar(c, at, r.col + col, v->bar, STYLE_BAR, row->cell[t->form->bar], most);
}

/* Draws rows, then where they are, as names in sight are told apart, and then marks one of them. */
static void draw_rows(const struct heap_view *v, const struct scene *s, struct canvas *c,
		      struct rect r, int top)
{
	const struct heap_table *t = table_of(v, s);
	int64_t most = t->form->bar >= 0 ? largest(t, t->form->bar) : 0;
	struct where_cells sites = { 0 };
	int marked = -1;

	for (int line = top; line < r.rows; line++) {
		uint32_t i = list_at(&v->list, line - top);

		if (i >= n_of(v, s))
			continue;
		draw_row(v, s, c, r, line, i, most);
		if (v->site < r.cols)
			vec_push(&sites, site_of(s, line, &t->rows.at[i], i == v->list.cursor));
		if (i == v->list.cursor)
			marked = line;
	}
	where_cells_draw(&sites, s, c, r, v->site);
	if (marked >= 0)
		row_draw_marker(c, r, marked);
}

static void heap_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct heap_view *v = state;
	const struct heap_table *t = table_of(v, s);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (!t) {
		canvas_puts(c, r.row, r.col + 1, r.cols - 1, STYLE_DIM,
			    s->loading ? "comes when all is loaded" : "looking …");
		return;
	}
	for (size_t i = 0, line = 0; i < t->notes.n && (int)line < v->notes; i++)
		line += (size_t)canvas_put_lines(c, r.row + (int)line, r.col + 1, r.cols - 1,
						 v->notes - (int)line, STYLE_DIM, t->notes.at[i]);
	if (v->notes < r.rows)
		draw_titles(v, t, c, r);
	if (t->rows.n == 0 && v->notes + 1 < r.rows)
		canvas_puts(c, r.row + v->notes + 1, r.col + MARKER_COLS, r.cols - MARKER_COLS,
			    STYLE_DIM, "none");
	draw_rows(v, s, c, r, v->notes + 1);
}

/* A bucket is a filter, and the memory view shows what is left; a site has callers. */
static bool open_row(const struct heap_view *v, const struct scene *s, struct effect *out)
{
	const struct heap_table_row *row = current(v, s);
	struct metric of;

	if (!row)
		return false;
	if (row->filter) {
		out->kind = EFFECT_FILTER;
		out->view = VIEW_KIND_MEMORY;
		out->text = xstrdup(row->filter);
		out->grouping = s->analysis->lens.grouping;
		return true;
	}
	if (row->key == KEY_NONE)
		return false;
	if (!footprint_rows_of_functions(s->analysis->footprint))
		return row_effects_heap_row(s, row->key, out);
	out->kind = EFFECT_OPEN;
	out->view = VIEW_KIND_CALLERS;
	out->place = (struct place){ .key_id = key_of(s, row)->id };
	of = s->analysis->footprint->lens.column[0].metric;
	if (v->question != HEAP_LEAKS && v->question != HEAP_TEMPORARIES &&
	    v->question != HEAP_ALLOCATORS)
		return true;
	/* Callers of what the table is about. */
	out->kind = EFFECT_FILTER;
	out->has_place = out->has_metric = true;
	out->metric = (struct metric){ of.event,
				       v->question == HEAP_LEAKS         ? MEASURE_LEAKED
				       : v->question == HEAP_TEMPORARIES ? MEASURE_TEMPORARY
									 : MEASURE_SAMPLES,
				       of.all };
	out->grouping = s->analysis->lens.grouping;
	return true;
}

static bool resort(struct heap_view *v, const struct scene *s)
{
	sort_rows(v, s);
	list_go(&v->list, 0);
	return true;
}

/* The next column that is on the screen. */
static bool sort_next(struct heap_view *v, const struct scene *s)
{
	const struct heap_table *t = table_of(v, s);
	int now = t && v->sorted < 0 ? t->form->order : v->sorted;

	if (!t)
		return false;
	do
		now = (now + 1) % t->n_columns;
	while (v->cols[now] == 0 && now != 0);
	v->sorted = now;
	v->rising = false;
	return resort(v, s);
}

static bool next_rows(const struct heap_view *v, const struct scene *s, struct effect *out)
{
	bool sizes = v->question == HEAP_ALLOCATORS;

	if (!sizes && (!table_of(v, s) || !table_of(v, s)->form->sites)) {
		out->kind = EFFECT_MESSAGE;
		out->text = xstrdup("rows of this table are of no functions, and are not grouped");
		return true;
	}
	row_effects_heap_rows(s, sizes, out);
	return true;
}

static bool heap_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct heap_view *v = state;

	if (list_act(&v->list, a))
		return true;
	switch ((int)a) {
	case ACTION_ENTER:
		return open_row(v, s, out);
	case ACTION_SORT:
		return sort_next(v, s);
	case ACTION_GROUP:
		return next_rows(v, s, out);
	case ACTION_REVERSE:
		if (v->sorted < 0 && table_of(v, s))
			v->sorted = table_of(v, s)->form->order;
		v->rising = !v->rising;
		return v->sorted >= 0 && resort(v, s);
	default:
		return false;
	}
}

/* Sorts by the column whose title is at col, or the other way round. */
static void click_title(struct heap_view *v, const struct scene *s, int col)
{
	int from = MARKER_COLS + v->label;
	const struct heap_table *t = table_of(v, s);

	for (int i = 0; t && i < t->n_columns; from += v->cols[i++]) {
		if (col < from || col >= from + v->cols[i])
			continue;
		v->rising = i == v->sorted && !v->rising;
		v->sorted = i;
		resort(v, s);
		return;
	}
}

static void heap_click(void *state, const struct scene *s, struct rect r, int row, int col,
		       bool twice, struct effect *out)
{
	struct heap_view *v = state;
	int line = row - r.row - v->notes - 1;
	uint32_t i = list_at(&v->list, line);

	if (line == -1)
		click_title(v, s, col - r.col);
	if (line < 0 || i == UINT32_MAX)
		return;
	v->list.cursor = i;
	if (twice)
		open_row(v, s, out);
}

static void heap_select(void *state, const struct scene *s, const struct place *p)
{
	struct heap_view *v = state;

	if (!footprint_rows_of_functions(s->analysis->footprint))
		return;
	for (uint32_t i = 0; p->key_id != ID_NONE && i < n_of(v, s); i++) {
		const struct key *key = key_of(s, &table_of(v, s)->rows.at[i]);

		if (!key || key->id != p->key_id)
			continue;
		list_go(&v->list, i);
		return;
	}
}

static bool heap_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct heap_table_row *row = current(state, s);

	if (!row || row->key == KEY_NONE || !footprint_rows_of_functions(s->analysis->footprint))
		return false;
	*out = (struct place){ .key_id = key_of(s, row)->id };
	return true;
}

static bool matches(const struct heap_view *v, const struct scene *s, uint32_t i)
{
	const struct heap_table_row *row = &table_of(v, s)->rows.at[i];
	const char *label = key_of(s, row) ? key_of(s, row)->label : row->label;

	return s->search && label && search_matches(s->search, label, strlen(label));
}

static uint32_t heap_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct heap_view *v = state;
	struct match_cursor f;

	match_cursor_start(&f, v->list.cursor, step);
	for (uint32_t i = 0; i < n_of(v, s); i++)
		if (matches(v, s, i))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes)
		list_go(&v->list, f.target);
	return f.n;
}

static char *heap_site(const void *state, const struct scene *s)
{
	const struct heap_table_row *row = current(state, s);

	return row && row->key != KEY_NONE ? source_of(s, row) : NULL;
}

static char *heap_status(const void *state, const struct scene *s)
{
	const struct heap_view *v = state;
	const struct heap_table_row *row = current(v, s);
	const struct key *key = row ? key_of(s, row) : NULL;
	char *name, *source, *out;

	if (!row)
		return NULL;
	if (!key)
		return xasprintf("%s%s%s", row->label ? row->label : "",
				 row->filter ? ": Enter shows -f " : "",
				 row->filter ? row->filter : "");
	name = name_full(key);
	source = source_of(s, row);
	out = xasprintf("%s%s%s%s%s  %s  %s", row->label ? row->label : "",
			row->label && row->remark ? ": " : "", row->remark ? row->remark : "",
			*source ? "  " : "", source, key->module, name);
	free(source);
	free(name);
	return out;
}

static char *heap_crumb(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return NULL;
}

static void heap_position(const void *state, uint32_t *at, uint32_t *of)
{
	list_position(&((const struct heap_view *)state)->list, at, of);
}

/* The span says which question is asked, see over_time.h. */
static bool heap_wish(const void *state, struct over_time_wish *out)
{
	const struct heap_view *v = state;

	*out = (struct over_time_wish){ OVER_HEAP, { (int64_t)v->question, INT64_MAX, 1, 0 } };
	return true;
}

/* X(question, lower case, help) */
#define HEAP_VIEWS(X) \
	X(LEAKS, leaks, \
	  "sites by how what they hold grows: what grows steadily comes first, with bytes an hour") \
	X(LIFETIMES, lifetimes, "how long blocks live; Enter shows those of a row alone") \
	X(SIZES, sizes, "how large blocks are; Enter shows those of a row alone") \
	X(TEMPORARIES, temporaries, \
	  "sites of blocks that the next heap call of their thread frees") \
	X(HANDOFFS, handoffs, "which thread frees what which one allocates") \
	X(REALLOCS, reallocs, "sites of blocks that grow by realloc, and what that copies") \
	X(WASTE, waste, "what malloc takes beyond what was asked for") \
	X(BLOCKS, blocks, "single blocks, the largest first") \
	X(ALLOCATORS, allocators, "sites with the average size and lifetime of their blocks")

#define X(id, lower, text) \
	static void *lower##_new(void) \
	{ \
		return new_of(HEAP_##id); \
	} \
	const struct view_ops view_##lower = { \
		.name = #lower, \
		.help = text, \
		.contexts = IN_LIST | IN_HEAP, \
		.applies = heap_applies, \
		.new = lower##_new, \
		.free = heap_view_free, \
		.update = heap_update, \
		.layout = heap_layout, \
		.wish = heap_wish, \
		.draw = heap_draw, \
		.act = heap_act, \
		.click = heap_click, \
		.select = heap_select, \
		.selection = heap_selection, \
		.find = heap_find, \
		.status = heap_status, \
		.site = heap_site, \
		.position = heap_position, \
		.crumb = heap_crumb, \
	};
HEAP_VIEWS(X)
#undef X
