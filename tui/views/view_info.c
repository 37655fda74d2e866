/* SPDX-License-Identifier: GPL-3.0-or-later */
/* info: what is in the inputs, what was lost, and what is shown of it. Text that scrolls. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/fact_order.h"
#include "query/core/filter.h"
#include "query/core/name_rules.h"
#include "query/diff/diff.h"
#include "query/diff/diff_doubt.h"
#include "query/diff/explain.h"
#include "tui/canvas/glyphs.h"
#include "tui/contract/view.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/row.h"

/* Columns of facts' names at most. */
#define NAME_MOST 28

/* Sentences about a comparison. */
#define REASONS_MOST 8
/* Pairs of functions that were renamed. */
#define RENAMED_MOST 5
/* Lines that one fact may take. */
#define LINES_MOST   64

/* A line of text; strings are the profile's or the view's. */
struct info_line {
	const char *name; /* title of a section, or a fact's name; NULL: more of the fact above */
	const char *text; /* part of the fact's text; NULL in titles */
	size_t n;         /* bytes of it */
	enum fact_kind kind;
};

struct info_view {
	struct {
		struct info_line *at; /* [n]; owned */
		size_t n, cap;
	} lines;
	struct arena made; /* strings that are not the profile's */
	uint32_t top;      /* first line in sight */
	uint32_t found;    /* the line that a search went to; UINT32_MAX: none */
	uint32_t rows;     /* that fit */
	int name_cols;     /* of facts' names */
	int cols;          /* that lines are broken to */
};

static void *info_new(void)
{
	struct info_view *v = xcalloc(1, sizeof(*v));

	arena_init(&v->made);
	v->found = UINT32_MAX;
	return v;
}

static void info_free(void *state)
{
	struct info_view *v = state;

	if (!v)
		return;
	vec_done(&v->lines);
	arena_done(&v->made);
	free(v);
}

static const char *string_of(const struct scene *s, string_id id)
{
	return profile_string(s->analysis->profile, id, NULL);
}

static void add_title(struct info_view *v, const char *title)
{
	struct info_line blank = { .name = NULL }, line = { .name = title };

	if (v->lines.n > 0)
		vec_push(&v->lines, blank);
	vec_push(&v->lines, line);
}

/* Bytes of text that go on one line: broken at a blank where there is one. */
static size_t break_line(const char *text, size_t n, size_t cols)
{
	size_t got, fits = text_clip(text, n, cols, &got), used;

	if (fits == 0)
		text_decode(text, n, &used);
	if (fits == n)
		return n;
	for (size_t i = fits; i > fits / 2; i--)
		if (text[i] == ' ')
			return i;
	return fits > 0 ? fits : used;
}

static void add_fact(struct info_view *v, const char *name, const char *text, enum fact_kind kind)
{
	size_t room = v->cols > v->name_cols + 6 ? (size_t)(v->cols - v->name_cols - 6) : 1;
	size_t left = strlen(text);
	struct info_line line = { .name = name, .text = text, .kind = kind };

	if (text_width(name, strlen(name)) > (size_t)v->name_cols) {
		/* a line of its own, and what it says below it */
		vec_push(&v->lines, line);
		line.name = NULL;
	}
	for (int i = 0; i < LINES_MOST; i++) {
		line.n = left > 0 ? break_line(line.text, left, room) : 0;
		vec_push(&v->lines, line);
		left -= line.n;
		line.text += line.n;
		line.name = NULL;
		for (; left > 0 && *line.text == ' '; left--)
			line.text++;
		if (left == 0)
			return;
	}
}

/* A fact of the analysis; text is malloc'd and freed here. */
static void add_made(struct info_view *v, const char *name, char *text)
{
	add_fact(v, name, arena_strndup(&v->made, text, strlen(text)), FACT_PLAIN);
	free(text);
}

/* Functions that are taken for the same: the first few. */
static void add_renamed(struct info_view *v, const struct name_rules *names)
{
	char n[FMT_SIZE];

	for (size_t i = 0; names && i < names->moved.n && i < RENAMED_MOST; i++)
		add_made(v, i == 0 ? "renamed?" : "",
			 xasprintf("%s before, %s after", names->moved.at[i].from,
				   names->moved.at[i].to));
	for (size_t i = 0; names && i < names->unclear.n && i < RENAMED_MOST; i++)
		add_made(v, names->moved.n == 0 && i == 0 ? "renamed?" : "",
			 xasprintf("which of %s, but for a number, are the same cannot be told",
				   names->unclear.at[i]));
	if (names && names->moved.n > RENAMED_MOST)
		add_made(
			v, "",
			xasprintf("%s more", fmt_count(n, (int64_t)names->moved.n - RENAMED_MOST)));
}

