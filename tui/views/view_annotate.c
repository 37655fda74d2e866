/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * annotate: a function's source lines, what was inlined in them, and its instructions. The scene's annotation comes
 * from a thread of the app; until it is of the function that is wanted, the view says so.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "query/analysis.h"
#include "query/code_weights.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/views/annotate_view.h"

#define SHIFT_COLS 8 /* that left and right scroll */
#define SHIFT_MOST 400
#define HOT_LEAST  200 /* a row of less than one part in so many is not gone to by n */

static void *annotate_new(void)
{
	struct annotate_view *v = xcalloc(1, sizeof(*v));

	v->wish.key_id = v->shown.key_id = ID_NONE;
	return v;
}

static void annotate_free(void *state)
{
	struct annotate_view *v = state;

	if (!v)
		return;
	annotation_rows_done(&v->rows);
	vec_done(&v->hot);
	vec_done(&v->row_of);
	free(v);
}

static bool annotate_applies(const struct scene *s)
{
	return s->view == VIEW_KIND_ANNOTATE;
}

static bool same_wish(const struct code_wish *a, const struct code_wish *b)
{
	return a->key_id == b->key_id && a->path == b->path;
}

const struct annotation *annotate_shown(const struct annotate_view *v, const struct scene *s)
{
	return s->code && v->wish.key_id != ID_NONE && same_wish(&s->code->wish, &v->wish) ? s->code
											   : NULL;
}

/* Falling by total, then by self, then by place. */
struct ranking {
	const struct annotate_view *v;
	const struct scene *s;
	const struct annotation *a;
};

/* What numbers have of all; of a comparison, of the side where that is more. */
static double share_of(const struct scene *s, const int64_t *numbers)
{
	return lens_share(&s->analysis->lens, numbers, s->analysis->weights.total);
}

static int by_heat(const void *x, const void *y, void *arg)
{
	const struct ranking *r = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	uint32_t ni = annotation_row_numbers(r->a, &r->v->rows.all.at[i]);
	uint32_t nk = annotation_row_numbers(r->a, &r->v->rows.all.at[k]);
	double ti = share_of(r->s, annotation_total(r->a, ni)),
	       tk = share_of(r->s, annotation_total(r->a, nk));

	if (ti != tk)
		return ti > tk ? -1 : 1;
	ti = share_of(r->s, annotation_self(r->a, ni));
	tk = share_of(r->s, annotation_self(r->a, nk));
	return ti != tk ? (ti > tk ? -1 : 1) : i < k ? -1 : i > k;
}

/* A warning takes as many rows as it needs. */
static void break_warnings(struct annotate_view *v)
{
	size_t cols = v->cols > WARNING_INDENT ? (size_t)(v->cols - WARNING_INDENT) : 0;

	for (size_t i = 0; i < v->rows.all.n && cols > 0; i++) {
		struct annotation_row row = v->rows.all.at[i];
		size_t next, n;

		if (row.kind != ANNOTATION_ROW_WARNING)
			continue;
		n = strlen(row.text + row.at);
		text_first_line(row.text + row.at, n, cols, &next);
		if (next == 0 || next >= n)
			continue;
		row.at += (uint32_t)next;
		vec_push(&v->rows.all, row);
		memmove(v->rows.all.at + i + 2, v->rows.all.at + i + 1,
			(v->rows.all.n - i - 2) * sizeof(row));
		v->rows.all.at[i + 1] = row;
	}
}

