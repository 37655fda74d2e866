/* SPDX-License-Identifier: GPL-3.0-or-later */
/* threads: processes and their threads, what they cost and when they were busy. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/activity.h"
#include "query/analysis.h"
#include "query/core/ratio.h"
#include "query/diff/activity_pairs.h"
#include "tui/contract/view.h"
#include "tui/rows/row.h"
#include "tui/rows/row_change.h"
#include "tui/rows/row_sparkline.h"
#include "tui/views/thread_list.h"
#include "tui/views/thread_row.h"

/* Columns of activity over time, where there is room for it, and of a name. */
#define SPARK_MOST  64
#define SPARK_LEAST 8
#define NAME_LEAST  28
#define NAME_MOST   44
#define GAP_COLS    2

struct threads_view {
	struct thread_list threads;
	struct row_shape shape; /* as of the last layout */
	struct row_sparkline minute;
	int spark, spark_cols; /* where activity stands; 0 columns: nowhere */
};

static const struct row_wish wish = {
	.self = true, .samples = true, .share = true, .ratios = true
};

static const struct row_wish wish_narrow = { .self = true, .samples = true, .share = true };

static int top_line(struct rect r)
{
	return r.rows >= 3;
}

static void *threads_new(void)
{
	struct threads_view *v = xcalloc(1, sizeof(*v));

	thread_list_init(&v->threads);
	return v;
}

static void threads_free(void *state)
{
	free(state);
}

static void threads_update(void *state, const struct scene *s)
{
	thread_list_take(&((struct threads_view *)state)->threads, s, OVER_THREADS);
}

/* Beside activity, if there is room for both, else instead of it. */
static void place_minute(struct threads_view *v)
{
	const struct recent *recent = v->threads.activity->recent;

	row_sparkline_init(&v->minute, &v->shape, recent, MINUTE_BEFORE_NAME,
			   NAME_LEAST + GAP_COLS + SPARK_LEAST);
	if (v->minute.cols == 0)
		row_sparkline_init(&v->minute, &v->shape, recent, MINUTE_BEFORE_NAME, NAME_LEAST);
}

static void scale_bars(struct row_shape *sh, const struct activity_row *row)
{
	const int64_t *numbers = row->column ? row->column : &row->weight;
	const struct row_values values = { .self = numbers,
					   .total = numbers,
					   .n_samples = row->n_samples };

	row_shape_bars(sh, &values);
}

/* Numbers and names in so many columns, and activity where it has room. */
static void place_columns(struct threads_view *v, const struct scene *s, const struct row_wish *w,
			  int cols)
{
	struct row_shape *sh = &v->shape;
	int room, name;

	row_shape_init(sh, s, w, cols);
	if (v->threads.activity->pairs)
		sh->family = &v->threads.activity->pairs->family;
	place_minute(v);
	room = sh->name_cols - GAP_COLS;
	name = room * 2 / 5 > NAME_LEAST ? room * 2 / 5 : NAME_LEAST;
	name = name < NAME_MOST ? name : NAME_MOST;
	v->spark_cols = 0;
	if (v->threads.activity->slices && room - name >= SPARK_LEAST) {
		v->spark_cols = room - name < SPARK_MOST ? room - name : SPARK_MOST;
		v->spark = sh->name + name + GAP_COLS;
		sh->name_cols = name;
	}
}

static void threads_layout(void *state, const struct scene *s, struct rect r)
{
	struct threads_view *v = state;
	struct row_shape *sh = &v->shape;

	place_columns(v, s, &wish, r.cols);
	/* When threads were busy matters more than ratios, which the status line has of the selected row. */
	if (v->spark_cols == 0 && v->threads.activity->slices && s->analysis->lens.ratios)
		place_columns(v, s, &wish_narrow, r.cols);
	thread_list_fit(&v->threads, r.rows - top_line(r));
	row_shape_no_bars(sh);
	for (uint32_t i = 0; i < v->threads.activity->n_rows; i++)
		scale_bars(sh, thread_list_row(&v->threads, i));
}

/* What stands for a process has what all of its threads did, of which no others may be in sight. */
static void draw_minute(const struct threads_view *v, struct canvas *c, struct rect r, int line,
			const struct activity_row *row)
{
	struct recent_line l = recent_thread(v->threads.activity->recent, row->process,
					     row->is_process ? ID_NONE : row->thread);

	row_sparkline_draw(&v->minute, c, r, line, &l);
}

static void draw_row(const struct threads_view *v, const struct scene *s, struct canvas *c,
		     struct rect r, int line, uint32_t i)
{
	const struct activity_row *row = thread_list_row(&v->threads, i);
	const struct row_shape *sh = &v->shape;
	const int64_t *numbers = row->column ? row->column : &row->weight;
	struct row_values values = { .key = KEY_NONE, .self = numbers, .total = numbers };

	values.n_samples = row->n_samples;
	values.bar = STYLE_BAR;
	row_draw_numbers(sh, c, r, line, &values);
	thread_row_draw_name(s, row, c, r.row + line, r.col + sh->name, sh->name_cols,
			     i == v->threads.list.cursor ? STYLE_NORMAL | STYLE_SELECTED
							 : STYLE_NORMAL);
	if (v->minute.cols > 0)
		draw_minute(v, c, r, line, row);
	if (v->spark_cols > 0 && row->slice)
		canvas_spark(c, r.row + line, r.col + v->spark, v->spark_cols, STYLE_SPARK,
			     row->slice, v->threads.activity->n_slices,
			     row->thread == ID_NONE ? 0 : v->threads.activity->most);
	if (i == v->threads.list.cursor)
		row_draw_marker(c, r, line);
}

