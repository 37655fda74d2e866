/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline: how much was going on when, and in which threads; where the range of time is chosen that all
 * views show.
 *
 * The graph and the threads below it share one axis. What stands there is of any time, whatever range
 * is chosen, so that another one can be; the range is what the filter says, and a mark without its
 * other end is ours alone.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/activity.h"
#include "query/activity_lanes.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/contract/view.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/name_set.h"
#include "tui/rows/row.h"
#include "tui/rows/time_axis.h"
#include "tui/views/row_effects.h"
#include "tui/views/thread_list.h"
#include "tui/views/thread_row.h"

/* Rows of the graph beside many threads: at most so many, and one in GRAPH_PART. */
#define GRAPH_MOST 8
#define GRAPH_PART 3

/* Columns of a thread's share, "100.0", with the marker in front of it. */
#define SHARE_COLS 9

/* Views that are narrower have no room for shares. */
#define SHARES_NEED 70

/* "999.9 CPUs" and a blank. */
#define GUTTER_LEAST 11

/* Rows and columns that leave room for the names of functions, and columns that one of those has. */
#define LEGEND_ROWS 5
#define LEGEND_COLS 60
#define LEGEND_NAME 10

struct timeline_view {
	struct time_axis axis;
	int64_t wanted_ns; /* where the cursor goes when there are columns for it; TIME_UNMARKED: stays */
	/* of what is in sight, a slice a column, as soon as that is made */
	struct thread_list threads;
	bool at_end;  /* of live: the cursor is where the newest is, and stays there */
	int64_t *sum; /* [n_slices] of all threads; NULL: no times; owned */
	int gutter;   /* columns on the left of the axis */
	int share;    /* those of the marker, and of threads' shares where there is room for them */
	int cols;     /* of the last layout */
	int graph;    /* rows of the graph */
	int legend;   /* lines for the names of functions: 1, or 0 */
	bool letters; /* rows say what ran, not how much */
};

static void *timeline_new(void)
{
	struct timeline_view *v = xcalloc(1, sizeof(*v));

	time_axis_init(&v->axis);
	v->wanted_ns = TIME_UNMARKED;
	v->at_end = true;
	thread_list_init(&v->threads);
	return v;
}

static void timeline_free(void *state)
{
	struct timeline_view *v = state;

	if (!v)
		return;
	free(v->sum);
	free(v);
}

static bool has_times(const struct scene *s)
{
	return s->analysis->weights.begin_ns != TIME_NONE;
}

static bool is_heap(const struct scene *s)
{
	return metric_is_heap(s->analysis->profile, s->analysis->lens.column[0].metric);
}

/* Of which time slices are; only where there are any. */
static const struct time_span *span_of(const struct timeline_view *v)
{
	return &v->threads.made->wish.span;
}

/* The slice that stands in a column: its own, or one of what was in sight before; UINT32_MAX: none. */
static uint32_t slice_at(const struct timeline_view *v, int col)
{
	const struct time_span *of = span_of(v);
	int64_t at = time_axis_at(&v->axis, col);
	__int128 slice;

	if (v->axis.from_ns == of->from_ns && v->axis.to_ns == of->to_ns &&
	    v->axis.cols == (int)of->n)
		return (uint32_t)col < of->n ? (uint32_t)col : UINT32_MAX;
	if (at < of->from_ns || at >= of->to_ns)
		return UINT32_MAX;
	slice = (__int128)(at - of->from_ns) * of->n / (of->to_ns - of->from_ns);
	return (uint32_t)slice;
}

static int64_t in_column(const struct timeline_view *v, const int64_t *slices, int col)
{
	uint32_t slice = slices ? slice_at(v, col) : UINT32_MAX;

	return slice != UINT32_MAX ? slices[slice] : 0;
}

static void sum_up(struct timeline_view *v)
{
	free(v->sum);
	v->sum = NULL;
	if (!v->threads.activity->slices)
		return;
	v->sum = xcalloc(v->threads.activity->n_slices, sizeof(*v->sum));
	for (uint32_t i = 0; i < v->threads.activity->n_rows; i++) {
		const struct activity_row *row = thread_list_row(&v->threads, i);

		if (activity_is_sum(row))
			continue;
		for (uint32_t k = 0; k < v->threads.activity->n_slices; k++)
			v->sum[k] += row->slice[k];
	}
}