static void make_rows(struct annotate_view *v, const struct scene *s, const struct annotation *a)
{
	struct ranking r = { v, s, a };
	double least = share_of(s, a->total) / HOT_LEAST;

	annotation_rows_make(&v->rows, a, v->mode);
	break_warnings(v);
	vec_clear(&v->hot);
	vec_clear(&v->row_of);
	for (size_t i = 0; i < a->code.n; i++)
		vec_push(&v->row_of, ANNOTATION_NONE);
	for (uint32_t i = 0; i < v->rows.all.n; i++) {
		const struct annotation_row *row = &v->rows.all.at[i];
		uint32_t n = annotation_row_numbers(a, row);

		if (row->kind == ANNOTATION_ROW_CODE)
			v->row_of.at[row->at] = i;
		if (annotation_row_is_part(&v->rows, row) && n != ANNOTATION_NONE &&
		    share_of(s, annotation_total(a, n)) > least)
			vec_push(&v->hot, i);
	}
	if (v->hot.n > 0)
		qsort_r(v->hot.at, v->hot.n, sizeof(*v->hot.at), by_heat, &r);
}

static struct annotate_anchor anchor_of(const struct annotate_view *v, const struct annotation *a)
{
	const struct annotation_row *row;
	struct annotate_anchor out = { .has_code = false };

	if (v->list.cursor >= v->rows.all.n)
		return out;
	row = &v->rows.all.at[v->list.cursor];
	if (row->kind == ANNOTATION_ROW_CODE || row->kind == ANNOTATION_ROW_AT) {
		const struct annotation_code *c = &a->code.at[row->at];

		out.has_code = true;
		out.shown = c->shown;
		out.has_line = c->source != ANNOTATION_NONE;
		out.line = out.has_line ? a->sources.at[c->source].line : 0;
	} else if (row->kind == ANNOTATION_ROW_SOURCE) {
		out.has_line = true;
		out.line = a->sources.at[row->at].line;
	}
	return out;
}

/* The row of the anchor: the same instruction, else the same line, else that line's heaviest instruction. */
static uint32_t find_anchor(const struct annotate_view *v, const struct annotation *a,
			    const struct annotate_anchor *to)
{
	uint32_t best = ANNOTATION_NONE;
	int64_t most = -1;

	for (uint32_t i = 0; i < v->rows.all.n; i++) {
		const struct annotation_row *row = &v->rows.all.at[i];
		const struct annotation_code *c;
		int64_t total;

		if (row->kind == ANNOTATION_ROW_SOURCE && to->has_line && !to->has_code &&
		    a->sources.at[row->at].line == to->line)
			return i;
		if (row->kind == ANNOTATION_ROW_SOURCE && to->has_line &&
		    a->sources.at[row->at].line == to->line && best == ANNOTATION_NONE)
			best = i;
		if (row->kind != ANNOTATION_ROW_CODE)
			continue;
		c = &a->code.at[row->at];
		if (to->has_code && c->shown == to->shown)
			return i;
		if (!to->has_line || to->has_code || c->source == ANNOTATION_NONE ||
		    a->sources.at[c->source].line != to->line)
			continue;
		total = annotation_total(a, c->numbers)[0];
		if (total > most) {
			most = total;
			best = i;
		}
	}
	return best;
}

static void go_to(struct annotate_view *v, uint32_t row)
{
	list_fit(&v->list, (uint32_t)v->rows.all.n, (int)v->list.height);
	if (row != ANNOTATION_NONE)
		list_go(&v->list, row);
}

static void go_to_hottest(struct annotate_view *v)
{
	v->list.top = v->list.cursor = 0;
	go_to(v, v->hot.n > 0 ? v->hot.at[0] : 0);
}

/* The row that has most of its own. */
static uint32_t hottest_by_self(const struct annotate_view *v, const struct annotation *a)
{
	uint32_t best = ANNOTATION_NONE;
	int64_t most = 0;

	for (uint32_t i = 0; i < v->rows.all.n; i++) {
		uint32_t n = annotation_row_numbers(a, &v->rows.all.at[i]);

		if (n == ANNOTATION_NONE || annotation_self(a, n)[0] <= most ||
		    !annotation_row_is_part(&v->rows, &v->rows.all.at[i]))
			continue;
		most = annotation_self(a, n)[0];
		best = i;
	}
	return best;
}

