/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory and timeline where two sides are compared: both over time on one axis, their difference, and which sites or
 * threads make it. A key changes how their times are laid on the axis.
 */
#include "config.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/diff/comparison_lines.h"
#include "query/diff/comparison_time.h"
#include "query/diff/diff.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/row.h"
#include "tui/views/row_effects.h"
#include "tui/views/sides_graph.h"
#include "tui/views/where_cell.h"

/* What rows are ordered by; s goes round. */
enum sides_order { BY_CHANGE, BY_BEFORE, BY_AFTER, N_SIDES_ORDERS };

/* Columns of numbers, by what room there is. */
static const struct {
	const char *title;
	enum sides_order of;
	int cols, needs;
} table[] = {
	{ "Δ", BY_CHANGE, 11, 0 },
	{ "BEFORE", BY_BEFORE, 10, 56 },
	{ "AFTER", BY_AFTER, 10, 44 },
};
#define N_TABLE    ((int)(sizeof(table) / sizeof(table[0])))
#define LINES_NEED 90 /* columns of the screen for each side's line over time */
#define LINE_COLS  10

/* Screens with fewer columns have no room for words. */
#define BRIEF_COLS 60

struct sides_view {
	struct sides_graph graph;
	uint32_t align;
	struct list list; /* of order */
	struct {
		uint32_t *at;
		size_t n, cap;
	} order; /* rows of the lines; owned */
	enum sides_order by;
	bool at_end; /* is the cursor where the first side ends? it stays there then */
};

static void *sides_new(void)
{
	struct sides_view *v = xcalloc(1, sizeof(*v));

	time_axis_init(&v->graph.axis);
	v->at_end = true;
	return v;
}

static void sides_free(void *state)
{
	struct sides_view *v = state;

	if (!v)
		return;
	vec_done(&v->order);
	free(v);
}

static bool sides_wish(const void *state, struct over_time_wish *out)
{
	const struct sides_view *v = state;
	const struct time_axis *t = &v->graph.axis;

	*out = (struct over_time_wish){ OVER_SIDES,
					{ t->from_ns, t->to_ns, (uint32_t)t->cols, v->align } };
	return t->cols > 0;
}

/* The lines of what is in sight; NULL: they are on their way. */
static const struct comparison_lines *lines_of(const struct sides_view *v, const struct scene *s)
{
	const struct over_time *o = s->analysis->over[OVER_SIDES];
	struct over_time_wish wish;

	sides_wish(v, &wish);
	return o && over_time_same_wish(&o->wish, &wish) ? o->sides : NULL;
}

static bool of_heap(const struct scene *s)
{
	return metric_is_heap(s->analysis->profile, s->analysis->lens.column[0].metric);
}

/* Are sums of what went on as if both sides were equally long, as other views have them? What fades does so there alone. */
static bool is_equal_time(const struct sides_view *v, const struct scene *s)
{
	return s->analysis->diff->normalise == NORMALISE_TIME && v->align != ALIGN_PROGRESS &&
	       s->analysis->lens.half_life_ns == 0;
}

/* What a side's sums are multiplied with then: both become as long as they are on average. */
static double factor_of(const struct sides_view *v, const struct scene *s,
			const struct comparison_lines *l, enum side side)
{
	const double *t = l->seconds;

	if (!is_equal_time(v, s) || !(t[SIDE_BEFORE] > 0) || !(t[SIDE_AFTER] > 0))
		return 1;
	return (t[SIDE_BEFORE] + t[SIDE_AFTER]) / N_SIDES / t[side];
}

