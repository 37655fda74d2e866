/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heat: a heat map of time. Columns are periods, usually seconds, and down a column are the parts of its period, so
 * that what repeats, stalls or starts late within a second is seen at a glance. Two cells are the ends of a range of
 * time, which all views then show, as with A and B in the timeline.
 *
 * Cells are columns of one time axis: cell i of column c is column c * n_rows + i of it. So the range, its marks and
 * the cursor are those of time_axis.h, and each cell begins at a round time.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/heat_map.h"
#include "query/over_time.h"
#include "tui/canvas/glyphs.h"
#include "tui/contract/view.h"
#include "tui/rows/row.h"
#include "tui/rows/time_axis.h"
#include "tui/views/row_effects.h"

#define NS_PER_S ((int64_t)1000000000)

/* Columns of the times of rows, where there is room for them. */
#define GUTTER_COLS 8

/* A period is as wide as this at most. */
#define WIDTH_MOST 8

/* Columns that "far" goes. */
#define FAR_COLUMNS 10

/* Columns of the shades' samples in the legend. */
#define SHADE_COLS 2

struct heat_view {
	struct time_axis axis;
	struct heat_grid grid;
	const struct heat_map *map; /* the analysis'; NULL: on its way */
	int64_t length_ns;          /* of the recording, which ends within the axis */
	int64_t sample_ns;          /* see heat_sample_ns() */
	int64_t wanted_ns; /* as in the timeline: where the cursor goes; TIME_UNMARKED: stays */
	bool zoomed;       /* the period was chosen */
	bool moved;        /* so was the place of the cursor */
	bool at_end;       /* of live: the cursor is in the newest cell */
	int first;         /* column in sight on the left */
	int n_columns;     /* in sight */
	int width;         /* cells of the screen that a column takes */
	int gutter, head, foot; /* columns and lines around the map; 0: there is no room */
};

static void *heat_new(void)
{
	struct heat_view *v = xcalloc(1, sizeof(*v));

	time_axis_init(&v->axis);
	v->axis.exact = true;
	v->wanted_ns = 0;
	v->at_end = true;
	v->length_ns = 1;
	return v;
}

static void heat_free(void *state)
{
	free(state);
}

static bool has_times(const struct scene *s)
{
	return s->analysis->weights.begin_ns != TIME_NONE;
}

static bool is_shown(const struct scene *s)
{
	return s->view == VIEW_KIND_HEAT;
}

static bool heat_wish(const void *state, struct over_time_wish *out)
{
	const struct time_axis *t = &((const struct heat_view *)state)->axis;

	*out = (struct over_time_wish){ OVER_HEAT_MAP,
					{ t->from_ns, t->to_ns, (uint32_t)t->cols, 0 } };
	return t->to_ns - t->from_ns >= t->cols;
}

/* Shows n columns from one on. */
static void look_at(struct heat_view *v, int64_t first, int n)
{
	struct time_axis *t = &v->axis;
	int64_t last = (int64_t)v->grid.n_columns - n;

	first = first > last ? last : first;
	v->first = first > 0 ? (int)first : 0;
	v->n_columns = n;
	t->whole_ns = v->grid.period_ns * v->grid.n_columns;
	t->from_ns = v->grid.period_ns * v->first;
	t->to_ns = t->from_ns + v->grid.period_ns * n;
	t->cols = n * (int)v->grid.n_rows;
}

/* Puts the cursor on the cell of a time, and its column into sight. */
static void go_to(struct heat_view *v, int64_t ns)
{
	int64_t cell = heat_cell_ns(&v->grid), column;

	ns = ns < 0 ? 0 : ns >= v->length_ns ? v->length_ns - 1 : ns;
	column = ns / v->grid.period_ns;
	if (column < v->first)
		look_at(v, column, v->n_columns);
	else if (column >= v->first + v->n_columns)
		look_at(v, column - v->n_columns + 1, v->n_columns);
	v->axis.cursor_ns = ns - ns % cell;
	v->at_end = ns + cell >= v->length_ns;
}