/* The line that was asked for, once. */
static void go_to_wanted(struct annotate_view *v, const struct annotation *a)
{
	const struct annotate_anchor at = { .has_line = true, .line = v->want_line };

	if (v->want_line != 0)
		go_to(v, v->want_line == PLACE_HOTTEST_SELF ? hottest_by_self(v, a)
							    : find_anchor(v, a, &at));
	v->want_line = 0;
}

static void annotate_update(void *state, const struct scene *s)
{
	struct annotate_view *v = state;
	const struct annotation *a;
	bool same;

	if (v->wish.key_id == ID_NONE)
		v->wish.key_id = code_hottest(s->analysis);
	a = annotate_shown(v, s);
	if (!a) {
		/* What the rows are of may be gone. */
		vec_clear(&v->rows.all);
		vec_clear(&v->hot);
		vec_clear(&v->row_of);
		v->shown.key_id = ID_NONE;
		return;
	}
	same = same_wish(&v->shown, &v->wish);
	make_rows(v, s, a);
	v->shown = v->wish;
	if (!same)
		go_to_hottest(v);
	else
		go_to(v, find_anchor(v, a, &v->at));
	go_to_wanted(v, a);
}

static void annotate_layout(void *state, const struct scene *s, struct rect r)
{
	struct annotate_view *v = state;
	const struct annotation *a = annotate_shown(v, s);
	bool first = v->list.height == 0, other = v->cols != r.cols;

	v->cols = r.cols;
	if (a && other && v->rows.all.n > 0) {
		v->at = anchor_of(v, a);
		make_rows(v, s, a);
		go_to(v, find_anchor(v, a, &v->at));
	}
	v->title_rows = r.rows > 3;
	list_fit(&v->list, (uint32_t)v->rows.all.n, r.rows - v->title_rows);
	if (first && v->rows.all.n > 0)
		list_go(&v->list, v->list.cursor);
	if (!a)
		return;
	v->at = anchor_of(v, a);
	annotate_shape_make(&v->shape, s, a, v->rows.mode, r.cols);
	annotate_scale_bars(v, s, a);
}

static void draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	annotate_draw(state, s, c, r);
}

static bool annotate_code(const void *state, struct code_wish *out)
{
	const struct annotate_view *v = state;

	*out = v->wish;
	return v->wish.key_id != ID_NONE;
}

static void say(struct effect *out, char *text)
{
	free(out->text);
	*out = (struct effect){ .kind = EFFECT_MESSAGE, .text = text };
}

/* The next in the ranking behind the row of the cursor, or the first. */
static void step_hot(struct annotate_view *v, const struct scene *s, const struct annotation *a,
		     int step, struct effect *out)
{
	size_t at = 0, n = v->hot.n;
	char share[FMT_SIZE], *sides;
	uint32_t numbers;

	while (at < n && v->hot.at[at] != v->list.cursor)
		at++;
	if (n == 0 || (at < n && step > 0 && at + 1 == n) || (at == 0 && step < 0)) {
		say(out, xasprintf(n == 0     ? "no line here has samples"
				   : step > 0 ? "no line is colder than this one, above 0.5 %%"
					      : "this is the hottest line"));
		return;
	}
	at = at == n ? 0 : step > 0 ? at + 1 : at - 1;
	list_go(&v->list, v->hot.at[at]);
	numbers = annotation_row_numbers(a, &v->rows.all.at[v->hot.at[at]]);
	if (s->analysis->diff) {
		sides = annotate_numbers(s, a, numbers);
		say(out, xasprintf("hottest %zu of %zu: %s", at + 1, n, sides));
		free(sides);
		return;
	}
	say(out, xasprintf("hottest %zu of %zu: %s %% of its total", at + 1, n,
			   fmt_percent(share, annotation_total(a, numbers)[0], a->total[0])));
}