/* "+902 ± 1,100, from 10,410 to 11,312, run? the program changed, or one run differs so of itself"; the caller frees. */
static char *say_whole(const struct diff *d)
{
	static const char *const verdicts[] = {
		[VERDICT_NOISE] = ", noise",
		[VERDICT_OWN] = ", run? the program changed, or one run differs so of itself",
		[VERDICT_BEYOND] = "",
	};
	const struct noise_delta *w = &d->whole;
	char before[FMT_SIZE], after[FMT_SIZE], change[FMT_SIZE], half[FMT_SIZE];
	bool exact = w->half <= 0;

	return xasprintf("%s%s%s, from %s to %s%s", fmt_change(change, diff_change(w), d->unit),
			 exact ? "" : " ± ", exact ? "" : fmt_amount(half, w->half, d->unit),
			 fmt_amount(before, w->before, d->unit),
			 fmt_amount(after, w->after, d->unit),
			 diff_change(w) == 0 ? "" : verdicts[diff_whole_verdict(d)]);
}

/* Of a comparison: what changed, in a few sentences. */
static void add_changes(struct info_view *v, const struct scene *s)
{
	const struct diff *d = s->analysis->diff;
	struct explanation x;
	/* Of sides that were made equal by something, what they had in common before tells how long they were. */
	char *rest = diff_say_rest(d), *typical = rest ? rest : diff_say_typical(d);
	char *doubt = diff_say_doubt(d);

	add_title(v, "what changed");
	add_made(v, "total", say_whole(d));
	if (typical)
		add_made(v, "most alike", typical);
	if (doubt)
		add_made(v, "doubtful", doubt);
	explain(d, REASONS_MOST, &x);
	add_renamed(v, s->analysis->lens.names);
	add_made(v, "beyond noise", x.reasons.n ? explain_heading(d, &x) : xstrdup("nothing"));
	for (size_t i = 0; i < x.reasons.n; i++)
		add_made(v, "", xstrdup(x.reasons.at[i].sentence));
	if (x.reasons.n)
		add_made(v, "", explain_sum(d, &x));
	explanation_done(&x);
}

/* What the screens show: the metric, of how many samples, through which filter. */
static void add_shown(struct info_view *v, const struct scene *s)
{
	const struct analysis *a = s->analysis;
	const struct weights *w = &a->weights;
	char out[FMT_SIZE], part[FMT_SIZE], nodes[FMT_COUNTED_SIZE];
	struct scene in_units = *s;

	in_units.percent = false;
	add_title(v, "shown");
	for (uint32_t i = 0; i < (a->diff ? 1 : lens_n_shown(&a->lens)); i++)
		add_made(v, i == 0 ? "metric" : "beside it",
			 metric_name(a->profile, a->lens.column[i].metric));
	row_share(out, &in_units, w->total[0], w->whole[0]);
	if (w->total[0] != w->whole[0])
		add_made(v, "total",
			 xasprintf("%s, %s %% of all", out,
				   fmt_percent(part, w->total[0], w->whole[0])));
	else
		add_made(v, "total", xstrdup(out));
	add_made(v,
		 metric_is_heap(s->analysis->profile, s->analysis->lens.column[0].metric)
			 ? "allocations"
			 : "samples",
		 xstrdup(fmt_weight(out, (int64_t)w->n_samples, UNIT_COUNT, w->sample_scale)));
	if (w->n_threads > 0)
		add_made(v, "threads", xstrdup(fmt_count(out, (int64_t)w->n_threads)));
	if (w->begin_ns != TIME_NONE)
		add_made(v, "duration", xstrdup(fmt_ns(out, w->end_ns - w->begin_ns)));
	if (a->lens.filter && filter_n_terms(a->lens.filter) > 0)
		add_made(v, "filter", filter_text(a->lens.filter));
	add_made(v, "rows", xstrdup(grouping_name(a->lens.grouping)));
	add_made(v, "stacks",
		 xasprintf("%s, at most %s deep", fmt_counted(nodes, a->tree->n_nodes - 1, "node"),
			   fmt_count(part, a->tree->max_depth)));
}