static struct heat_limits limits_of(const struct heat_view *v, int cols, int rows)
{
	return (struct heat_limits){ .most_columns = (uint32_t)cols,
				     .most_rows = (uint32_t)rows,
				     .least_cell_ns = heat_least_cell(v->sample_ns) };
}

static void heat_layout(void *state, const struct scene *s, struct rect r)
{
	struct heat_view *v = state;
	struct heat_limits limits;
	int cols, rows, n;

	v->gutter = r.cols >= 40 ? GUTTER_COLS : 0;
	v->head = r.rows >= 3;
	v->foot = r.rows >= 3;
	cols = r.cols - v->gutter > 1 ? r.cols - v->gutter : 1;
	rows = r.rows - v->head - v->foot > 1 ? r.rows - v->head - v->foot : 1;
	limits = limits_of(v, cols, rows);
	if (v->zoomed)
		heat_grid_of(v->length_ns, v->grid.period_ns, &limits, &v->grid);
	else
		heat_grid_choose(v->length_ns, &limits, &v->grid);
	n = v->grid.n_columns < (uint32_t)cols ? (int)v->grid.n_columns : cols;
	v->width = cols / n < WIDTH_MOST ? cols / n : WIDTH_MOST;
	look_at(v, v->axis.from_ns / v->grid.period_ns, n);
	go_to(v, v->wanted_ns != TIME_UNMARKED ? v->wanted_ns
		 : s->live && v->at_end        ? v->length_ns - 1
					       : v->axis.cursor_ns);
	v->wanted_ns = TIME_UNMARKED;
}

/* Of the cell that begins at a time. False: it is not known yet. */
static bool value_at(const struct heat_view *v, int64_t from_ns, int64_t *out)
{
	const struct heat_map *m = v->map;
	int64_t cell = heat_cell_ns(&v->grid);

	if (!m || !m->cell || from_ns < m->span.from_ns || from_ns >= m->span.to_ns ||
	    (m->span.to_ns - m->span.from_ns) / m->span.n != cell)
		return false;
	*out = m->cell[(from_ns - m->span.from_ns) / cell];
	return true;
}

/* A shade by its density, which says the same without colours. */
static uint32_t density(const struct canvas *c, int level)
{
	static const uint32_t shades[] = { GLYPH_SHADE_1, GLYPH_SHADE_1, GLYPH_SHADE_2,
					   GLYPH_SHADE_2, GLYPH_SHADE_3, GLYPH_SHADE_3,
					   GLYPH_BLOCK,   GLYPH_BLOCK };
	static const uint32_t ascii[] = { GLYPH_LEVEL_1, GLYPH_LEVEL_2, GLYPH_LEVEL_3,
					  GLYPH_LEVEL_4, GLYPH_LEVEL_5, GLYPH_LEVEL_6,
					  GLYPH_LEVEL_7, GLYPH_BLOCK };

	return c->ascii ? ascii[level - 1] : shades[level - 1];
}

static void draw_level(struct canvas *c, int row, int col, int cols, int level, bool inside)
{
	if (level == 0)
		canvas_fill(c, row, col, cols, STYLE_DIM, c->ascii ? ' ' : GLYPH_DOT);
	else if (!inside)
		canvas_fill(c, row, col, cols, STYLE_DIM, density(c, level));
	else
		canvas_fill(c, row, col, cols,
			    (uint16_t)(STYLE_HEAT_1 + level - 1 + (c->mono ? (int)STYLE_BOLD : 0)),
			    density(c, level));
}

static void draw_cell(const struct heat_view *v, struct canvas *c, int row, int col, int64_t from,
		      bool on_screen)
{
	int64_t to = from + heat_cell_ns(&v->grid), a = v->axis.a_ns, b = v->axis.b_ns, value;
	bool whole = a != TIME_UNMARKED && b != TIME_UNMARKED;
	bool is_a = a != TIME_UNMARKED && a >= from && a < to;
	bool is_b = b != TIME_UNMARKED && b > from && b <= to;
	uint16_t style;

	if (from >= v->length_ns)
		return;
	if (value_at(v, from, &value))
		draw_level(c, row, col, v->width, heat_level(value, v->map->most),
			   !whole || (to > a && from < b));
	if (is_a || is_b)
		canvas_puts(c, row, col, 1, STYLE_HEADER_SORTED, is_a ? "A" : "B");
	if (from != v->axis.cursor_ns || !on_screen)
		return;
	style = STYLE_NORMAL | STYLE_SELECTED;
	canvas_fill(c, row, col, v->width, style, ' ');
	canvas_fill(c, row, col, 1, style, is_a ? 'A' : is_b ? 'B' : GLYPH_TIMES);
}

