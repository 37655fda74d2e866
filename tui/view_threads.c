/* SPDX-License-Identifier: GPL-3.0-or-later */
/* threads: processes and their threads, what they cost and when they were busy. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "activity.h"
#include "analysis.h"
#include "drill.h"
#include "list.h"
#include "mem.h"
#include "row.h"
#include "text.h"
#include "view.h"

/* Columns of activity over time, where there is room for it, and of a name. */
#define SPARK_MOST  64
#define SPARK_LEAST 8
#define NAME_LEAST  28
#define NAME_MOST   44

struct threads_view {
	struct activity activity; /* of the present analysis; owned */
	struct list list;
	struct row_shape shape;                 /* as of the last layout */
	int spark, spark_cols;                  /* where activity stands; 0 columns: nowhere */
	uint32_t cursor_process, cursor_thread; /* what the cursor is on */
};

static const struct row_wish wish = { .self = true, .samples = true, .share = true };

static int top_line(struct rect r)
{
	return r.rows >= 3;
}

static void *threads_new(void)
{
	return xcalloc(1, sizeof(struct threads_view));
}

static void threads_free(void *state)
{
	struct threads_view *v = state;

	if (!v)
		return;
	activity_done(&v->activity);
	free(v);
}

static const struct activity_row *row_at(const struct threads_view *v, uint32_t i)
{
	return i < v->activity.n_rows ? &v->activity.row[i] : NULL;
}

static void remember(struct threads_view *v)
{
	const struct activity_row *row = row_at(v, v->list.cursor);

	v->cursor_process = row ? row->process : ID_NONE;
	v->cursor_thread = row ? row->thread : ID_NONE;
}

static void threads_update(void *state, const struct scene *s)
{
	struct threads_view *v = state;
	const struct analysis *a = s->analysis;

	activity_done(&v->activity);
	activity_of_threads(a->profile, &a->counts, &a->lens, &a->weights, NULL, &v->activity);
	list_fit(&v->list, v->activity.n_rows, (int)v->list.height);
	if (v->list.cursor == 0)
		return;
	for (uint32_t i = 0; i < v->activity.n_rows; i++) {
		const struct activity_row *row = row_at(v, i);

		if (row->process == v->cursor_process && row->thread == v->cursor_thread)
			list_go(&v->list, i);
	}
}

static void threads_layout(void *state, const struct scene *s, struct rect r)
{
	struct threads_view *v = state;
	struct row_shape *sh = &v->shape;
	int room, name;

	row_shape_init(sh, s, &wish, r.cols);
	room = sh->name_cols - 2;
	name = room * 2 / 5 > NAME_LEAST ? room * 2 / 5 : NAME_LEAST;
	name = name < NAME_MOST ? name : NAME_MOST;
	v->spark_cols = 0;
	if (v->activity.slices && room - name >= SPARK_LEAST) {
		v->spark_cols = room - name < SPARK_MOST ? room - name : SPARK_MOST;
		v->spark = sh->name + name + 2;
		sh->name_cols = name;
	}
	list_fit(&v->list, v->activity.n_rows, r.rows - top_line(r));
	remember(v);
}

/* "pid 812", or "tid 813" of one thread of several. */
static void put_detail(const struct scene *s, const struct activity_row *row, char out[64])
{
	const struct profile *p = s->analysis->profile;
	int32_t pid = -1, tid = -1;

	out[0] = '\0';
	if (row->process != ID_NONE)
		pid = profile_process(p, (process_id){ row->process })->pid;
	if (row->thread != ID_NONE)
		tid = profile_thread(p, (thread_id){ row->thread })->tid;
	if ((row->thread == ID_NONE || row->n_threads == 1) && pid >= 0)
		snprintf(out, 64, "pid %d", (int)pid);
	else if (tid >= 0)
		snprintf(out, 64, "tid %d", (int)tid);
}

static void draw_row(const struct threads_view *v, const struct scene *s, struct canvas *c,
		     struct rect r, int line, uint32_t i)
{
	const struct activity_row *row = row_at(v, i);
	const struct row_shape *sh = &v->shape;
	struct row_values values = { .self = &row->weight, .total = &row->weight };
	bool of_process = row->thread == ID_NONE || row->n_threads == 1;
	struct name_look look = { .style = STYLE_NORMAL, .wide = s->wide };
	int indent = of_process ? 0 : 2, used;
	char detail[64];

	values.n_samples = row->n_samples;
	values.bar = STYLE_BAR;
	if (of_process)
		look.style |= STYLE_BOLD;
	if (i == v->list.cursor)
		look.style |= STYLE_SELECTED;
	row_draw_numbers(sh, c, r, line, &values);
	used = indent + row_draw_name(c, r.row + line, r.col + sh->name + indent,
				      sh->name_cols - indent, row->name, &look);
	put_detail(s, row, detail);
	if (*detail)
		canvas_printf(c, r.row + line, r.col + sh->name + used, sh->name_cols - used,
			      STYLE_DIM, "  %s", detail);
	if (v->spark_cols > 0 && row->slice)
		canvas_spark(c, r.row + line, r.col + v->spark, v->spark_cols, STYLE_SPARK,
			     row->slice, v->activity.n_slices,
			     row->thread == ID_NONE ? 0 : v->activity.most);
	if (i == v->list.cursor)
		row_draw_marker(c, r, line);
}