/* A section's title, with the input's name where there are several. */
static const char *title_of(struct info_view *v, const struct scene *s, const struct fact *f)
{
	const char *section = string_of(s, f->section);
	char *title;
	const char *kept;

	if (s->analysis->counts.n_parts < 2 || f->part.v >= s->analysis->counts.n_parts)
		return section;
	title = xasprintf("%s of %s", section,
			  string_of(s, profile_part(s->analysis->profile, f->part)->path));
	kept = arena_strndup(&v->made, title, strlen(title));
	free(title);
	return kept;
}

/* All facts, with a title before each section. */
static void add_facts(struct info_view *v, const struct scene *s)
{
	const struct profile *p = s->analysis->profile;
	uint32_t *order = fact_order(p, &s->analysis->counts);
	struct fact f, before = { 0 };

	for (uint32_t i = 0; i < s->analysis->counts.n_facts; i++, before = f) {
		f = profile_fact(p, order[i]);
		if (i == 0 || f.part.v != before.part.v || f.section.v != before.section.v)
			add_title(v, title_of(v, s, &f));
		add_fact(v, string_of(s, f.name), string_of(s, f.text), f.kind);
	}
	free(order);
}

static int widest_name(const struct scene *s)
{
	int cols = 9;

	for (uint32_t i = 0; i < s->analysis->counts.n_facts; i++) {
		const char *name = string_of(s, profile_fact(s->analysis->profile, i).name);
		size_t got;

		text_clip(name, strlen(name), NAME_MOST, &got);
		cols = (int)got > cols ? (int)got : cols;
	}
	return cols;
}

static void write_lines(struct info_view *v, const struct scene *s)
{
	int widest = widest_name(s);

	vec_clear(&v->lines);
	arena_done(&v->made);
	arena_init(&v->made);
	v->name_cols = widest < v->cols / 3 ? widest : v->cols / 3;
	if (s->analysis->diff && s->analysis->tree)
		add_changes(v, s);
	add_facts(v, s);
	add_shown(v, s);
}

static void info_update(void *state, const struct scene *s)
{
	struct info_view *v = state;

	write_lines(v, s);
	if (!s->search)
		v->found = UINT32_MAX;
}

/* Does the search match what begins on the line: a title, or a fact's name or text? */
static bool line_matches(const struct scene *s, const struct info_line *line)
{
	if (!s->search || !line->name)
		return false;
	return search_matches(s->search, line->name, strlen(line->name)) ||
	       (line->text && search_matches(s->search, line->text, strlen(line->text)));
}

static uint32_t last_top(const struct info_view *v)
{
	return v->lines.n > v->rows ? (uint32_t)v->lines.n - v->rows : 0;
}

static void info_layout(void *state, const struct scene *s, struct rect r)
{
	struct info_view *v = state;

	if (v->cols != r.cols) {
		v->cols = r.cols;
		write_lines(v, s);
	}
	v->rows = r.rows > 0 ? (uint32_t)r.rows : 0;
	if (v->top > last_top(v))
		v->top = last_top(v);
}

/* match: a flag for what the search found. */
static void draw_line(const struct info_view *v, struct canvas *c, struct rect r, int row,
		      const struct info_line *line, uint16_t match)
{
	uint16_t style = line->kind == FACT_LOSS ? STYLE_ERROR : STYLE_NORMAL;
	int text = 4 + v->name_cols;

	if (!line->text && line->name) {
		canvas_puts(c, row, r.col + 1, r.cols - 1, STYLE_HEADER | match, line->name);
		return;
	}
	if (line->name) {
		if (line->kind == FACT_LOSS && r.cols > 1)
			canvas_puts(c, row, r.col + 1, 1, STYLE_ERROR, "!");
		else if (line->kind == FACT_MISSING && r.cols > 1)
			canvas_puts(c, row, r.col + 1, 1, STYLE_DIM, "?");
		canvas_puts(c, row, r.col + 3,
			    line->n > 0 && v->name_cols < r.cols - 3 ? v->name_cols : r.cols - 3,
			    STYLE_DIM | match, line->name);
	}
	if (line->text && text < r.cols)
		canvas_put(c, row, r.col + text, r.cols - text, style | match, line->text, line->n);
}