static void timeline_update(void *state, const struct scene *s)
{
	struct timeline_view *v = state;
	const struct weights *w = &s->analysis->weights;
	int64_t whole = has_times(s) ? w->end_ns - w->begin_ns : 0;

	thread_list_take(&v->threads, s, OVER_TIMELINE);
	sum_up(v);
	time_axis_fit(&v->axis, whole < INT64_MAX ? whole + 1 : whole, v->axis.cols);
	time_axis_follow(&v->axis, s->windowed ? NULL : s->analysis->lens.filter, v->axis.whole_ns,
			 &v->wanted_ns);
}

static bool timeline_wish(const void *state, struct over_time_wish *out)
{
	const struct time_axis *t = &((const struct timeline_view *)state)->axis;

	*out = (struct over_time_wish){ OVER_TIMELINE,
					{ t->from_ns, t->to_ns, (uint32_t)t->cols, 0 } };
	return t->cols > 0;
}

/* The line of the axis. */
static int axis_line(const struct timeline_view *v)
{
	return v->graph;
}

/* The first line of threads: below the axis and the names of what they ran. */
static int rows_line(const struct timeline_view *v)
{
	return axis_line(v) + 1 + v->legend;
}

/* What threads ran, or NULL. */
static const struct activity_lanes *lanes_of(const struct timeline_view *v)
{
	const struct activity_lanes *l = v->threads.made ? v->threads.made->lanes : NULL;

	return l && l->n > 0 ? l : NULL;
}

/* A part of the rows, and what few threads leave free of half of them. */
static int graph_rows(int rows, uint32_t n_threads)
{
	int part = rows / GRAPH_PART > GRAPH_MOST ? GRAPH_MOST : rows / GRAPH_PART;
	int left = n_threads < (uint32_t)rows ? rows - 1 - (int)n_threads : 0;

	if (left > rows / 2)
		left = rows / 2;
	if (left > part)
		part = left;
	return part > 1 ? part : 1;
}

static void note_end(struct timeline_view *v)
{
	v->at_end = time_axis_at(&v->axis, time_axis_col(&v->axis, v->axis.cursor_ns) + 1) >=
		    v->axis.whole_ns;
}

/* What names and titles need of the columns left of the axis: the rest is better spent on time. */
static int wanted_gutter(const struct scene *s, int most)
{
	char *metric = metric_name(s->analysis->profile, s->analysis->lens.column[0].metric);
	int want = (int)text_width(metric, strlen(metric)) + 1, indent;

	free(metric);
	indent = s->analysis->counts.n_threads > s->analysis->counts.n_processes ? THREAD_ROW_INDENT
										 : 0;
	want = want > GUTTER_LEAST ? want : GUTTER_LEAST;
	/* Of all threads, in sight or not: else it would change with the zoom. */
	for (uint32_t i = 0; i < s->analysis->counts.n_threads && want < most; i++) {
		const struct thread *t = profile_thread(s->analysis->profile, (thread_id){ i });
		const struct process *of = profile_process(s->analysis->profile, t->process);
		size_t len;
		const char *name = profile_string(s->analysis->profile, t->name, &len);
		int32_t id = t->tid > of->pid ? t->tid : of->pid;
		int cols = SHARE_COLS + indent + (int)text_width(name, len);

		if (id >= 0 && !s->analysis->diff)
			cols += snprintf(NULL, 0, "  %d", (int)id);
		want = cols + 1 > want ? cols + 1 : want;
	}
	return want < most ? want : most;
}