/* Of a heap what is there at the cursor, NAN behind a side's end; else what went on in sight. */
static double number_of(const struct sides_view *v, const struct scene *s,
			const struct comparison_lines *l, uint32_t i, enum sides_order of)
{
	const struct sides_row *row = &l->row[i];
	uint32_t slot = (uint32_t)sides_graph_cursor(&v->graph);
	double side[N_SIDES];

	for (int k = 0; k < N_SIDES; k++)
		side[k] = !l->heap                  ? row->sum[k] * factor_of(v, s, l, (enum side)k)
			  : isnan(l->line[k][slot]) ? NAN
						    : sides_row_at(l, row, (enum side)k, slot);
	return of == BY_BEFORE  ? side[SIDE_BEFORE]
	       : of == BY_AFTER ? side[SIDE_AFTER]
				: side[SIDE_AFTER] - side[SIDE_BEFORE];
}

/* qsort_r's third argument. */
struct ordering {
	const struct sides_view *v;
	const struct scene *s;
	const struct comparison_lines *l;
};

static int compare_rows(const void *x, const void *y, void *ordering)
{
	const struct ordering *o = ordering;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	double a = fabs(number_of(o->v, o->s, o->l, i, o->v->by));
	double b = fabs(number_of(o->v, o->s, o->l, k, o->v->by));

	if (isgreater(a, b) || isgreater(b, a))
		return isgreater(b, a) ? 1 : -1;
	return i < k ? -1 : i > k;
}

static void sort_rows(struct sides_view *v, const struct scene *s, const struct comparison_lines *l)
{
	struct ordering o = { v, s, l };

	vec_clear(&v->order);
	for (uint32_t i = 0; l && i < l->n_rows; i++)
		vec_push(&v->order, i);
	if (v->order.n > 1)
		qsort_r(v->order.at, v->order.n, sizeof(*v->order.at), compare_rows, &o);
}

/* The axis of the alignment: a second of progress is a percent. */
static void fit_axis(struct sides_view *v, const struct scene *s, int cols)
{
	const struct comparison_time *t = s->analysis->sides_time;

	if (t && v->align >= comparison_time_alignments(t))
		v->align = ALIGN_START;
	v->graph.axis.percent = v->align == ALIGN_PROGRESS;
	time_axis_fit(&v->graph.axis, t ? comparison_time_length(t, v->align) : 1, cols);
	if (v->at_end)
		time_axis_go_to(&v->graph.axis, comparison_time_common_end(t, v->align));
}

static void sides_update(void *state, const struct scene *s)
{
	struct sides_view *v = state;

	fit_axis(v, s, v->graph.axis.cols);
}

/* The line of the table's titles; rows are below it. */
static int title_line(const struct sides_view *v)
{
	return sides_graph_end(&v->graph);
}

static void sides_layout(void *state, const struct scene *s, struct rect r)
{
	struct sides_view *v = state;

	if (r.rows <= 0 || r.cols <= 0)
		return;
	fit_axis(v, s, v->graph.axis.cols);
	sides_graph_layout(&v->graph, r);
	if (v->at_end)
		time_axis_go_to(&v->graph.axis,
				comparison_time_common_end(s->analysis->sides_time, v->align));
	sort_rows(v, s, lines_of(v, s));
	list_fit(&v->list, (uint32_t)v->order.n, r.rows - title_line(v) - 1);
}

/* "at 12.5 s", or "at 40 %" of progress. */
static const char *cursor_text(const struct sides_view *v, char out[FMT_SIZE + 4])
{
	const struct time_axis *t = &v->graph.axis;
	char number[FMT_SIZE];

	if (t->percent)
		snprintf(out, FMT_SIZE + 4, "%.1f %%", (double)t->cursor_ns / 1e9);
	else
		snprintf(out, FMT_SIZE + 4, "%s", time_axis_text(number, t->cursor_ns));
	return out;
}

/* "aligned by start", or by the name of a mark; the caller frees. */
static char *align_text(const struct sides_view *v, const struct scene *s)
{
	const struct comparison_time *t = s->analysis->sides_time;
	const char *name = t ? comparison_time_name(t, v->align) : "start";

	return v->align >= ALIGN_MARK ? xasprintf("aligned by mark '%s'", name)
				      : xasprintf("aligned by %s", name);
}