/* The span of the activity, above it. */
static void draw_span(const struct threads_view *v, const struct scene *s, struct canvas *c,
		      struct rect r)
{
	const struct weights *w = &s->analysis->weights;
	char span[FMT_SIZE];

	if (v->spark_cols == 0)
		return;
	canvas_puts(c, r.row, r.col + v->spark, v->spark_cols, STYLE_HEADER, "ACTIVITY");
	if (v->spark_cols >= 20)
		canvas_puts_right(c, r.row, r.col + v->spark + 10, v->spark_cols - 10, STYLE_DIM,
				  fmt_ns(span, w->end_ns - w->begin_ns));
}

static void threads_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct threads_view *v = state;
	int top = top_line(r);

	if (r.rows <= 0 || r.cols <= 0)
		return;
	if (top > 0) {
		row_draw_header(&v->shape, c, r, 0, 0, false, "PROCESS, THREAD", "");
		draw_span(v, s, c, r);
	}
	if (v->list.n == 0)
		row_draw_nothing(c, r, s);
	for (int line = 0; line < r.rows - top; line++) {
		uint32_t i = list_at(&v->list, line);

		if (i < v->activity.n_rows)
			draw_row(v, s, c, r, line + top, i);
	}
}

/* The selected row in a view of frames, alone; without a filter where it is all that is shown. */
static bool show_in(const struct threads_view *v, const struct scene *s, enum view_kind view,
		    struct effect *out)
{
	const struct activity_row *row = row_at(v, v->list.cursor);
	const struct weights *w = &s->analysis->weights;

	if (!row)
		return false;
	if (row->weight == w->total[0] && row->n_samples == w->n_samples) {
		out->kind = EFFECT_OPEN;
		out->view = view;
		out->place = (struct place){ .key_id = ID_NONE };
		return true;
	}
	if (row->process != ID_NONE && (row->thread == ID_NONE || row->n_threads == 1))
		return drill_process(s, row->process, view, out);
	if (row->process != ID_NONE)
		return drill_thread(s, row->thread, view, out);
	out->kind = EFFECT_MESSAGE;
	out->text = xstrdup("whose samples these are is not known");
	return true;
}

static bool threads_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct threads_view *v = state;
	bool done = list_act(&v->list, a);

	remember(v);
	switch ((int)a) {
	case ACTION_ENTER:
	case ACTION_TO_TREE:
		return show_in(v, s, VIEW_KIND_TREE, out);
	case ACTION_TO_CALLERS:
		return show_in(v, s, VIEW_KIND_CALLERS, out);
	case ACTION_TO_FLAME:
		return show_in(v, s, VIEW_KIND_FLAME, out);
	default:
		return done;
	}
}

static void threads_click(void *state, const struct scene *s, struct rect r, int row, int col,
			  bool twice, struct effect *out)
{
	struct threads_view *v = state;
	uint32_t i = list_at(&v->list, row - r.row - top_line(r));

	(void)col;
	if (i == UINT32_MAX)
		return;
	v->list.cursor = i;
	remember(v);
	if (twice)
		show_in(v, s, VIEW_KIND_TREE, out);
}

/* Rows are no keys: a place holds the process and the thread in its path. */
static void threads_select(void *state, const struct scene *s, const struct place *p)
{
	struct threads_view *v = state;

	(void)s;
	if (p->key_id != ID_NONE)
		return;
	for (uint32_t i = 0; i < v->activity.n_rows; i++) {
		const struct activity_row *row = row_at(v, i);

		if (((uint64_t)row->process << 32 | row->thread) == p->path)
			list_go(&v->list, i);
	}
	remember(v);
}

static bool threads_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct threads_view *v = state;
	const struct activity_row *row = row_at(v, v->list.cursor);

	(void)s;
	if (!row)
		return false;
	*out = (struct place){ ID_NONE, (uint64_t)row->process << 32 | row->thread };
	return true;
}

/* A search is over frames: no thread matches. */
static uint32_t threads_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	(void)state;
	(void)s;
	(void)step;
	*at = 0;
	return 0;
}

static char *threads_status(const void *state, const struct scene *s)
{
	const struct threads_view *v = state;
	const struct activity_row *row = row_at(v, v->list.cursor);
	char share[FMT_SIZE], count[FMT_SIZE], detail[64], *name, *out;

	if (!row)
		return NULL;
	put_detail(s, row, detail);
	name = text_clean(row->name, strlen(row->name), false);
	out = xasprintf("%s  %s samples%s%s  %s",
			row_share(share, s, row->weight, s->analysis->weights.total[0]),
			fmt_count(count, (int64_t)row->n_samples), *detail ? "  " : "", detail,
			name);
	free(name);
	return out;
}

static char *threads_crumb(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return NULL;
}

const struct view_ops view_threads = {
	.name = "threads",
	.help = "processes and threads, and when they were busy; Enter shows the call tree of one alone",
	.contexts = IN_TASKS,
	.new = threads_new,
	.free = threads_free,
	.update = threads_update,
	.layout = threads_layout,
	.draw = threads_draw,
	.act = threads_act,
	.click = threads_click,
	.select = threads_select,
	.selection = threads_selection,
	.find = threads_find,
	.status = threads_status,
	.crumb = threads_crumb,
};
