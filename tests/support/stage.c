/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/stage.h"

#include "base/err.h"
#include "base/mem.h"
#include "code/annotation.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/diff/comparison.h"
#include "tui/canvas/theme.h"
#include "tui/contract/keymap.h"
#include "tui/rows/row.h"
#include "tui/rows/time_axis.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What no view draws: a cell outside of the rectangle is still this. */
#define UNTOUCHED 0x2603u

static void wipe(struct stage *st)
{
	size_t n = (size_t)st->canvas.cols * (size_t)st->canvas.rows;

	for (size_t i = 0; i < n; i++)
		st->canvas.cell[i] = (struct cell){ .cp = UNTOUCHED };
	for (int row = 0; row < st->rect.rows; row++)
		for (int col = 0; col < st->rect.cols; col++) {
			size_t at = (size_t)(st->rect.row + row) * (size_t)st->canvas.cols +
				    (size_t)(st->rect.col + col);

			st->canvas.cell[at] = (struct cell){ .cp = ' ' };
		}
	st->canvas.cursor_row = st->canvas.cursor_col = -1;
}

static bool is_inside(struct rect r, int row, int col)
{
	return row >= r.row && row < r.row + r.rows && col >= r.col && col < r.col + r.cols;
}

/* What the app has made beside the terminal. */
static void make_over_time(struct stage *st)
{
	const struct view_ops *ops = view_of(st->view, &st->scene);
	struct analysis *a = st->scene.analysis;
	struct over_time_wish wish;
	struct over_time *over;

	if (!ops->wish(st->state[st->view], &wish) || !over_time_possible(a, wish.kind) ||
	    (a->over[wish.kind] && over_time_same_wish(&a->over[wish.kind]->wish, &wish)))
		return;
	cr_assert_eq(over_time_new(a, &wish, NULL, NULL, &over), 0);
	analysis_set_over(a, over);
	ops->update(st->state[st->view], &st->scene);
	ops->layout(st->state[st->view], &st->scene, st->rect);
}

/* Likewise, of the function that the view shows. */
static void make_code(struct stage *st)
{
	const struct view_ops *ops = view_of(st->view, &st->scene);
	struct code_wish wish;

	if (st->no_code || !ops->code(st->state[st->view], &wish) ||
	    (st->code && st->code->wish.key_id == wish.key_id && st->code->wish.path == wish.path))
		return;
	annotation_free(st->code);
	st->code = stage_code(st->scene.analysis, &wish, !st->no_sources);
	st->scene.code = st->code;
	ops->update(st->state[st->view], &st->scene);
	ops->layout(st->state[st->view], &st->scene, st->rect);
}

static void *state(struct stage *st)
{
	const struct view_ops *ops = view_of(st->view, &st->scene);

	st->scene.view = st->view;
	if (!st->state[st->view]) {
		st->state[st->view] = ops->new ();
		ops->update(st->state[st->view], &st->scene);
	}
	ops->layout(st->state[st->view], &st->scene, st->rect);
	if (ops->wish)
		make_over_time(st);
	if (ops->code)
		make_code(st);
	return st->state[st->view];
}

static void update_all(struct stage *st)
{
	for (int i = 0; i < N_VIEW_KINDS; i++)
		if (st->state[i])
			view_of((enum view_kind)i, &st->scene)->update(st->state[i], &st->scene);
}

static void analyse(struct stage *st, const char *filter)
{
	struct err e = ERR_INIT;

	filter_free(st->lens.filter);
	st->lens.filter = NULL;
	if (filter)
		cr_assert_eq(filter_parse(filter, &st->lens.filter, &e), 0, "%s", err_text(&e));
	annotation_free(st->code);
	st->code = NULL;
	st->scene.code = NULL;
	analysis_free(st->scene.analysis);
	cr_assert_eq(analysis_new(st->profile, &st->lens, NULL, &st->scene.analysis), 0);
	analysis_footprint(st->scene.analysis, NULL);
}

/* The first capture is before, the second after. */
static void compare(struct stage *st)
{
	const struct comparison_choice choice = { .event = "", .metric = "" };
	struct err e = ERR_INIT;
	struct comparison s = { 0 };

	cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", &e), 0);
	cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", &e), 0);
	cr_assert_eq(comparison_lens(&s, st->profile, &choice, &st->lens, &e), 0, "%s",
		     err_text(&e));
	comparison_done(&s);
}

void stage_init(struct stage *st, const struct profile *p, const char *filter, enum view_kind view,
		int cols, int rows)
{
	struct profile_counts counts;

	*st = (struct stage){ .view = view };
	st->profile = (struct profile *)p;
	st->scene.percent = true;
	lens_init(&st->lens, p);
	profile_counts_read(p, &counts);
	if (counts.n_captures == 2)
		compare(st);
	analyse(st, filter);
	stage_resize(st, cols, rows);
}