static void draw_summary(const struct sides_view *v, const struct scene *s,
			 const struct comparison_lines *l, struct canvas *c, struct rect r)
{
	char text[3][FMT_SIZE + 8], at[FMT_SIZE + 4], *align = align_text(v, s);
	uint32_t slot = (uint32_t)sides_graph_cursor(&v->graph);
	int col = r.col + 1, end = r.col + r.cols;
	bool brief = r.cols < BRIEF_COLS;

	col += canvas_puts(c, r.row, col, end - col, STYLE_HEADER_SORTED,
			   brief ? align + strlen("aligned ") : align);
	free(align);
	if (s->analysis->diff->normalise != NORMALISE_NONE)
		col += canvas_puts(c, r.row, col, end - col, STYLE_DIM,
				   is_equal_time(v, s) && !of_heap(s) ? ", sums at one length"
								      : ", as measured");
	if (!l || slot >= l->span.n)
		return;
	canvas_printf(c, r.row, col, end - col, STYLE_NORMAL, "%s%s %s → %s, Δ %s",
		      brief ? "" : " · at ", brief ? "" : cursor_text(v, at),
		      sides_graph_text(text[0], s, l, l->line[SIDE_BEFORE][slot], false),
		      sides_graph_text(text[1], s, l, l->line[SIDE_AFTER][slot], false),
		      sides_graph_text(text[2], s, l,
				       l->line[SIDE_AFTER][slot] - l->line[SIDE_BEFORE][slot],
				       true));
}

static enum unit unit_of(const struct scene *s, const struct comparison_lines *l)
{
	return l->heap ? UNIT_BYTES
		       : metric_unit(s->analysis->profile, s->analysis->lens.column[0].metric);
}

static const char *cell_text(char out[FMT_SIZE], const struct scene *s,
			     const struct comparison_lines *l, double value, enum sides_order of)
{
	if (isnan(value)) {
		snprintf(out, FMT_SIZE, "-");
		return out;
	}
	return of == BY_CHANGE ? fmt_change(out, value, unit_of(s, l))
			       : fmt_amount(out, value, unit_of(s, l));
}

/* Columns that the numbers and lines take. */
static int name_col(int cols)
{
	int col = 2;

	for (int i = 0; i < N_TABLE; i++)
		col += cols >= table[i].needs ? table[i].cols : 0;
	return col + 2 + (cols >= LINES_NEED ? 2 * (LINE_COLS + 1) + 1 : 0);
}

/* Columns of a number, on the narrowest of screens, too. */
static int cell_cols(int i, int cols)
{
	return table[i].cols < cols - 2 ? table[i].cols : cols > 2 ? cols - 2 : 0;
}

static void draw_titles(const struct sides_view *v, bool heap, struct canvas *c, struct rect r)
{
	int row = r.row + title_line(v), col = r.col + 2;

	if (title_line(v) >= r.rows)
		return;
	for (int i = 0; i < N_TABLE; i++) {
		if (r.cols < table[i].needs)
			continue;
		canvas_puts_right(c, row, col, cell_cols(i, r.cols),
				  v->by == table[i].of ? STYLE_HEADER_SORTED : STYLE_HEADER,
				  table[i].title);
		col += table[i].cols;
	}
	if (r.cols >= LINES_NEED)
		canvas_puts(c, row, col + 2, 2 * LINE_COLS, STYLE_HEADER, "BEFORE     AFTER");
	col = r.col + name_col(r.cols);
	canvas_puts(c, row, col, r.col + r.cols - col, STYLE_HEADER, heap ? "WHERE" : "THREAD");
}

/* Both lines of a row, on one scale. */
static void draw_row_lines(const struct comparison_lines *l, const struct sides_row *row,
			   struct canvas *c, int line, int col)
{
	int64_t *value = xcalloc(l->n_row_slots, sizeof(*value)), most = 1;