/* The least that names need; in live, where threads come, it only grows. */
static void fit_gutter(struct timeline_view *v, const struct scene *s, int cols)
{
	int most = cols >= 100 ? 32 : cols >= SHARES_NEED ? 22 : cols >= 40 ? 14 : 0;
	int want = cols >= SHARES_NEED ? wanted_gutter(s, most) : most;

	if (!s->live || cols != v->cols || want > v->gutter)
		v->gutter = want;
	v->cols = cols;
	v->share = cols >= SHARES_NEED ? SHARE_COLS : most > 0 ? 2 : 0;
}

static void timeline_layout(void *state, const struct scene *s, struct rect r)
{
	struct timeline_view *v = state;

	fit_gutter(v, s, r.cols);
	time_axis_fit(&v->axis, v->axis.whole_ns, r.cols - v->gutter);
	if (v->wanted_ns != TIME_UNMARKED)
		time_axis_go_to(&v->axis, v->wanted_ns);
	else if (s->live && v->at_end)
		time_axis_go_to(&v->axis, v->axis.whole_ns - 1);
	note_end(v);
	v->wanted_ns = TIME_UNMARKED;
	v->graph = graph_rows(r.rows, v->threads.activity->n_rows);
	v->legend = lanes_of(v) && r.rows - axis_line(v) >= LEGEND_ROWS && r.cols >= LEGEND_COLS;
	thread_list_fit(&v->threads, r.rows - rows_line(v));
}

/* What a column of the graph reached. */
static void rate_text(const struct timeline_view *v, const struct scene *s, int64_t weight,
		      char out[ROW_RATE_SIZE])
{
	const struct time_span *of = span_of(v);

	row_rate(s, weight, 0, (of->to_ns - of->from_ns) / of->n, out);
}

static int64_t most_of(const struct timeline_view *v)
{
	int64_t most = 0;

	for (uint32_t i = 0; v->sum && i < v->threads.activity->n_slices; i++)
		most = v->sum[i] > most ? v->sum[i] : most;
	return most;
}

static bool in_range(const struct timeline_view *v, int col)
{
	int64_t from, to, at = time_axis_at(&v->axis, col);

	return time_axis_range(&v->axis, &from, &to) && time_axis_at(&v->axis, col + 1) > from &&
	       at < to;
}

static void draw_column(const struct timeline_view *v, struct canvas *c, struct rect r, int col,
			int64_t most)
{
	uint16_t style = in_range(v, col) ? STYLE_SPARK_RANGE : STYLE_SPARK;

	if (col == time_axis_col(&v->axis, v->axis.cursor_ns))
		style |= STYLE_SELECTED;
	canvas_column(c, r.row, r.col + v->gutter + col, v->graph, style, in_column(v, v->sum, col),
		      most);
}

static void draw_graph(const struct timeline_view *v, const struct scene *s, struct canvas *c,
		       struct rect r)
{
	char text[ROW_RATE_SIZE], *metric;
	int64_t most = most_of(v);

	for (int col = 0; col < v->axis.cols && r.rows > v->graph; col++)
		draw_column(v, c, r, col, most);
	if (v->gutter < 4 || r.rows <= v->graph)
		return;
	rate_text(v, s, most, text);
	canvas_puts_right(c, r.row, r.col, v->gutter - 1, STYLE_NUMBER, text);
	if (v->graph < 3)
		return;
	metric = metric_name(s->analysis->profile, s->analysis->lens.column[0].metric);
	canvas_puts_right(c, r.row + 1, r.col, v->gutter - 1, STYLE_DIM, metric);
	canvas_puts_right(c, r.row + v->graph - 1, r.col, v->gutter - 1, STYLE_NUMBER, "0");
	free(metric);
}

static void draw_slices(const struct timeline_view *v, const struct activity_row *row,
			struct canvas *c, int line, int col)
{
	int64_t *value = xcalloc((size_t)v->axis.cols, sizeof(*value));

	for (int i = 0; i < v->axis.cols; i++)
		value[i] = in_column(v, row->slice, i);
	canvas_spark(c, line, col, v->axis.cols, STYLE_SPARK, value, (size_t)v->axis.cols,
		     row->thread == ID_NONE ? 0 : v->threads.activity->most);
	free(value);
}