/* A round length of time: "1 s", "62.5 ms". */
static const char *length_text(char out[FMT_SIZE + 4], int64_t ns)
{
	static const struct {
		int64_t scale;
		const char *unit;
	} units[] = { { NS_PER_S, "s" }, { 1000000, "ms" }, { 1000, "µs" }, { 1, "ns" } };
	char number[FMT_SIZE];
	size_t i = 0;

	if (ns >= 60 * NS_PER_S) {
		fmt_ns(out, ns);
		return out;
	}
	while (i < 3 && ns != 0 && ns < units[i].scale)
		i++;
	snprintf(out, FMT_SIZE + 4, "%s %s", fmt_exact(number, ns, units[i].scale), units[i].unit);
	return out;
}

/* When in its period a row begins: at its start, and at round parts that have room. */
static void draw_row_time(const struct heat_view *v, struct canvas *c, struct rect r, uint32_t i)
{
	static const uint32_t parts[] = { 4, 5, 2, 1 };
	char text[FMT_SIZE + 4];
	size_t k = 0;

	while (v->grid.n_rows % parts[k] != 0 || (k < 3 && v->grid.n_rows / parts[k] < 2))
		k++;
	if (v->gutter > 0 && i % (v->grid.n_rows / parts[k]) == 0)
		canvas_puts_right(c, r.row + v->head + (int)i, r.col, v->gutter - 1, STYLE_DIM,
				  length_text(text, heat_cell_ns(&v->grid) * (int64_t)i));
}

/* "0.9 ± 0.1 CPUs": what a cell's value is in the time that it lasts. */
static void rate_text(const struct heat_view *v, const struct scene *s, int64_t value,
		      char out[ROW_RATE_SIZE])
{
	int64_t cell = heat_cell_ns(&v->grid), scale;
	enum unit unit;

	row_unit(s, 0, &unit, &scale);
	row_rate(s, value, heat_margin(value, scale, cell, v->sample_ns), cell, out);
}

/* "1 s down a column, 40 ms a cell", and what shades mean. */
static void draw_head(const struct heat_view *v, const struct scene *s, struct canvas *c,
		      struct rect r)
{
	char period[FMT_SIZE + 4], cell[FMT_SIZE + 4], most[ROW_RATE_SIZE];
	int col = r.col, left, need;

	length_text(period, v->grid.period_ns);
	length_text(cell, heat_cell_ns(&v->grid));
	rate_text(v, s, v->map ? v->map->most : 0, most);
	left = canvas_printf(c, r.row, col, r.cols, STYLE_DIM,
			     r.cols >= 70 ? "%s down a column, %s a cell" : "%s / %s", period,
			     cell);
	need = 2 + SHADE_COLS * HEAT_LEVELS + 1 + (int)text_width(most, strlen(most));
	if (left + 2 + need > r.cols || !v->map)
		return;
	col = r.col + r.cols - need;
	canvas_puts(c, r.row, col, 1, STYLE_NUMBER, "0");
	for (int level = 1; level <= HEAT_LEVELS; level++)
		draw_level(c, r.row, col + 2 + (level - 1) * SHADE_COLS, SHADE_COLS, level, true);
	canvas_puts_right(c, r.row, col, need, STYLE_NUMBER, most);
}

static void draw_axis(const struct heat_view *v, const struct scene *s, struct canvas *c, int row,
		      int col)
{
	struct time_axis t = v->axis;

	t.cols = v->n_columns * v->width;
	if (!is_shown(s))
		t.cursor_ns = -1;
	time_axis_draw(&t, c, row, col, s->side_a);
}