	for (int k = 0; k < N_SIDES; k++)
		for (uint32_t i = 0; i < l->n_row_slots; i++)
			most = row->line[k][i] > (double)most ? (int64_t)row->line[k][i] : most;
	for (int k = 0; k < N_SIDES; k++) {
		for (uint32_t i = 0; i < l->n_row_slots; i++)
			value[i] = (int64_t)row->line[k][i];
		canvas_spark(c, line, col + k * (LINE_COLS + 1), LINE_COLS, STYLE_SPARK, value,
			     l->n_row_slots, most);
	}
	free(value);
}

static bool matches(const struct scene *s, const struct sides_row *row)
{
	return s->search && search_matches(s->search, row->name, strlen(row->name));
}

static void draw_row(const struct sides_view *v, const struct scene *s,
		     const struct comparison_lines *l, struct canvas *c, struct rect r, int line,
		     uint32_t i)
{
	const struct sides_row *row = &l->row[v->order.at[i]];
	double change = number_of(v, s, l, v->order.at[i], BY_CHANGE);
	int at = r.row + line, col = r.col + 2;
	char text[FMT_SIZE];

	for (int k = 0; k < N_TABLE; k++) {
		uint16_t style = STYLE_NUMBER;

		if (r.cols < table[k].needs)
			continue;
		if (table[k].of == BY_CHANGE && !isnan(change) && change != 0)
			style = (change > 0 ? STYLE_WORSE : STYLE_BETTER) | STYLE_BOLD;
		canvas_puts_right(c, at, col, cell_cols(k, r.cols), style,
				  cell_text(text, s, l,
					    number_of(v, s, l, v->order.at[i], table[k].of),
					    table[k].of));
		col += table[k].cols;
	}
	if (r.cols >= LINES_NEED)
		draw_row_lines(l, row, c, at, col + 2);
}

static struct where_cell where_of(const struct scene *s, const struct sides_row *row, int line,
				  bool selected)
{
	return (struct where_cell){
		.line = line,
		.name = row->name,
		.behind = xstrdup(strcmp(row->of, row->name) != 0 ? row->of : ""),
		.style = (uint16_t)(STYLE_NORMAL | (selected ? STYLE_SELECTED : 0) |
				    (matches(s, row) ? STYLE_MATCH : 0)),
	};
}

static void draw_rows(const struct sides_view *v, const struct scene *s,
		      const struct comparison_lines *l, struct canvas *c, struct rect r, int top)
{
	struct where_cells where = { 0 };
	int marked = -1;

	for (int line = top; line < r.rows; line++) {
		uint32_t i = list_at(&v->list, line - top);

		if (i >= v->order.n)
			continue;
		draw_row(v, s, l, c, r, line, i);
		vec_push(&where, where_of(s, &l->row[v->order.at[i]], line, i == v->list.cursor));
		if (i == v->list.cursor)
			marked = line;
	}
	where_cells_draw(&where, s, c, r, name_col(r.cols));
	if (marked >= 0)
		row_draw_marker(c, r, marked);
}

static void sides_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct sides_view *v = state;
	const struct comparison_lines *l = lines_of(v, s);
	int top = title_line(v) + 1;

	if (r.rows <= 0 || r.cols <= 0)
		return;
	draw_summary(v, s, l, c, r);
	sides_graph_draw(&v->graph, s, l, c, r);
	if (l)
		draw_titles(v, l->heap, c, r);
	if (l)
		draw_rows(v, s, l, c, r, top);
}

static void say(struct effect *out, char *text)
{
	out->kind = EFFECT_MESSAGE;
	out->text = text;
}

static bool next_alignment(struct sides_view *v, const struct scene *s, struct effect *out)
{
	const struct comparison_time *t = s->analysis->sides_time;

	if (!t)
		return false;
	v->align = (v->align + 1) % comparison_time_alignments(t);
	v->at_end = true;
	time_axis_unmark(&v->graph.axis);
	fit_axis(v, s, v->graph.axis.cols);
	time_axis_unzoom(&v->graph.axis);
	say(out, align_text(v, s));
	return true;
}