static void next_mode(struct annotate_view *v, const struct scene *s, const struct annotation *a,
		      struct effect *out)
{
	static const char *const names[N_ANNOTATION_MODES] = {
		[ANNOTATION_SOURCE] = "source lines",
		[ANNOTATION_BOTH] = "source lines with their instructions",
		[ANNOTATION_ASSEMBLY] = "instructions by address",
	};
	struct annotate_anchor at = anchor_of(v, a);

	if (!annotation_has_text(a)) {
		say(out,
		    xstrdup(a->files.n > 0
				    ? "its source was not found: there is only assembly"
				    : "no source line of it is known: there is only assembly"));
		return;
	}
	if (a->code.n == 0) {
		say(out, xasprintf("there is no assembly: %s",
				   a->blocks.n > 0 && a->blocks.at[0].why ? a->blocks.at[0].why
									  : "no code was found"));
		return;
	}
	v->mode = (enum annotation_mode)((v->mode + 1) % N_ANNOTATION_MODES);
	make_rows(v, s, a);
	go_to(v, find_anchor(v, a, &at));
	say(out, xstrdup(names[v->mode]));
}

/* Follows the jump under the cursor. */
static bool enter(struct annotate_view *v, const struct annotation *a, struct effect *out)
{
	const struct annotation_row *row;
	uint32_t target;

	if (v->list.cursor >= v->rows.all.n)
		return false;
	row = &v->rows.all.at[v->list.cursor];
	target = row->kind == ANNOTATION_ROW_CODE ? a->code.at[row->at].target : ANNOTATION_NONE;
	if (target == ANNOTATION_NONE || v->row_of.at[target] == ANNOTATION_NONE) {
		say(out,
		    xstrdup("Enter follows jumps within the function: there is none in this row"));
		return true;
	}
	list_go(&v->list, v->row_of.at[target]);
	return true;
}

/* The file and line of the cursor's row, as far as it has one; else of the hottest line. */
static void edit(const struct annotate_view *v, const struct annotation *a, struct effect *out)
{
	const struct annotation_row *row = v->list.cursor < v->rows.all.n
						   ? &v->rows.all.at[v->list.cursor]
						   : NULL;
	const char *path = NULL;
	uint32_t line = 0, source = ANNOTATION_NONE;

	if (row && row->kind == ANNOTATION_ROW_SOURCE)
		source = row->at;
	else if (row && (row->kind == ANNOTATION_ROW_CODE || row->kind == ANNOTATION_ROW_AT))
		source = a->code.at[row->at].source;
	else if (v->hot.n > 0 && v->rows.all.at[v->hot.at[0]].kind == ANNOTATION_ROW_SOURCE)
		source = v->rows.all.at[v->hot.at[0]].at;
	if (row && row->kind == ANNOTATION_ROW_INLINE) {
		path = a->inlines.at[row->at].path;
		line = a->inlines.at[row->at].line;
	} else if (source != ANNOTATION_NONE) {
		const struct annotation_file *f = &a->files.at[a->sources.at[source].file];

		path = f->found ? f->found : f->path;
		line = a->sources.at[source].line;
	}
	if (path)
		*out = (struct effect){ .kind = EFFECT_EDIT, .line = line, .text = xstrdup(path) };
	else
		say(out, xstrdup("no source file is known for this row"));
}

static bool annotate_act(void *state, const struct scene *s, enum action action, struct effect *out)
{
	struct annotate_view *v = state;
	const struct annotation *a = annotate_shown(v, s);

	if (!a)
		return false;
	switch (action) {
	case ACTION_HOT_NEXT:
	case ACTION_HOT_PREVIOUS:
		step_hot(v, s, a, action == ACTION_HOT_NEXT ? 1 : -1, out);
		return true;
	case ACTION_ASSEMBLY:
		next_mode(v, s, a, out);
		return true;
	case ACTION_EDIT:
		edit(v, a, out);
		return true;
	case ACTION_FOLLOW:
		return enter(v, a, out);
	case ACTION_LEFT:
		v->shift = v->shift > SHIFT_COLS ? v->shift - SHIFT_COLS : 0;
		return true;
	case ACTION_RIGHT:
		v->shift = v->shift < SHIFT_MOST ? v->shift + SHIFT_COLS : SHIFT_MOST;
		return true;
	default:
		return list_act(&v->list, action);
	}
}