/* Why there is no map; NULL: there is one, or soon. */
static const char *why_not(const struct scene *s)
{
	if (s->analysis->diff)
		return "a heat map is of one recording, not of a comparison: 7 shows both sides over time";
	if (s->analysis->counts.n_samples > 0 && !has_times(s))
		return "these samples have no times";
	return NULL;
}

static void heat_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct heat_view *v = state;
	int64_t cell = heat_cell_ns(&v->grid);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (why_not(s)) {
		canvas_put_lines(c, r.row + r.rows / 3, r.col + 2, r.cols - 2, r.rows - r.rows / 3,
				 STYLE_DIM, why_not(s));
		return;
	}
	if (!has_times(s) ||
	    (v->map && v->map->most == 0 && !filter_n_terms(s->analysis->lens.filter))) {
		row_draw_nothing(c, r, s);
		return;
	}
	if (v->head)
		draw_head(v, s, c, r);
	for (uint32_t i = 0; i < v->grid.n_rows; i++) {
		draw_row_time(v, c, r, i);
		for (int k = 0; k < v->n_columns; k++)
			draw_cell(v, c, r.row + v->head + (int)i, r.col + v->gutter + k * v->width,
				  v->axis.from_ns + v->grid.period_ns * k + cell * (int64_t)i,
				  is_shown(s));
	}
	if (v->foot)
		draw_axis(v, s, c, r.row + v->head + (int)v->grid.n_rows, r.col + v->gutter);
}

static bool go_to_peak(struct heat_view *v)
{
	const struct heat_map *m = v->map;
	uint32_t at = 0;

	if (!m || !m->cell || m->most == 0)
		return false;
	while (m->cell[at] < m->most)
		at++;
	go_to(v, m->span.from_ns + (m->span.to_ns - m->span.from_ns) / m->span.n * at);
	return true;
}

/* What is filtered may begin late: until the cursor is moved it is where something is. */
static void start_where_something_is(struct heat_view *v)
{
	int64_t cell, from, value;

	/* a map may be there before the first layout */
	if (v->grid.n_rows == 0)
		return;
	cell = heat_cell_ns(&v->grid);
	from = v->axis.cursor_ns - v->axis.cursor_ns % v->grid.period_ns;
	for (uint32_t i = 0; i < v->grid.n_rows; i++)
		if (!value_at(v, from + cell * (int64_t)i, &value) || value > 0)
			return;
	go_to_peak(v);
}

static void heat_update(void *state, const struct scene *s)
{
	struct heat_view *v = state;
	const struct weights *w = &s->analysis->weights;
	const struct over_time *made = s->analysis->over[OVER_HEAT_MAP];
	int64_t whole = has_times(s) ? w->end_ns - w->begin_ns : 0;

	v->map = made ? made->heat_map : NULL;
	v->length_ns = whole < 0 || whole >= HEAT_WHOLE_MOST ? HEAT_WHOLE_MOST : whole + 1;
	v->sample_ns = heat_sample_ns(s->analysis);
	time_axis_follow(&v->axis, s->windowed ? NULL : s->analysis->lens.filter, v->length_ns,
			 &v->wanted_ns);
	if (!v->moved && !s->live)
		start_where_something_is(v);
}

static bool zoom(struct heat_view *v, bool in, struct effect *out)
{
	struct heat_limits limits = limits_of(v, v->n_columns, (int)v->grid.n_rows);
	char sample[FMT_SIZE];

	if (!heat_grid_zoom(v->length_ns, in, &limits, &v->grid)) {
		if (!in || v->sample_ns == 0)
			return false;
		out->kind = EFFECT_MESSAGE;
		out->text = xasprintf(
			"a sample stands for %s here: shorter cells would show chance, not load",
			fmt_ns(sample, v->sample_ns));
		return true;
	}
	/* the next layout knows how many rows there are room for */
	v->zoomed = true;
	v->wanted_ns = v->axis.cursor_ns;
	return true;
}