void stage_done(struct stage *st)
{
	for (int i = 0; i < N_VIEW_KINDS; i++)
		view_of((enum view_kind)i, &st->scene)->free(st->state[i]);
	stage_search(st, NULL);
	annotation_free(st->code);
	analysis_free(st->scene.analysis);
	lens_done(&st->lens);
	canvas_done(&st->canvas);
	free(st->message);
}

void stage_resize(struct stage *st, int cols, int rows)
{
	bool ascii = st->canvas.ascii, mono = st->canvas.mono;

	if (st->canvas.cell)
		canvas_done(&st->canvas);
	canvas_init(&st->canvas, cols + 2 * STAGE_MARGIN, rows + 2 * STAGE_MARGIN, ascii);
	st->canvas.mono = mono;
	st->rect = (struct rect){ STAGE_MARGIN, STAGE_MARGIN, rows, cols };
}

void stage_search(struct stage *st, const char *regex)
{
	struct analysis *a = st->scene.analysis;
	struct err e = ERR_INIT;

	if (st->scene.search)
		search_done(&st->search);
	st->scene.search = NULL;
	if (!regex)
		return;
	cr_assert_eq(search_init(&st->search, regex, &a->keys, a->tree, &e), 0, "%s", err_text(&e));
	st->scene.search = &st->search;
	update_all(st);
}

void stage_metric(struct stage *st, const char *measure, const char *filter)
{
	struct err e = ERR_INIT;

	cr_assert_eq(metric_find_measure(st->profile, measure, &st->lens.column[0].metric, &e), 0,
		     "%s", err_text(&e));
	stage_reanalyse(st, filter);
}

void stage_reanalyse(struct stage *st, const char *filter)
{
	cr_assert_null(st->scene.search);
	analyse(st, filter);
	update_all(st);
}

/* Does what an effect asks for, as far as a stage can. */
static void apply(struct stage *st, struct effect *fx)
{
	free(st->message);
	st->message = NULL;
	switch (fx->kind) {
	case EFFECT_NONE:
		break;
	case EFFECT_OPEN:
		st->view = fx->view;
		view_of(st->view, &st->scene)->select(state(st), &st->scene, &fx->place);
		break;
	case EFFECT_FILTER:
		st->message = xasprintf("filter %s by %s", fx->text, grouping_name(fx->grouping));
		break;
	case EFFECT_GROUP:
		st->message = xasprintf("by %s", grouping_name(fx->grouping));
		st->lens.grouping = fx->grouping;
		analyse(st, NULL);
		update_all(st);
		break;
	case EFFECT_SIDE:
		st->message = xasprintf("side %s", fx->text);
		break;
	case EFFECT_TIME:
		st->message = time_axis_term(fx->from_ns, fx->to_ns);
		break;
	case EFFECT_CURSOR:
		st->message = xasprintf("cursor %lld", (long long)fx->from_ns);
		st->lens.cursor_ns = fx->from_ns;
		analyse(st, NULL);
		update_all(st);
		break;
	case EFFECT_EDIT:
		st->message = xasprintf("edit %s:%u", fx->text, fx->line);
		break;
	case EFFECT_MESSAGE:
		st->message = xstrdup(fx->text);
		break;
	}
	free(fx->text);
}

/* Carries the selection to another view. */
static bool carry(struct stage *st, enum view_kind to)
{
	struct place place;

	if (!view_of(st->view, &st->scene)->selection(state(st), &st->scene, &place))
		return false;
	st->view = to;
	view_of(to, &st->scene)->select(state(st), &st->scene, &place);
	return true;
}

static bool find(struct stage *st, int step)
{
	if (!st->scene.search)
		return false;
	st->n = view_of(st->view, &st->scene)->find(state(st), &st->scene, step, &st->at);
	return st->at > 0;
}

bool stage_act(struct stage *st, enum action a)
{
	struct effect fx = { .kind = EFFECT_NONE };
	bool done;

	switch ((int)a) {
	case ACTION_TO_TREE:
		return carry(st, VIEW_KIND_TREE);
	case ACTION_TO_CALLERS:
		return carry(st, VIEW_KIND_CALLERS);
	case ACTION_TO_BUTTERFLY:
		return carry(st, VIEW_KIND_BUTTERFLY);
	case ACTION_TO_FLAME:
		return carry(st, VIEW_KIND_FLAME);
	case ACTION_TO_ANNOTATE:
		return carry(st, VIEW_KIND_ANNOTATE);
	case ACTION_HOT_NEXT:
		if (find(st, 1))
			return true;
		break;
	case ACTION_NEXT:
		return find(st, 1);
	case ACTION_PREVIOUS:
		return find(st, -1);
	case ACTION_UNITS:
		st->scene.percent = !st->scene.percent;
		return true;
	case ACTION_WIDE:
		st->scene.wide = !st->scene.wide;
		return true;
	default:
		break;
	}
	done = view_of(st->view, &st->scene)->act(state(st), &st->scene, a, &fx);
	apply(st, &fx);
	return done;
}