/*
 * What ran there: the function's colour, and its letter instead of how much it was. A process of several threads has no
 * colours, as theirs are below it, and each change of colour is sent to the terminal.
 */
static void draw_lanes(const struct timeline_view *v, struct canvas *c, int line, int col,
		       uint32_t row)
{
	bool is_sum = activity_is_sum(thread_list_row(&v->threads, row));
	const struct activity_lanes *l = lanes_of(v);
	enum style style = STYLE_SPARK;
	bool ranged = time_axis_range(&v->axis, &(int64_t){ 0 }, &(int64_t){ 0 });

	for (int i = 0; l && i < v->axis.cols; i++) {
		uint32_t slice = slice_at(v, i);
		uint8_t which = slice < l->n_slices ? l->of[(size_t)row * l->n_slices + slice] : 0;
		bool blank = canvas_is_blank(c, line, col + i);

		/* letters are of the range alone, as colours are */
		if (ranged && !in_range(v, i))
			continue;
		if (v->letters && !blank)
			canvas_fill(c, line, col + i, 1, STYLE_SPARK,
				    which > 0 ? 'a' + which - 1u : '.');
		if (is_sum)
			continue;
		/* where nothing is seen the colour stays, which costs no change of it */
		if (!blank)
			style = which > 0 ? (enum style)(STYLE_LANE_1 + which - 1) : STYLE_SPARK;
		if (style != STYLE_SPARK)
			canvas_restyle(c, line, col + i, 1, STYLE_SPARK, style);
	}
}

/* "a parse_record  b push_back": which colours and letters are which functions. */
static void draw_legend(const struct timeline_view *v, const struct scene *s, struct canvas *c,
			struct rect r)
{
	const struct activity_lanes *l = lanes_of(v);
	int n = (int)l->n, room = r.cols / (LEGEND_NAME + 3), each, at = r.row + axis_line(v) + 1;
	struct seen_name *seen;
	char **label;

	if (c->mono && !v->letters) {
		canvas_puts(c, at, r.col + 2, r.cols - 2, STYLE_DIM,
			    "o: which function ran when, by letters");
		return;
	}
	n = n < room ? n : room;
	each = (r.cols - 2) / n;
	seen = xcalloc((size_t)n, sizeof(*seen));
	for (int i = 0; i < n; i++) {
		const struct key *key = &s->analysis->keys.key[l->key[i]];

		seen[i] = (struct seen_name){ key->label, key->module, each - 3, 0 };
	}
	label = names_apart(seen, (size_t)n, c->ascii);
	for (int i = 0; i < n; i++) {
		struct name_look look = { .style = (uint16_t)(STYLE_LANE_1 + i) };
		int col = r.col + 2 + i * each;

		canvas_fill(c, at, col, 1, look.style | STYLE_BOLD, 'a' + (uint32_t)i);
		name_draw(c, at, col + 2, each - 3, label[i] ? label[i] : seen[i].label, &look);
	}
	names_apart_free(label, (size_t)n);
	free(seen);
}

/*
 * A thread's share: of the columns of the range where there is one, as titles are; else of what is in sight. What is live at
 * the end of each column does not add up.
 */
static const char *share_text(const struct timeline_view *v, const struct scene *s,
			      const struct activity_row *row, char out[FMT_SIZE])
{
	int64_t part = 0, whole = 0;

	for (int col = 0; v->sum && row->slice && col < v->axis.cols && !is_heap(s); col++) {
		if (!in_range(v, col))
			continue;
		part += in_column(v, row->slice, col);
		whole += in_column(v, v->sum, col);
	}
	return whole > 0 ? fmt_percent(out, part, whole)
			 : fmt_percent(out, row->weight, v->threads.activity->weight);
}

static void draw_row(const struct timeline_view *v, const struct scene *s, struct canvas *c,
		     struct rect r, int line, uint32_t i)
{
	const struct activity_row *row = thread_list_row(&v->threads, i);
	uint16_t style = i == v->threads.list.cursor ? STYLE_NORMAL | STYLE_SELECTED : STYLE_NORMAL;
	char number[FMT_SIZE];