/* A single mark goes, then the period. */
static bool step_back(struct heat_view *v)
{
	int64_t from, to;

	if ((v->axis.a_ns != TIME_UNMARKED || v->axis.b_ns != TIME_UNMARKED) &&
	    !time_axis_range(&v->axis, &from, &to)) {
		time_axis_unmark(&v->axis);
		return true;
	}
	if (!v->zoomed)
		return false;
	v->zoomed = false;
	v->wanted_ns = v->axis.cursor_ns;
	return true;
}

/* The frames of the range, or of the cursor's cell where none is chosen. */
static void show_frames(const struct heat_view *v, const struct scene *s, enum view_kind view,
			struct effect *out)
{
	int64_t from, to;

	out->view = view;
	out->place = (struct place){ .key_id = ID_NONE };
	out->kind = EFFECT_OPEN;
	if (time_axis_range(&v->axis, &from, &to))
		return;
	out->kind = EFFECT_FILTER;
	out->grouping = s->analysis->lens.grouping;
	out->text = time_axis_term(v->axis.cursor_ns, v->axis.cursor_ns + heat_cell_ns(&v->grid));
}

static int64_t far_step(const struct heat_view *v)
{
	return v->grid.period_ns < v->length_ns / FAR_COLUMNS ? v->grid.period_ns * FAR_COLUMNS
							      : v->length_ns;
}

static int64_t step_of(const struct heat_view *v, enum action a)
{
	int64_t cell = heat_cell_ns(&v->grid), period = v->grid.period_ns;

	switch ((int)a) {
	case ACTION_DOWN:
		return cell;
	case ACTION_UP:
		return -cell;
	case ACTION_RIGHT:
		return period;
	case ACTION_LEFT:
		return -period;
	case ACTION_FAR_RIGHT:
		return far_step(v);
	case ACTION_FAR_LEFT:
		return -far_step(v);
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		return period * v->n_columns / (a == ACTION_HALF_DOWN ? 2 : 1);
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		return -(period * v->n_columns / (a == ACTION_HALF_UP ? 2 : 1));
	case ACTION_FIRST:
		return -v->length_ns;
	case ACTION_LAST:
		return v->length_ns;
	default:
		return 0;
	}
}

/* A on the cell that it has just marked takes all of its column: this second alone, wherever in it the cursor is. */
static void mark(struct heat_view *v, enum action a, struct effect *out)
{
	struct time_axis *t = &v->axis;
	char length[FMT_SIZE + 4], *more;

	if (a == ACTION_MARK_A && t->a_ns == t->cursor_ns && t->b_ns == TIME_UNMARKED) {
		t->a_ns -= t->a_ns % v->grid.period_ns;
		t->b_ns = t->a_ns + v->grid.period_ns;
		if (t->b_ns > v->length_ns)
			t->b_ns = v->length_ns;
	} else {
		time_axis_act(t, a);
	}
	row_effects_range(t, out);
	if (out->kind != EFFECT_MESSAGE || a != ACTION_MARK_A)
		return;
	more = xasprintf("%s; A again takes the column, %s", out->text,
			 length_text(length, v->grid.period_ns));
	free(out->text);
	out->text = more;
}

static bool heat_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct heat_view *v = state;
	int64_t step = step_of(v, a);

	if (why_not(s) || !has_times(s))
		return false;
	v->moved = true;
	if (step != 0) {
		go_to(v, v->axis.cursor_ns + step);
		return true;
	}
	switch ((int)a) {
	case ACTION_MARK_A:
	case ACTION_MARK_B:
		mark(v, a, out);
		return true;
	case ACTION_SIDE_A:
	case ACTION_SIDE_B:
		row_effects_side_range(&v->axis, out);
		return true;
	case ACTION_ZOOM_IN:
	case ACTION_ZOOM_OUT:
		return zoom(v, a == ACTION_ZOOM_IN, out);
	case ACTION_PEAK:
		return go_to_peak(v);
	case ACTION_BACK:
		return step_back(v);
	case ACTION_ENTER:
	case ACTION_TO_FLAME:
		show_frames(v, s, VIEW_KIND_FLAME, out);
		return true;
	case ACTION_TO_TREE:
		show_frames(v, s, VIEW_KIND_TREE, out);
		return true;
	case ACTION_TO_CALLERS:
		show_frames(v, s, VIEW_KIND_CALLERS, out);
		return true;
	default:
		return false;
	}
}