void stage_keys(struct stage *st, const char *keys)
{
	struct keymap none = { .n = 0 };
	struct err e = ERR_INIT;
	uint32_t key;

	while ((key = keycode_take(&keys, &e)) != KEYCODE_NONE)
		stage_act(st, keymap_find(&none, st->view, view_of(st->view, &st->scene)->contexts,
					  key));
	cr_assert_eq(e.code, 0, "%s", err_text(&e));
}

void stage_click(struct stage *st, int row, int col, bool twice)
{
	struct effect fx = { .kind = EFFECT_NONE };

	view_of(st->view, &st->scene)
		->click(state(st), &st->scene, st->rect, st->rect.row + row, st->rect.col + col,
			twice, &fx);
	apply(st, &fx);
}

void stage_draw(struct stage *st)
{
	void *v = state(st);

	wipe(st);
	view_of(st->view, &st->scene)->draw(v, &st->scene, &st->canvas, st->rect);
	for (int row = 0; row < st->canvas.rows; row++)
		for (int col = 0; col < st->canvas.cols; col++) {
			const struct cell *c =
				&st->canvas
					 .cell[(size_t)row * (size_t)st->canvas.cols + (size_t)col];

			cr_assert(is_inside(st->rect, row, col) ||
					  (c->cp == UNTOUCHED && c->style == 0 && c->mark == 0),
				  "%s at %dx%d wrote to row %d, column %d of its rectangle",
				  view_of(st->view, &st->scene)->name, st->rect.cols, st->rect.rows,
				  row - st->rect.row, col - st->rect.col);
		}
	if (st->canvas.cursor_row >= 0)
		cr_assert(is_inside(st->rect, st->canvas.cursor_row, st->canvas.cursor_col));
}

/* The rectangle as a canvas of its own. */
static struct canvas inside(const struct stage *st)
{
	struct canvas c;

	canvas_init(&c, st->rect.cols, st->rect.rows, false);
	for (int row = 0; row < st->rect.rows; row++)
		memcpy(&c.cell[(size_t)row * (size_t)c.cols],
		       &st->canvas.cell[(size_t)(st->rect.row + row) * (size_t)st->canvas.cols +
					(size_t)st->rect.col],
		       (size_t)c.cols * sizeof(*c.cell));
	return c;
}

char *stage_text(struct stage *st)
{
	struct canvas c;
	char *text;

	stage_draw(st);
	c = inside(st);
	text = canvas_text(&c);
	canvas_done(&c);
	return text;
}

char *stage_styles(struct stage *st)
{
	struct canvas c;
	char *text;

	stage_draw(st);
	c = inside(st);
	text = canvas_style_text(&c);
	canvas_done(&c);
	return text;
}

static bool same_look(struct look a, struct look b)
{
	return a.fg == b.fg && a.bg == b.bg && a.attrs == b.attrs;
}

char *stage_canvas_looks(const struct canvas *c, int colours)
{
	char *out = NULL;
	size_t size;
	FILE *f = open_memstream(&out, &size);

	for (int row = 0; row < c->rows; row++)
		for (int col = 0, end; col < c->cols; col = end) {
			const struct cell *at = c->cell + (size_t)row * (size_t)c->cols;
			struct look l = theme_look(at[col].style, colours);

			for (end = col + 1; end < c->cols; end++)
				if (!same_look(theme_look(at[end].style, colours), l))
					break;
			if (l.fg < 0 && l.bg < 0 && l.attrs == 0)
				continue;
			fprintf(f, "%d: %d-%d %d on %d%s%s%s\n", row, col, end - 1, l.fg, l.bg,
				l.attrs & LOOK_BOLD ? " bold" : "",
				l.attrs & LOOK_UNDERLINE ? " underline" : "",
				l.attrs & LOOK_REVERSE ? " reverse" : "");
		}
	fclose(f);
	return out;
}

char *stage_looks(struct stage *st, int colours)
{
	struct canvas c;
	char *text;

	stage_draw(st);
	c = inside(st);
	text = stage_canvas_looks(&c, colours);
	canvas_done(&c);
	return text;
}