	if (v->share == SHARE_COLS)
		canvas_puts_right(c, r.row + line, r.col + 2, SHARE_COLS - 3, STYLE_NUMBER,
				  share_text(v, s, row, number));
	thread_row_draw_brief(s, row, c, r.row + line, r.col + v->share, v->gutter - v->share - 1,
			      style);
	if (row->slice) {
		draw_slices(v, row, c, r.row + line, r.col + v->gutter);
		draw_lanes(v, c, r.row + line, r.col + v->gutter, i);
	}
	for (int col = 0; row->slice && col < v->axis.cols; col++)
		if (in_range(v, col))
			canvas_restyle(c, r.row + line, r.col + v->gutter + col, 1, STYLE_SPARK,
				       STYLE_SPARK_RANGE);
	if (i == v->threads.list.cursor)
		row_draw_marker(c, r, line);
}

static void timeline_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct timeline_view *v = state;
	int top = rows_line(v);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (s->analysis->counts.n_samples > 0 && !has_times(s)) {
		canvas_puts(c, r.row + r.rows / 3, r.col + 2, r.cols - 2, STYLE_DIM,
			    "these samples have no times");
		return;
	}
	if (v->threads.list.n == 0 || !v->sum) {
		thread_list_draw_nothing(&v->threads, c, r, s);
		return;
	}
	draw_graph(v, s, c, r);
	if (r.rows > axis_line(v))
		time_axis_draw(&v->axis, c, r.row + axis_line(v), r.col + v->gutter, s->side_a);
	if (v->legend && r.rows > top)
		draw_legend(v, s, c, r);
	for (int line = top; line < r.rows; line++) {
		uint32_t i = list_at(&v->threads.list, line - top);

		if (i < v->threads.activity->n_rows)
			draw_row(v, s, c, r, line, i);
	}
}

static bool go_to_peak(struct timeline_view *v)
{
	int peak = 0;

	if (!v->sum)
		return false;
	for (int i = 1; i < v->axis.cols; i++)
		if (in_column(v, v->sum, i) > in_column(v, v->sum, peak))
			peak = i;
	time_axis_go(&v->axis, peak);
	note_end(v);
	return true;
}

/* A single mark goes, then the zoom. */
static bool step_back(struct timeline_view *v)
{
	int64_t from, to;

	if ((v->axis.a_ns != TIME_UNMARKED || v->axis.b_ns != TIME_UNMARKED) &&
	    !time_axis_range(&v->axis, &from, &to)) {
		time_axis_unmark(&v->axis);
		return true;
	}
	return time_axis_unzoom(&v->axis);
}

static bool timeline_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct timeline_view *v = state;
	const struct activity_row *row;
	bool done = list_act(&v->threads.list, a) || (has_times(s) && time_axis_act(&v->axis, a));

	note_end(v);
	thread_list_moved(&v->threads);
	row = thread_list_current(&v->threads);
	switch ((int)a) {
	case ACTION_MARK_A:
	case ACTION_MARK_B:
		if (done)
			row_effects_range(&v->axis, out);
		return done;
	case ACTION_SIDE_A:
	case ACTION_SIDE_B:
		row_effects_side_range(&v->axis, out);
		return true;
	case ACTION_PEAK:
		return go_to_peak(v);
	case ACTION_LANES:
		v->letters = !v->letters;
		return true;
	case ACTION_BACK:
		return step_back(v);
	case ACTION_ENTER:
	case ACTION_TO_TREE:
		return thread_row_show(s, row, VIEW_KIND_TREE, out);
	case ACTION_TO_CALLERS:
		return thread_row_show(s, row, VIEW_KIND_CALLERS, out);
	case ACTION_TO_FLAME:
		return thread_row_show(s, row, VIEW_KIND_FLAME, out);
	default:
		return done;
	}
}

