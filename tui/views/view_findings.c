/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findings: what is worth knowing, in sentences; Enter shows what proves one. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/findings/findings.h"
#include "tui/contract/list.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/row.h"

/* Columns of the number in front, and of the view's name behind, which narrow screens do without. */
#define NUMBER_COLS 5
#define LINK_COLS   11
#define LINK_LEAST  60

/* A line of a sentence. */
struct findings_line {
	uint32_t finding;
	const char *text; /* borrowed from the analysis, for the scene at hand */
	size_t n;         /* bytes */
	bool first;
};

struct findings_view {
	struct list list; /* of findings */
	VEC(struct findings_line) lines;
	uint32_t top;      /* first line in sight */
	uint32_t rows;     /* that fit */
	int text_cols;     /* of sentences */
	bool links, apart; /* show the views' names; a blank line between findings */
};

static const struct findings *findings_of(const struct scene *s)
{
	const struct over_time *o = s->analysis->over[OVER_FINDINGS];

	return o ? o->findings : NULL;
}

static uint32_t n_of(const struct scene *s)
{
	const struct findings *f = findings_of(s);

	return f ? (uint32_t)f->list.n : 0;
}

static bool findings_apply(const struct scene *s)
{
	return !s->analysis->diff;
}

static void *findings_view_new(void)
{
	return xcalloc(1, sizeof(struct findings_view));
}

static void findings_view_free(void *state)
{
	struct findings_view *v = state;

	if (!v)
		return;
	vec_done(&v->lines);
	free(v);
}

static void findings_update(void *state, const struct scene *s)
{
	struct findings_view *v = state;

	v->list.n = n_of(s);
	vec_clear(&v->lines);
}

/* Bytes of text that go on one line: broken at a blank where there is one. */
static size_t break_line(const char *text, size_t cols)
{
	size_t got, len = strlen(text), fits = text_clip(text, len, cols, &got), used;

	if (fits == len)
		return len;
	if (fits == 0)
		text_decode(text, len, &used);
	for (size_t i = fits; i > fits / 2; i--)
		if (text[i] == ' ' && text[i + 1] != '%')
			return i;
	return fits > 0 ? fits : used;
}

static void add_lines(struct findings_view *v, uint32_t at, const char *text)
{
	bool first = true;

	do {
		size_t n = break_line(text, (size_t)v->text_cols);
		const struct findings_line line = { at, text, n, first };

		vec_push(&v->lines, line);
		text += n;
		text += strspn(text, " ");
		first = false;
	} while (*text);
}

static void make_lines(struct findings_view *v, const struct scene *s)
{
	const struct findings *f = findings_of(s);
	const struct findings_line blank = { .finding = UINT32_MAX };

	vec_clear(&v->lines);
	for (uint32_t i = 0; i < n_of(s); i++) {
		if (v->apart && i > 0)
			vec_push(&v->lines, blank);
		add_lines(v, i, f->list.at[i].sentence);
	}
}

static uint32_t first_line(const struct findings_view *v, uint32_t finding)
{
	for (uint32_t i = 0; i < v->lines.n; i++)
		if (v->lines.at[i].finding == finding)
			return i;
	return 0;
}

/* The selected sentence is in sight, its beginning in any case. */
static void keep_in_sight(struct findings_view *v)
{
	uint32_t first = first_line(v, v->list.cursor), end = first;

	while (end < v->lines.n && v->lines.at[end].finding == v->list.cursor)
		end++;
	if (end > v->top + v->rows)
		v->top = end - v->rows;
	if (v->top > first)
		v->top = first;
	if (v->lines.n <= v->rows)
		v->top = 0;
}

static void findings_layout(void *state, const struct scene *s, struct rect r)
{
	struct findings_view *v = state;

	v->links = r.cols >= LINK_LEAST;
	v->text_cols = r.cols - NUMBER_COLS - (v->links ? LINK_COLS : 1);
	v->text_cols = v->text_cols > 1 ? v->text_cols : 1;
	v->rows = r.rows > 1 ? (uint32_t)r.rows - 1 : 1;
	v->apart = true;
	make_lines(v, s);
	if (v->lines.n > v->rows) {
		v->apart = false;
		make_lines(v, s);
	}
	list_fit(&v->list, n_of(s), (int)v->rows);
	keep_in_sight(v);
}

static bool matches(const struct scene *s, const struct finding *f)
{
	return s->search && search_matches(s->search, f->sentence, strlen(f->sentence));
}

static void draw_line(const struct findings_view *v, const struct scene *s, struct canvas *c,
		      struct rect r, int line, const struct findings_line *l)
{
	const struct finding *f = &findings_of(s)->list.at[l->finding];
	uint16_t style = f->rank == FINDING_SHARE ? STYLE_NORMAL : STYLE_DIM;
	char number[16];

	style |= l->finding == v->list.cursor ? STYLE_SELECTED : 0;
	style |= matches(s, f) ? STYLE_MATCH : 0;
	if (l->first) {
		snprintf(number, sizeof(number), "%2u", (unsigned)l->finding + 1);
		canvas_puts(c, r.row + line, r.col + 1,
			    r.cols < NUMBER_COLS ? r.cols - 1 : NUMBER_COLS - 1, STYLE_DIM, number);
	}
	if (r.cols > NUMBER_COLS)
		canvas_put(c, r.row + line, r.col + NUMBER_COLS, v->text_cols, style, l->text,
			   l->n);
	if (l->first && v->links)
		canvas_puts(c, r.row + line, r.col + r.cols - LINK_COLS + 1, LINK_COLS - 1,
			    STYLE_DIM, f->view);
	if (l->first && l->finding == v->list.cursor)
		row_draw_marker(c, r, line);
	else if (l->finding == v->list.cursor)
		canvas_add_style(c, r.row + line, r.col + 1, r.cols - 1, STYLE_SELECTED);
}