/* The span of the activity, above it. */
static void draw_span(const struct threads_view *v, struct canvas *c, struct rect r)
{
	char span[FMT_SIZE];

	if (v->spark_cols == 0)
		return;
	canvas_puts(c, r.row, r.col + v->spark, v->spark_cols, STYLE_HEADER, "ACTIVITY");
	if (v->spark_cols >= 20)
		canvas_puts_right(c, r.row, r.col + v->spark + 10, v->spark_cols - 10, STYLE_DIM,
				  fmt_ns(span, v->threads.activity->span_ns));
}

static void threads_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct threads_view *v = state;
	int top = top_line(r);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (top > 0) {
		row_draw_header(&v->shape, c, r, 0, 0, false, "PROCESS, THREAD", "");
		row_sparkline_draw_title(&v->minute, c, r, 0);
		draw_span(v, c, r);
	}
	if (v->threads.list.n == 0)
		thread_list_draw_nothing(&v->threads, c, r, s);
	for (int line = 0; line < r.rows - top; line++) {
		uint32_t i = list_at(&v->threads.list, line);

		if (i < v->threads.activity->n_rows)
			draw_row(v, s, c, r, line + top, i);
	}
}

static bool threads_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct threads_view *v = state;
	bool done = list_act(&v->threads.list, a);

	thread_list_moved(&v->threads);
	switch ((int)a) {
	case ACTION_SIDE_A:
	case ACTION_SIDE_B:
		return thread_row_side(s, thread_list_current(&v->threads), out);
	case ACTION_ENTER:
	case ACTION_TO_TREE:
		return thread_row_show(s, thread_list_current(&v->threads), VIEW_KIND_TREE, out);
	case ACTION_TO_CALLERS:
		return thread_row_show(s, thread_list_current(&v->threads), VIEW_KIND_CALLERS, out);
	case ACTION_TO_FLAME:
		return thread_row_show(s, thread_list_current(&v->threads), VIEW_KIND_FLAME, out);
	default:
		return done;
	}
}

static void threads_click(void *state, const struct scene *s, struct rect r, int row, int col,
			  bool twice, struct effect *out)
{
	struct threads_view *v = state;
	uint32_t i = list_at(&v->threads.list, row - r.row - top_line(r));

	(void)col;
	if (i == UINT32_MAX)
		return;
	v->threads.list.cursor = i;
	thread_list_moved(&v->threads);
	if (twice)
		thread_row_show(s, thread_list_row(&v->threads, i), VIEW_KIND_TREE, out);
}

static void threads_select(void *state, const struct scene *s, const struct place *p)
{
	struct threads_view *v = state;

	(void)s;
	thread_list_select(&v->threads, p);
}

static bool threads_selection(const void *state, const struct scene *s, struct place *out)
{
	(void)s;
	return thread_list_selection(&((const struct threads_view *)state)->threads, out);
}

static uint32_t threads_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	return thread_list_find(&((struct threads_view *)state)->threads, s, step, at);
}

/* A process whose name matches counts with all of its threads. */
static int64_t threads_found(const void *state, const struct scene *s)
{
	return thread_row_found(((const struct threads_view *)state)->threads.activity, s);
}

static char *threads_status(const void *state, const struct scene *s)
{
	const struct threads_view *v = state;
	const struct activity_row *row = thread_list_current(&v->threads);
	char share[FMT_SIZE], count[FMT_SIZE], detail[THREAD_ROW_DETAIL], *name, *ratios, *out;
	bool heap;

	if (!row)
		return NULL;
	thread_row_detail(s, row, detail);
	name = text_clean(row->name, strlen(row->name), false);
	if (s->analysis->diff) {
		out = row_change_say(s, &v->threads.activity->pairs->family, name, "", KEY_NONE,
				     PART_TOTAL, row->column);
		free(name);
		return out;
	}
	heap = metric_is_heap(s->analysis->profile, s->analysis->lens.column[0].metric);
	fmt_weight(count, (int64_t)row->n_samples, UNIT_COUNT, s->analysis->weights.sample_scale);
	ratios = row->column ? ratios_text(&s->analysis->lens, row->column, &s->analysis->weights)
			     : xstrdup("");
	out = xasprintf("%s  %s %s%s%s%s%s%s  %s",
			row_share(share, s, row->weight, s->analysis->weights.total[0]), count,
			metric_is_summed(s->analysis->profile, s->analysis->lens.column[0].metric)
				? "stack"
			: heap ? "block"
			       : "sample",
			strcmp(count, "1") == 0 ? "" : "s", *ratios ? "  " : "", ratios,
			*detail ? "  " : "", detail, name);
	free(ratios);
	free(name);
	return out;
}

static char *threads_crumb(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return NULL;
}

static void threads_position(const void *state, uint32_t *at, uint32_t *of)
{
	list_position(&((const struct threads_view *)state)->threads.list, at, of);
}

/* The whole of it, in as many slices as there may be columns. */
static bool threads_wish(const void *state, struct over_time_wish *out)
{
	(void)state;
	*out = (struct over_time_wish){ OVER_THREADS, { 0, INT64_MAX, SPARK_MOST, 0 } };
	return true;
}

const struct view_ops view_threads = {
	.name = "threads",
	.help = "processes and threads, and when they were busy; Enter shows the call tree of one alone",
	.contexts = IN_TASKS,
	.new = threads_new,
	.free = threads_free,
	.update = threads_update,
	.layout = threads_layout,
	.wish = threads_wish,
	.draw = threads_draw,
	.act = threads_act,
	.click = threads_click,
	.select = threads_select,
	.selection = threads_selection,
	.find = threads_find,
	.found = threads_found,
	.status = threads_status,
	.position = threads_position,
	.crumb = threads_crumb,
};