static void timeline_click(void *state, const struct scene *s, struct rect r, int row, int col,
			   bool twice, struct effect *out)
{
	struct timeline_view *v = state;
	uint32_t i = list_at(&v->threads.list, row - r.row - rows_line(v));

	if (has_times(s) && col >= r.col + v->gutter)
		time_axis_go(&v->axis, col - r.col - v->gutter);
	note_end(v);
	if (i == UINT32_MAX)
		return;
	v->threads.list.cursor = i;
	thread_list_moved(&v->threads);
	if (twice)
		thread_row_show(s, thread_list_row(&v->threads, i), VIEW_KIND_TREE, out);
}

static void timeline_drag(void *state, const struct scene *s, struct rect r, struct cell_at from,
			  struct cell_at to, struct effect *out)
{
	struct timeline_view *v = state;
	int left = r.col + v->gutter;

	if (!has_times(s) || from.col < left || from.col == to.col)
		return;
	time_axis_mark(&v->axis, from.col - left, to.col - left);
	row_effects_range(&v->axis, out);
}

static void timeline_select(void *state, const struct scene *s, const struct place *p)
{
	struct timeline_view *v = state;

	(void)s;
	thread_list_select(&v->threads, p);
}

static bool timeline_selection(const void *state, const struct scene *s, struct place *out)
{
	(void)s;
	return thread_list_selection(&((const struct timeline_view *)state)->threads, out);
}

static uint32_t timeline_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	return thread_list_find(&((struct timeline_view *)state)->threads, s, step, at);
}

/* Of what is in sight. */
static int64_t timeline_found(const void *state, const struct scene *s)
{
	return thread_row_found(((const struct timeline_view *)state)->threads.activity, s);
}

/* "2.30 s: 1.9 CPUs; python3 (pid 812) 8.01 ms of 9.20 ms": the cursor's column, then the row's part of it. */
static char *timeline_status(const void *state, const struct scene *s)
{
	const struct timeline_view *v = state;
	const struct activity_row *row = thread_list_current(&v->threads);
	int col = time_axis_col(&v->axis, v->axis.cursor_ns);
	char at[FMT_SIZE], all[FMT_SIZE], part[FMT_SIZE], rate[ROW_RATE_SIZE];
	char detail[THREAD_ROW_DETAIL], *name, *out;
	struct scene in_units = *s;

	if (!row || !v->sum)
		return NULL;
	in_units.percent = false;
	rate_text(v, s, in_column(v, v->sum, col), rate);
	thread_row_detail(s, row, detail);
	name = text_clean(row->name, strlen(row->name), false);
	out = xasprintf("%s: %s; %s%s%s%s %s of %s", time_axis_text(at, v->axis.cursor_ns), rate,
			name, *detail ? " (" : "", detail, *detail ? ")" : "",
			row_share(part, &in_units, in_column(v, row->slice, col), 0),
			row_share(all, &in_units, in_column(v, v->sum, col), 0));
	free(name);
	return out;
}

static char *timeline_crumb(const void *state, const struct scene *s)
{
	const struct timeline_view *v = state;
	char from[FMT_SIZE], to[FMT_SIZE];

	(void)s;
	if (v->axis.to_ns - v->axis.from_ns >= v->axis.whole_ns)
		return NULL;
	return xasprintf("%s – %s", time_axis_text(from, v->axis.from_ns),
			 time_axis_text(to, v->axis.to_ns));
}

static void timeline_position(const void *state, uint32_t *at, uint32_t *of)
{
	const struct timeline_view *v = state;

	list_position(&v->threads.list, at, of);
	if (!v->sum)
		*of = 0;
}

const struct view_ops view_timeline = {
	.name = "timeline",
	.help = "how much was going on when, and in which threads; A and B choose the time that all views show",
	.contexts = IN_TASKS | IN_TIME | IN_LANES,
	.new = timeline_new,
	.free = timeline_free,
	.update = timeline_update,
	.layout = timeline_layout,
	.wish = timeline_wish,
	.draw = timeline_draw,
	.act = timeline_act,
	.click = timeline_click,
	.drag = timeline_drag,
	.select = timeline_select,
	.selection = timeline_selection,
	.find = timeline_find,
	.found = timeline_found,
	.status = timeline_status,
	.position = timeline_position,
	.crumb = timeline_crumb,
};