/* Where the sides differ most. */
static bool go_to_peak(struct sides_view *v, const struct comparison_lines *l)
{
	double most = -1;
	int at = -1;

	for (uint32_t i = 0; l && i < l->span.n; i++) {
		double change = fabs(l->line[SIDE_AFTER][i] - l->line[SIDE_BEFORE][i]);

		if (change > most) {
			most = change;
			at = (int)i;
		}
	}
	if (at < 0)
		return false;
	time_axis_go(&v->graph.axis, at);
	v->at_end = false;
	return true;
}

/* A range of the axis is one of the recordings where both begin with it. */
static bool mark_range(struct sides_view *v, const struct scene *s, struct effect *out)
{
	const struct comparison_time *t = s->analysis->sides_time;
	bool same = t && v->align == ALIGN_START;

	for (uint32_t i = 0; same && i < t->n_runs[SIDE_BEFORE] + t->n_runs[SIDE_AFTER]; i++)
		same = t->run[i].begin_ns == 0;
	if (same) {
		row_effects_range(&v->graph.axis, out);
		return true;
	}
	time_axis_unmark(&v->graph.axis);
	say(out, xstrdup("a range is chosen where whole recordings are aligned by start"));
	return true;
}

/* The site's callers, or the threads of that name alone. */
static bool show_row(const struct sides_view *v, const struct scene *s, enum view_kind view,
		     struct effect *out)
{
	const struct comparison_lines *l = lines_of(v, s);
	const struct sides_row *row;

	if (!l || v->list.cursor >= v->order.n)
		return false;
	row = &l->row[v->order.at[v->list.cursor]];
	if (!l->heap)
		return row_effects_named_threads(s, row->real, row->n_real, view, out);
	out->kind = EFFECT_OPEN;
	out->view = VIEW_KIND_CALLERS;
	out->place = (struct place){ .key_id = row->key_id };
	return true;
}

static bool step_back(struct sides_view *v)
{
	if (v->graph.axis.a_ns != TIME_UNMARKED || v->graph.axis.b_ns != TIME_UNMARKED) {
		time_axis_unmark(&v->graph.axis);
		return true;
	}
	return time_axis_unzoom(&v->graph.axis);
}

static bool sides_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct sides_view *v = state;
	int64_t cursor = v->graph.axis.cursor_ns;
	bool done = list_act(&v->list, a) || time_axis_act(&v->graph.axis, a);

	if (v->graph.axis.cursor_ns != cursor)
		v->at_end = false;
	switch ((int)a) {
	case ACTION_MARK_A:
	case ACTION_MARK_B:
		return mark_range(v, s, out);
	case ACTION_ALIGN:
		return next_alignment(v, s, out);
	case ACTION_PEAK:
		return go_to_peak(v, lines_of(v, s));
	case ACTION_BACK:
		return step_back(v);
	case ACTION_SORT:
		v->by = (enum sides_order)((v->by + 1) % N_SIDES_ORDERS);
		return true;
	case ACTION_ENTER:
	case ACTION_TO_TREE:
		return show_row(v, s, VIEW_KIND_TREE, out);
	case ACTION_TO_CALLERS:
		return show_row(v, s, VIEW_KIND_CALLERS, out);
	case ACTION_TO_FLAME:
		return show_row(v, s, VIEW_KIND_FLAME, out);
	default:
		return done;
	}
}

static void sides_click(void *state, const struct scene *s, struct rect r, int row, int col,
			bool twice, struct effect *out)
{
	struct sides_view *v = state;
	int line = row - r.row - title_line(v) - 1;
	uint32_t i = list_at(&v->list, line);

	if (line < -1 && row > r.row && col >= r.col + v->graph.gutter) {
		time_axis_go(&v->graph.axis, col - r.col - v->graph.gutter);
		v->at_end = false;
	}
	if (i == UINT32_MAX)
		return;
	v->list.cursor = i;
	if (twice)
		show_row(v, s, VIEW_KIND_TREE, out);
}