/* The cell at a place of the screen, as column of the axis; false outside of the map. */
static bool cell_at(const struct heat_view *v, struct rect r, struct cell_at at, int *out)
{
	int row = at.row - r.row - v->head, col = at.col - r.col - v->gutter;

	if (row < 0 || row >= (int)v->grid.n_rows || col < 0 || col / v->width >= v->n_columns)
		return false;
	*out = col / v->width * (int)v->grid.n_rows + row;
	return time_axis_at(&v->axis, *out) < v->length_ns;
}

static void heat_click(void *state, const struct scene *s, struct rect r, int row, int col,
		       bool twice, struct effect *out)
{
	struct heat_view *v = state;
	int cell;

	if (why_not(s) || !has_times(s) || !cell_at(v, r, (struct cell_at){ row, col }, &cell))
		return;
	v->moved = true;
	go_to(v, time_axis_at(&v->axis, cell));
	if (twice)
		show_frames(v, s, VIEW_KIND_FLAME, out);
}

static void heat_drag(void *state, const struct scene *s, struct rect r, struct cell_at from,
		      struct cell_at to, struct effect *out)
{
	struct heat_view *v = state;
	int first, last;

	if (why_not(s) || !has_times(s) || !cell_at(v, r, from, &first) ||
	    !cell_at(v, r, to, &last) || first == last)
		return;
	time_axis_mark(&v->axis, first, last);
	row_effects_range(&v->axis, out);
}

static void heat_select(void *state, const struct scene *s, const struct place *p)
{
	(void)state;
	(void)s;
	(void)p;
}

static bool heat_selection(const void *state, const struct scene *s, struct place *out)
{
	(void)state;
	(void)s;
	(void)out;
	return false;
}

/* There are no names here. */
static uint32_t heat_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	(void)state;
	(void)s;
	(void)step;
	*at = 0;
	return 0;
}

/* "12.04 s – 12.08 s: 36.0 ms, 0.9 ± 0.1 CPUs": the cursor's cell. */
static char *heat_status(const void *state, const struct scene *s)
{
	const struct heat_view *v = state;
	int64_t from = v->axis.cursor_ns, to = from + heat_cell_ns(&v->grid), value;
	char begin[FMT_SIZE], end[FMT_SIZE], amount[FMT_SIZE], rate[ROW_RATE_SIZE];
	struct scene in_units = *s;

	if (why_not(s) || !has_times(s) || !value_at(v, from, &value))
		return NULL;
	in_units.percent = false;
	rate_text(v, s, value, rate);
	row_share(amount, &in_units, value, 0);
	return xasprintf("%s s – %s s: %s%s%s", fmt_exact(begin, from, NS_PER_S),
			 fmt_exact(end, to, NS_PER_S), amount,
			 strcmp(amount, rate) == 0 ? "" : ", ",
			 strcmp(amount, rate) == 0 ? "" : rate);
}

static char *heat_crumb(const void *state, const struct scene *s)
{
	const struct heat_view *v = state;
	char from[FMT_SIZE], to[FMT_SIZE];

	(void)s;
	if ((uint32_t)v->n_columns >= v->grid.n_columns)
		return NULL;
	return xasprintf("%s – %s", time_axis_text(from, v->axis.from_ns),
			 time_axis_text(to, v->axis.to_ns));
}

const struct view_ops view_heat = {
	.name = "heat",
	.help = "a heat map: each column is a stretch of time, and down it are the parts of that; A and B choose the time that all views show",
	.contexts = IN_TIME | IN_HEAT,
	.applies = is_shown,
	.new = heat_new,
	.free = heat_free,
	.update = heat_update,
	.layout = heat_layout,
	.wish = heat_wish,
	.draw = heat_draw,
	.act = heat_act,
	.click = heat_click,
	.drag = heat_drag,
	.select = heat_select,
	.selection = heat_selection,
	.find = heat_find,
	.status = heat_status,
	.crumb = heat_crumb,
};