static const char *nothing_to_say(const struct scene *s)
{
	if (!findings_of(s))
		return s->loading ? "findings come when all is loaded" : "looking …";
	return findings_nothing(s->analysis);
}

static void findings_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct findings_view *v = state;

	if (r.rows <= 0 || r.cols <= 0)
		return;
	canvas_puts(c, r.row, r.col + 1, r.cols - 1, STYLE_HEADER, "FINDINGS");
	if (v->links)
		canvas_puts(c, r.row, r.col + r.cols - LINK_COLS + 1, LINK_COLS - 1, STYLE_HEADER,
			    "SEEN IN");
	if (v->list.n == 0 && r.rows > 1)
		canvas_puts(c, r.row + 1, r.col + 1, r.cols - 1, STYLE_DIM, nothing_to_say(s));
	for (int i = 0; i + 1 < r.rows && v->top + (uint32_t)i < v->lines.n; i++) {
		const struct findings_line *l = &v->lines.at[v->top + (uint32_t)i];

		if (l->finding < n_of(s))
			draw_line(v, s, c, r, i + 1, l);
	}
}

static enum view_kind view_named(const char *name)
{
	for (int i = 0; i < N_VIEW_KINDS; i++)
		if (strcmp(views[i]->name, name) == 0)
			return (enum view_kind)i;
	return VIEW_KIND_TOP;
}

static bool show_proof(const struct findings_view *v, const struct scene *s, struct effect *out)
{
	const struct finding *f;

	if (v->list.cursor >= n_of(s))
		return false;
	f = &findings_of(s)->list.at[v->list.cursor];
	out->kind = EFFECT_FILTER;
	out->view = view_named(f->view);
	out->place = (struct place){ .key_id = f->key_id };
	out->has_place = f->key_id != ID_NONE;
	out->text = xstrdup(f->filter);
	out->grouping = GROUP_FUNCTION;
	out->has_metric = f->has_metric;
	out->metric = f->metric;
	return true;
}

static bool findings_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct findings_view *v = state;

	if (list_act(&v->list, a)) {
		keep_in_sight(v);
		return true;
	}
	return a == ACTION_ENTER && show_proof(v, s, out);
}

static void findings_click(void *state, const struct scene *s, struct rect r, int row, int col,
			   bool twice, struct effect *out)
{
	struct findings_view *v = state;
	int line = row - r.row - 1;
	uint32_t at = v->top + (uint32_t)line;

	(void)col;
	if (line < 0 || at >= v->lines.n || v->lines.at[at].finding >= n_of(s))
		return;
	v->list.cursor = v->lines.at[at].finding;
	if (twice)
		show_proof(v, s, out);
}

static void findings_select(void *state, const struct scene *s, const struct place *p)
{
	struct findings_view *v = state;

	if (p->key_id == ID_NONE && p->path < n_of(s))
		list_go(&v->list, (uint32_t)p->path);
}

/* A finding is no function: only this view knows its number. */
static bool findings_selection(const void *state, const struct scene *s, struct place *out)
{
	const struct findings_view *v = state;

	*out = (struct place){ .key_id = ID_NONE, .path = v->list.cursor };
	return v->list.cursor < n_of(s);
}

static uint32_t findings_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct findings_view *v = state;
	struct match_cursor f;

	match_cursor_start(&f, v->list.cursor, step);
	for (uint32_t i = 0; i < n_of(s); i++)
		if (matches(s, &findings_of(s)->list.at[i]))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (f.goes) {
		list_go(&v->list, f.target);
		keep_in_sight(v);
	}
	return f.n;
}

/* Sentences weigh nothing. */
static int64_t findings_found(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return -1;
}

/* How the same is seen elsewhere. */
static char *findings_status(const void *state, const struct scene *s)
{
	const struct findings_view *v = state;
	const struct finding *f;

	if (v->list.cursor >= n_of(s))
		return NULL;
	f = &findings_of(s)->list.at[v->list.cursor];
	return xasprintf("%s: Enter shows %s%s%s", f->rule, f->view,
			 *f->filter ? " with filter " : "", f->filter);
}

static char *findings_crumb(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return NULL;
}

static void findings_position(const void *state, uint32_t *at, uint32_t *of)
{
	list_position(&((const struct findings_view *)state)->list, at, of);
}

static bool findings_wish(const void *state, struct over_time_wish *out)
{
	(void)state;
	*out = (struct over_time_wish){ OVER_FINDINGS, { 0, INT64_MAX, 1, 0 } };
	return true;
}

const struct view_ops view_findings = {
	.name = "findings",
	.help = "what is worth knowing, in sentences; Enter shows what proves one",
	.contexts = IN_FINDINGS,
	.of_tree = true,
	.applies = findings_apply,
	.new = findings_view_new,
	.free = findings_view_free,
	.update = findings_update,
	.layout = findings_layout,
	.wish = findings_wish,
	.draw = findings_draw,
	.act = findings_act,
	.click = findings_click,
	.select = findings_select,
	.selection = findings_selection,
	.find = findings_find,
	.found = findings_found,
	.status = findings_status,
	.position = findings_position,
	.crumb = findings_crumb,
};