static void sides_select(void *state, const struct scene *s, const struct place *p)
{
	struct sides_view *v = state;
	const struct comparison_lines *l = lines_of(v, s);

	for (uint32_t i = 0; l && p->key_id != ID_NONE && i < v->order.n; i++)
		if (l->row[v->order.at[i]].key_id == p->key_id)
			list_go(&v->list, i);
}

static bool sides_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct sides_view *v = state;
	const struct comparison_lines *l = lines_of(v, s);

	if (!l || !l->heap || v->list.cursor >= v->order.n)
		return false;
	*out = (struct place){ .key_id = l->row[v->order.at[v->list.cursor]].key_id };
	return true;
}

static uint32_t sides_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct sides_view *v = state;
	const struct comparison_lines *l = lines_of(v, s);
	struct match_cursor f;

	match_cursor_start(&f, v->list.cursor, step);
	for (uint32_t i = 0; l && i < v->order.n; i++)
		if (matches(s, &l->row[v->order.at[i]]))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes)
		list_go(&v->list, f.target);
	return f.n;
}

/* "+8.00 MB, from 4.00 MB to 12.0 MB  w  cache_insert". */
static char *sides_status(const void *state, const struct scene *s)
{
	const struct sides_view *v = state;
	const struct comparison_lines *l = lines_of(v, s);
	char change[FMT_SIZE], before[FMT_SIZE], after[FMT_SIZE], *name, *of, *out;
	const struct sides_row *row;
	uint32_t i;

	if (!l || v->list.cursor >= v->order.n)
		return NULL;
	i = v->order.at[v->list.cursor];
	row = &l->row[i];
	name = text_clean(row->name, strlen(row->name), false);
	of = text_clean(row->of, strlen(row->of), false);
	out = xasprintf("%s, from %s to %s  %s%s%s",
			cell_text(change, s, l, number_of(v, s, l, i, BY_CHANGE), BY_CHANGE),
			cell_text(before, s, l, number_of(v, s, l, i, BY_BEFORE), BY_BEFORE),
			cell_text(after, s, l, number_of(v, s, l, i, BY_AFTER), BY_AFTER), of,
			*of ? "  " : "", name);
	free(name);
	free(of);
	return out;
}

static void sides_position(const void *state, uint32_t *at, uint32_t *of)
{
	list_position(&((const struct sides_view *)state)->list, at, of);
}

/* The axis says what is in sight. */
static char *sides_crumb(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return NULL;
}

static bool memory_applies(const struct scene *s)
{
	return s->analysis->sides_time && of_heap(s);
}

static bool timeline_applies(const struct scene *s)
{
	return s->analysis->sides_time && !of_heap(s);
}

/* clang-format off */
#define SIDES_OPS \
	.new = sides_new, .free = sides_free, .update = sides_update, .layout = sides_layout, \
	.wish = sides_wish, .draw = sides_draw, .act = sides_act, .click = sides_click, \
	.select = sides_select, .selection = sides_selection, .find = sides_find, \
	.status = sides_status, .position = sides_position, .crumb = sides_crumb
/* clang-format on */

const struct view_ops view_memory_sides = {
	.name = "memory",
	.help = "bytes of both sides over time, their difference, and who makes it; v aligns them otherwise",
	.contexts = IN_LIST | IN_TIME | IN_MEMORY | IN_ALIGN,
	.applies = memory_applies,
	SIDES_OPS,
};

const struct view_ops view_timeline_sides = {
	.name = "timeline",
	.help = "how much went on on both sides when, the difference, and in which threads; v aligns them otherwise",
	.contexts = IN_TASKS | IN_TIME | IN_ALIGN,
	.applies = timeline_applies,
	SIDES_OPS,
};