static void info_draw(const void *state, const struct scene *s, struct canvas *c, struct rect r)
{
	const struct info_view *v = state;

	for (int i = 0; i < r.rows && v->top + (size_t)i < v->lines.n; i++) {
		uint32_t at = v->top + (uint32_t)i;
		const struct info_line *line = &v->lines.at[at];
		uint16_t match = line_matches(s, line) ? STYLE_MATCH : 0;

		draw_line(v, c, r, r.row + i, line, match);
		if (match && at == v->found && r.cols > 1) {
			c->cursor_row = r.row + i;
			c->cursor_col = r.col + 1;
			canvas_fill(c, r.row + i, r.col, 1, STYLE_HOT, GLYPH_CLOSED);
		}
	}
}

static bool info_act(void *state, const struct scene *s, enum action a, struct effect *out)
{
	struct info_view *v = state;
	uint32_t page = v->rows > 1 ? v->rows - 1 : 1, was = v->top, by = 0;
	bool down = true;

	(void)s;
	(void)out;
	switch ((int)a) {
	case ACTION_DOWN:
	case ACTION_UP:
		by = 1;
		down = a == ACTION_DOWN;
		break;
	case ACTION_PAGE_DOWN:
	case ACTION_PAGE_UP:
		by = page;
		down = a == ACTION_PAGE_DOWN;
		break;
	case ACTION_HALF_DOWN:
	case ACTION_HALF_UP:
		by = (page + 1) / 2;
		down = a == ACTION_HALF_DOWN;
		break;
	case ACTION_FIRST:
	case ACTION_LAST:
		by = UINT32_MAX / 2;
		down = a == ACTION_LAST;
		break;
	default:
		return false;
	}
	if (down)
		v->top = by < last_top(v) - v->top ? v->top + by : last_top(v);
	else
		v->top -= by < v->top ? by : v->top;
	return v->top != was;
}

static void info_click(void *state, const struct scene *s, struct rect r, int row, int col,
		       bool twice, struct effect *out)
{
	(void)state;
	(void)s;
	(void)r;
	(void)row;
	(void)col;
	(void)twice;
	(void)out;
}

static void info_select(void *state, const struct scene *s, const struct place *p)
{
	(void)state;
	(void)s;
	(void)p;
}

static bool info_selection(const void *state, const struct scene *s, struct place *out)
{
	(void)state;
	(void)s;
	(void)out;
	return false;
}

static uint32_t info_find(void *state, const struct scene *s, int step, uint32_t *at)
{
	struct info_view *v = state;
	struct match_cursor f;

	match_cursor_start(&f, v->found != UINT32_MAX ? v->found : v->top, step);
	for (uint32_t i = 0; i < v->lines.n; i++)
		if (line_matches(s, &v->lines.at[i]))
			match_cursor_add(&f, i);
	*at = match_cursor_end(&f);
	if (!f.goes)
		return f.n;
	v->found = f.target;
	if (f.target < v->top || f.target - v->top >= v->rows)
		v->top = f.target - (f.target < v->rows / 3 ? f.target : v->rows / 3);
	if (v->top > last_top(v))
		v->top = last_top(v);
	return f.n;
}

/* Lines weigh nothing. */
static int64_t info_found(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return -1;
}

static char *info_no_text(const void *state, const struct scene *s)
{
	(void)state;
	(void)s;
	return NULL;
}

/* The last line in sight, and of how many. */
static void info_position(const void *state, uint32_t *at, uint32_t *of)
{
	const struct info_view *v = state;
	size_t last = v->top + (size_t)v->rows;

	*of = (uint32_t)v->lines.n;
	*at = last < v->lines.n ? (uint32_t)last : *of;
}

const struct view_ops view_info = {
	.name = "info",
	.help = "what is in the file, what was lost, how good the stacks are",
	.contexts = IN_TEXT,
	.of_tree = true,
	.new = info_new,
	.free = info_free,
	.update = info_update,
	.layout = info_layout,
	.draw = info_draw,
	.act = info_act,
	.click = info_click,
	.select = info_select,
	.selection = info_selection,
	.find = info_find,
	.found = info_found,
	.status = info_no_text,
	.position = info_position,
	.crumb = info_no_text,
};