static void annotate_click(void *state, const struct scene *s, struct rect r, int row, int col,
			   bool twice, struct effect *out)
{
	struct annotate_view *v = state;
	const struct annotation *a = annotate_shown(v, s);
	uint32_t at = list_at(&v->list, row - r.row - v->title_rows);

	(void)col;
	if (!a || row < r.row + v->title_rows || at >= v->rows.all.n)
		return;
	v->list.cursor = at;
	if (twice)
		enter(v, a, out);
}

static void annotate_select(void *state, const struct scene *s, const struct place *p)
{
	struct annotate_view *v = state;
	const struct code_wish wish = { p->key_id, p->path };

	const struct annotation *a;

	if (p->key_id == ID_NONE || (same_wish(&wish, &v->wish) && p->line == 0))
		return;
	if (!same_wish(&wish, &v->wish))
		v->shift = 0;
	v->wish = wish;
	v->want_line = p->line;
	annotate_update(v, s);
	a = annotate_shown(v, s);
	if (a)
		go_to_wanted(v, a);
}

static bool annotate_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct annotate_view *v = state;

	(void)s;
	*out = (struct place){ .key_id = v->wish.key_id, .path = v->wish.path };
	return v->wish.key_id != ID_NONE;
}

static uint32_t annotate_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct annotate_view *v = state;
	const struct annotation *a = annotate_shown(v, s);
	struct match_cursor f;

	match_cursor_start(&f, v->list.cursor, step);
	for (uint32_t i = 0; a && s->search && i < v->rows.all.n; i++)
		if (annotate_matches(s, a, &v->rows.all.at[i]))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes)
		list_go(&v->list, f.target);
	return f.n;
}

/* What lines, or instructions, that match cost: those that add up. */
static int64_t annotate_found(const void *state, const struct scene *s)
{
	const struct annotate_view *v = state;
	const struct annotation *a = annotate_shown(v, s);
	int64_t sum = 0;

	for (uint32_t i = 0; a && s->search && i < v->rows.all.n; i++) {
		const struct annotation_row *row = &v->rows.all.at[i];

		if (annotation_row_is_part(&v->rows, row) && annotate_matches(s, a, row))
			sum += annotation_total(a, annotation_row_numbers(a, row))[0];
	}
	return sum;
}

static char *status(const void *state, const struct scene *s)
{
	const struct annotate_view *v = state;
	const struct annotation *a = annotate_shown(v, s);

	return a ? annotate_status(v, s, a) : NULL;
}

static void annotate_position(const void *state, uint32_t *at, uint32_t *of)
{
	const struct annotate_view *v = state;

	list_position(&v->list, at, of);
}

static char *annotate_crumb(const void *state, const struct scene *s)
{
	const struct annotate_view *v = state;
	const struct annotation *a = annotate_shown(v, s);

	return a ? name_in_row(a->function, 40, false) : NULL;
}

const struct view_ops view_annotate = {
	.name = "annotate",
	.help = "a function's source lines and instructions, with what each costs",
	.contexts = IN_CODE,
	.applies = annotate_applies,
	.new = annotate_new,
	.free = annotate_free,
	.update = annotate_update,
	.layout = annotate_layout,
	.code = annotate_code,
	.draw = draw,
	.act = annotate_act,
	.click = annotate_click,
	.select = annotate_select,
	.selection = annotate_selection,
	.find = annotate_find,
	.found = annotate_found,
	.status = status,
	.position = annotate_position,
	.crumb = annotate_crumb,
};
