/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The frame around the views: where am I and of how much, the tabs, activity over time, the full text
 * of the selected row, filter and search, hints.
 */
#include "config.h"

#include "tui/app/app_draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/app/app_chrome.h"
#include "tui/app/app_compare.h"
#include "tui/app/app_comparison.h"
#include "tui/app/app_help.h"
#include "tui/app/app_hints.h"
#include "tui/app/app_menu.h"
#include "tui/app/app_notes.h"
#include "tui/app/app_saved.h"
#include "tui/app/app_live.h"
#include "tui/app/app_state.h"
#include "tui/app/app_tabs.h"
#include "tui/app/app_total.h"
#include "tui/app/app_views.h"
#include "tui/app/app_window.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/row.h"
#include "tui/rows/time_axis.h"

#define MAX_TITLE_PARTS 12 /* variants of what stands on the right of row 0 */

/* Fewer columns have no room for the cursor's row in numbers. */
#define POSITION_COLS 60

/* What is due on the right of row 0 leaves so many columns to what is on the left, which needs more where there are few. */
#define LEFT_COLS(cols) ((cols) < POSITION_COLS ? 18 : 12)

/* What stands on the right of row 0 while loading. */
static char *loading_text(const struct app *a)
{
	char keys[APP_KEYS_SIZE], bytes[FMT_SIZE];
	int percent = a->percent_loaded;

	keymap_keys(&a->settings->keymap, a->view, app_contexts(a), ACTION_STOP, keys,
		    sizeof(keys));
	if (a->source->progress && atomic_load(&a->source->progress->grows))
		return xasprintf("growing · %s stops", keys);
	if (percent >= 0)
		return xasprintf("loading %d %% · %s stops", percent, keys);
	if (!a->source->progress)
		return xstrdup("loading");
	fmt_bytes(bytes, (int64_t)atomic_load(&a->source->progress->done));
	return xasprintf("loading %s · %s stops", bytes, keys);
}

/* A form with one more part than form n; returns its index. */
static int add_total(char *out[MAX_TITLE_PARTS], int n, char *part)
{
	out[n + 1] = xasprintf("%s · %s", out[n], part);
	free(part);
	return n + 1;
}

/* The right end of row 0, in ever longer forms; the caller frees them. For the first *n_due the left gives way. */
static int totals(const struct app *a, char *out[MAX_TITLE_PARTS], int *n_due)
{
	const struct weights *w = &a->analysis->weights;
	char time[FMT_SIZE], threads[FMT_SIZE], share[FMT_SIZE];
	int n = 0;

	*n_due = 0;
	if (a->source->live && a->analysis->profile == a->source->profile)
		return app_live_totals(a, out, MAX_TITLE_PARTS, n_due);
	if (a->loading) {
		out[0] = loading_text(a);
		if (!a->source->progress || !atomic_load(&a->source->progress->grows))
			return 1;
		n = add_total(out, n, app_total_text(a));
		return app_has_times(w)
			       ? add_total(out, n, xstrdup(fmt_ns(time, w->end_ns - w->begin_ns))) +
					 1
			       : n + 1;
	}
	/* All is read, but the screen may still be of an earlier part. */
	if (a->analysis->profile == a->nothing || a->analysis->counts.version < a->whole_version) {
		out[0] = xstrdup("counting");
		return 1;
	}
	if (a->analysis->diff)
		return app_compare_titles(a->analysis, out, MAX_TITLE_PARTS);
	out[0] = app_total_text(a);
	if (w->total[0] != w->whole[0] &&
	    metric_same_event(app_shown_metric(a), a->analysis->lens.column[0].metric))
		n = add_total(out, n,
			      xasprintf("%s %% of all%s",
					fmt_percent(share, w->total[0], w->whole[0]),
					app_share_of(a)));
	if (app_has_times(w) && w->first_ns != TIME_NONE)
		n = add_total(out, n, xstrdup(fmt_ns(time, app_total_ns(a))));
	if (w->n_threads > 0 && !app_is_of_all_measures(a))
		n = add_total(out, n,
			      xasprintf("%s thread%s", fmt_count(threads, (int64_t)w->n_threads),
					w->n_threads == 1 ? "" : "s"));
	return n + 1;
}

/* What a recording of a heap does not know: " · sampled ±12.5 %"; "" for one that knows all. The caller frees. */
static char *manner_text(const struct app *a)
{
	const struct analysis *an = a->analysis;
	const struct footprint *f = an->footprint;
	struct heap_manner manner;
	char error[FMT_SIZE] = "", below[FMT_SIZE] = "", culled[FMT_SIZE], gone[FMT_SIZE];
	const char *became, *stopped, *clock;

	if (!metric_is_heap(an->profile, app_shown_metric(a)))
		return xstrdup("");
	manner = heap_manner_of(an->profile, &an->counts);
	if (manner.sampled && f)
		fmt_percent(error, (int64_t)(f->error * 1e6), 1000000);
	if (*error && f->excess > 0)
		fmt_percent(below, (int64_t)((f->error + f->excess) * 1e6), 1000000);
	if (strcmp(below, error) == 0)
		*below = '\0';
	fmt_ns(culled, manner.culled_ns);
	fmt_count(gone, manner.n_gone);
	became = manner.became ? strrchr(manner.became, '/') : NULL;
	became = became ? became + 1 : manner.became ? manner.became : "";
	stopped = manner.stopped ? manner.stopped : "";
	clock = manner.clock ? manner.clock : "";
	return xasprintf("%s%.*s%s%s%s%s%s%s%s%s%s%s%s%s%.*s%s%s%s%s", *clock ? " · " : "",
			 (int)strcspn(clock, ":"), clock,

			 manner.sampled ? " · sampled" : "",
			 !*error  ? ""
			 : *below ? " +"
				  : " ±",
			 error, *below ? " -" : "", below, *error ? " %" : "",
			 manner.culled_ns > 0 ? " · culled <" : "",
			 manner.culled_ns > 0 ? culled : "", manner.attached ? " · attached" : "",
			 manner.became ? " · became " : "", became, *stopped ? " · stopped: " : "",
			 (int)strcspn(stopped, ":"), stopped,
			 manner.goes_on ? " · being written" : "", manner.n_gone > 0 ? " · " : "",
			 manner.n_gone > 0 ? gone : "", manner.n_gone > 0 ? " exited" : "");
}

/* What is counted; what a program that runs on has not freed is no leak yet. The caller frees. */
static char *metric_text(const struct app *a)
{
	const struct analysis *an = a->analysis;
	struct metric m = app_shown_metric(a);
	const char *event;

	if (m.event.v >= an->counts.n_events)
		return NULL;
	event = metric_event_name(an->profile, m);
	if (a->loading && m.measure == MEASURE_LEAKED && metric_is_heap(an->profile, m))
		return xasprintf("%s not freed so far", event);
	return metric_name(an->profile, m);
}

/* "perf.data › cpu-clock › main › parse"; the caller frees. */
static char *breadcrumb(struct app *a)
{
	void *state = app_state(a);
	char *crumb = app_ops(a)->crumb ? app_ops(a)->crumb(state, &a->scene) : NULL;
	char *metric = metric_text(a), *more = app_more_text(a), *manner = manner_text(a), *sides,
	     *text;

	sides = app_comparison_name(a);
	text = xasprintf("%s%s%s%s%s%s%s%s%s", a->source->title, *sides ? " › " : "", sides,
			 metric ? " › " : "", metric ? metric : "", metric ? more : "", manner,
			 crumb ? " › " : "", crumb ? crumb : "");
	free(sides);
	free(manner);
	free(more);
	free(metric);
	free(crumb);
	return text;
}

/* Puts the end of a text that is too long for cols behind "…". */
static void put_tail(struct canvas *c, int row, int col, int cols, uint16_t style, const char *s)
{
	size_t n = strlen(s), used;

	if (text_width(s, n) <= (size_t)cols) {
		canvas_put(c, row, col, cols, style, s, n);
		return;
	}
	while (n > 0 && text_width(s, n) > (size_t)cols - 1) {
		text_decode(s, n, &used);
		s += used;
		n -= used;
	}
	canvas_fill(c, row, col, 1, style, 0x2026);
	canvas_put(c, row, col + 1, cols - 1, style, s, n);
}

static void draw_title(struct app *a, struct canvas *c)
{
	char *right[MAX_TITLE_PARTS], *left = breadcrumb(a);
	int n_due, n = totals(a, right, &n_due), row = a->chrome.title, used = 0;
	int left_cols = (int)text_width(left, strlen(left));

	for (int i = n; i > 0 && used == 0; i--) {
		int cols = (int)text_width(right[i - 1], strlen(right[i - 1]));

		/* the shortest form may take up to half of the row from the left */
		if (left_cols + cols + 4 <= c->cols || (i == 1 && cols + 2 <= c->cols / 2) ||
		    (i <= n_due && LEFT_COLS(c->cols) + cols + 2 <= c->cols)) {
			canvas_puts(c, row, c->cols - cols - 1, cols, STYLE_NORMAL, right[i - 1]);
			used = cols + 3;
		}
	}
	if (c->cols - used > 2)
		put_tail(c, row, 1, c->cols - used - 1, STYLE_TITLE, left);
	for (int i = 0; i < n; i++)
		free(right[i]);
	free(left);
}

static void draw_activity(const struct app *a, struct canvas *c)
{
	const struct weights *w = &a->analysis->weights;
	int row = a->chrome.activity, first, last;
	int64_t from, to;
	char label[3 * FMT_SIZE];
	struct time_axis t;

	if (!app_activity_axis(a, c->cols, &t, label))
		return;
	canvas_spark(c, row, 1, t.cols, STYLE_SPARK, w->slice, WEIGH_N_SLICES, 0);
	canvas_puts(c, row, t.cols + 1, c->cols, STYLE_DIM, label);
	if (w->first_ns == TIME_NONE)
		return;
	app_shown_span(a, &from, &to);
	first = time_axis_col(&t, from);
	last = time_axis_col(&t, to > from ? to - 1 : to);
	if (first > 0 || last < t.cols - 1)
		canvas_restyle(c, row, 1 + first, last - first + 1, STYLE_SPARK, STYLE_SPARK_RANGE);
}

/* Columns that a name keeps beside what is said behind it. */
#define NAME_LEAST_COLS 16

/* Columns that a long name has before what stands in front of it: it is read in full here where rows fold it. */
#define NAME_MOST_COLS 44

/*
 * Where a name has no room, what stands just before it goes, a part at a time: its file, its module; its self only where there
 * is hardly any. The first part stays. Returns where the name is then.
 */
static char *drop_before(char *text, char *name, int cols)
{
	char *second = strstr(text, "  ") + 2, *third = strstr(second, "  ");
	const char *behind = strstr(name, " · ");
	int want = (int)text_width(name, behind ? (size_t)(behind - name) : strlen(name));

	want = want > NAME_MOST_COLS ? NAME_MOST_COLS : want;
	while (name > second && cols - (int)text_width(text, (size_t)(name - text)) <
					(third && name > third + 2 ? want : NAME_LEAST_COLS)) {
		char *part = name - 2;

		while (part > second && strncmp(part - 2, "  ", 2) != 0)
			part--; /* to where the part before the name begins */
		memmove(part, name, strlen(name) + 1);
		name = part;
	}
	return name;
}

/*
 * A status that is too long: what stands last, a name, is folded. What is said behind the name (" · this column") is no part of
 * it: it stays as it is, or goes. The caller frees.
 */
static char *fold_status(char *text, int cols, bool ascii)
{
	char *name = text, *short_name, *out, *behind;

	/* more blanks are within an instruction */
	for (char *at = strstr(text, "  "); at; at = strstr(at + strspn(at, " "), "  "))
		name = strspn(at, " ") == 2 ? at + 2 : name;
	if ((int)text_width(text, strlen(text)) <= cols || name == text)
		return text;
	name = drop_before(text, name, cols);
	cols -= (int)text_width(text, (size_t)(name - text));
	behind = strstr(name, " · ");
	if (behind && cols - (int)text_width(behind, strlen(behind)) < NAME_LEAST_COLS) {
		*behind = '\0';
		behind = NULL;
	}
	if (behind) {
		cols -= (int)text_width(behind, strlen(behind));
		behind = xstrdup(behind);
		*strstr(name, " · ") = '\0';
	}
	short_name = name_short(name, cols > 8 ? cols : 8, ascii);
	out = xasprintf("%.*s%s%s", (int)(name - text), text, short_name, behind ? behind : "");
	free(short_name);
	free(behind);
	free(text);
	return out;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* What is still too long is cut, but never within a number or its unit: half a pid is another one, and 5 m are no 5 ms. */
static void cut_status(char *text, int cols)
{
	size_t got, n = text_clip(text, strlen(text), (size_t)cols, &got), at = n;

	if (text[n] == '\0')
		return;
	while (at > 0 && text[at - 1] != ' ')
		at--;
	if (n > at && strcspn(text + at, "0123456789") < n - at + 1)
		n = at;
	if (n > at && text[n] != ' ' && at >= 2 && is_digit(text[at - 2]))
		for (n = at - 1; n > 0 && text[n - 1] != ' ';)
			n--;
	while (n > 0 && text[n - 1] == ' ')
		n--;
	if (n >= 4 && (!strncmp(text + n - 4, " pid", 4) || !strncmp(text + n - 4, " tid", 4)))
		n -= 4;
	text[n] = '\0';
}

/* "13/1,973" at the right of the status; returns the columns it takes. */
static int draw_position(struct app *a, struct canvas *c)
{
	char at[FMT_SIZE], of[FMT_SIZE], text[2 * FMT_SIZE];
	uint32_t row, n;
	int cols;

	if (!app_ops(a)->position || c->cols < POSITION_COLS)
		return 0;
	app_ops(a)->position(app_state(a), &row, &n);
	if (n == 0)
		return 0;
	snprintf(text, sizeof(text), "%s/%s", fmt_count(at, row), fmt_count(of, n));
	cols = (int)strlen(text);
	canvas_puts(c, a->chrome.status, c->cols - cols - 1, cols, STYLE_DIM, text);
	return cols + 2;
}

/* "search  /sort  2/3" of the overlay. */
static void draw_help_found(const struct app *a, struct canvas *c, int row, int col)
{
	const struct help *h = &a->help;
	char at[FMT_SIZE], n[FMT_SIZE];

	if (!h->pattern)
		return;
	if (a->prompting == PROMPT_NONE) {
		col += canvas_puts(c, row, col, c->cols - col, STYLE_DIM, "search  ");
		col += canvas_printf(c, row, col, c->cols - col, STYLE_STATUS, "/%s  ", h->pattern);
	}
	if (h->n > 0)
		canvas_printf(c, row, col, c->cols - col, STYLE_STATUS, "%s/%s",
			      fmt_count(at, h->at), fmt_count(n, h->n));
	else
		canvas_puts(c, row, col, c->cols - col, STYLE_STATUS, "no match");
}

/* Are the numbers on screen of another metric, or not yet of both sides? */
static bool numbers_are_due(const struct app *a)
{
	const struct lens *is = &a->analysis->lens;
	struct metric m = app_window_metric(a), shown = is->column[0].metric;
	bool compares = lens_compares(&a->lens) || a->live.baseline_ns >= 0;

	return a->asked && (m.event.v != shown.event.v || m.measure != shown.measure ||
			    compares != lens_compares(is));
}

/* The selected row's note, at the left of the status, in at most half of cols; returns the columns used. */
static int draw_note(struct app *a, struct canvas *c, int cols)
{
	char *note = app_notes_text(a), *mark;
	int used;

	if (!note)
		return 0;
	mark = xasprintf("¶ %s", note);
	used = canvas_puts(c, a->chrome.status, 1, cols / 2, STYLE_MARK, mark);
	if ((int)text_width(mark, strlen(mark)) > used && used > 0)
		canvas_puts(c, a->chrome.status, used, 1, STYLE_MARK, "…");
	used += 2;
	free(mark);
	free(note);
	return used;
}

static void draw_status(struct app *a, struct canvas *c)
{
	int cols = c->cols - 1, col;
	char *text;

	if (a->message)
		return;
	if (a->help.open) {
		draw_help_found(a, c, a->chrome.status, 1);
		return;
	}
	cols -= draw_position(a, c);
	text = app_ops(a)->status(app_state(a), &a->scene);
	if (!text)
		return;
	cols -= col = draw_note(a, c, cols);
	text = fold_status(text, cols, c->ascii);
	cut_status(text, cols);
	canvas_puts(c, a->chrome.status, 1 + col, cols, STYLE_STATUS, text);
	free(text);
}

/* "3/41 · 12.7 % of total": what a search found; returns the columns used. */
static int draw_found(struct app *a, struct canvas *c, int row, int col)
{
	const struct seeking *s = &a->seeking;
	char share[FMT_SIZE], at[FMT_SIZE] = "-";
	int used = 0;
	int64_t found;

	if (s->error)
		return canvas_puts(c, row, col, c->cols - col, STYLE_ERROR, s->error);
	if (!a->scene.search)
		return 0;
	if (s->at > 0)
		fmt_count(at, s->at);
	if (s->n > 0) {
		char n[FMT_SIZE];

		used = canvas_printf(c, row, col, c->cols - col, STYLE_STATUS, "%s/%s", at,
				     fmt_count(n, s->n));
	}
	found = app_ops(a)->found ? app_ops(a)->found(app_state(a), &a->scene)
				  : a->seeking.search.total[0];
	/* A search carried from another view, of which nothing is found here: "0.0 %" would be read as its share. */
	if (found < 0 || (found == 0 && s->n == 0 && app_ops(a)->found))
		return used;
	if (search_gave_up(a->scene.search))
		used += canvas_puts(c, row, col + used, c->cols - col - used, STYLE_ERROR,
				    "  inexact, it takes too long");
	fmt_percent(share, found, a->analysis->weights.total[0]);
	return used + canvas_printf(c, row, col + used, c->cols - col - used, STYLE_STATUS,
				    "%s%s %% of total", used > 0 ? " · " : "", share);
}

/* The newest terms that fit into as many columns, with dots for others and for the end of one; returns the columns used. */
static int put_terms(struct canvas *c, int row, int col, int cols, const struct filter *f)
{
	size_t n = filter_n_terms(f), first = n;
	int wanted = 0, used = 0;

	while (first > 0) {
		const char *term = filter_term(f, first - 1);
		int width = (int)text_width(term, strlen(term)) + (first < n);

		if (first < n && wanted + width + (first > 1 ? 2 : 0) > cols)
			break;
		wanted += width;
		first--;
	}
	if (first > 0)
		used += canvas_puts(c, row, col, cols, STYLE_DIM, "… ");
	for (size_t i = first; i < n; i++) {
		if (i > first)
			used += canvas_puts(c, row, col + used, cols - used, STYLE_STATUS, " ");
		used += canvas_puts(c, row, col + used, cols - used, STYLE_STATUS,
				    filter_term(f, i));
	}
	if (wanted + (first > 0 ? 2 : 0) > cols && cols > 0)
		canvas_puts(c, row, col + cols - 1, 1, STYLE_DIM, "…");
	return used;
}

static void draw_terms(struct app *a, struct canvas *c)
{
	int row = a->chrome.terms, col = 1;

	if (a->own.first) {
		col += canvas_puts(c, row, col, c->cols - col, STYLE_DIM, "side a  ");
		col += canvas_puts(c, row, col, c->cols - col, STYLE_STATUS, a->own.first) + 3;
	}
	if (app_is_filtered(a)) {
		/* In front: the terms may fill the row. */
		if (analysis_gave_up(a->analysis))
			col += canvas_puts(c, row, col, c->cols - col, STYLE_ERROR,
					   "inexact, a term takes too long  ");
		col += canvas_puts(c, row, col, c->cols - col, STYLE_DIM, "filter  ");
		col += put_terms(c, row, col, c->cols - col, a->lens.filter);
		app_add_hit(a, row, 0, col, ACTION_FILTER);
		col += 3;
	}
	if (a->seeking.pattern && a->prompting == PROMPT_NONE) {
		col += canvas_puts(c, row, col, c->cols - col, STYLE_DIM, "search  ");
		col += canvas_printf(c, row, col, c->cols - col, STYLE_STATUS, "/%s  ",
				     a->seeking.pattern);
		draw_found(a, c, row, col);
	}
}

/* In front of the prompt that adds to them: the terms so far, where they leave room. Returns where the prompt begins. */
static int draw_terms_so_far(const struct app *a, struct canvas *c, int row)
{
	char *text = app_is_filtered(a) ? filter_text(a->lens.filter) : NULL;
	int col = 1;

	if (text && (int)text_width(text, strlen(text)) < c->cols / 2 - 10) {
		col += canvas_puts(c, row, col, c->cols - col, STYLE_DIM, "filter  ");
		col += canvas_puts(c, row, col, c->cols - col, STYLE_STATUS, text) + 2;
	}
	free(text);
	return col;
}

/* A sentence that the last row cuts stands above the prompt: a path without its end is of no use. */
static void draw_long_message(const struct app *a, struct canvas *c)
{
	uint16_t style = a->message_bad ? STYLE_ERROR : STYLE_STATUS;
	int n = a->message ? canvas_put_lines(c, 0, 0, c->cols - 1, 0, style, a->message) : 0;
	int top;

	if (n <= 1)
		return;
	n = n > a->chrome.prompt ? a->chrome.prompt : n;
	top = a->chrome.prompt - n;
	for (int i = top; i < top + n; i++)
		canvas_fill(c, i, 0, c->cols, STYLE_NORMAL, ' ');
	canvas_put_lines(c, top, 1, c->cols - 1, n, style, a->message);
}

static void draw_prompt(struct app *a, struct canvas *c)
{
	int row = a->chrome.prompt, used, col;
	int room = c->cols > 60 ? c->cols - 30 : c->cols - c->cols / 3;

	draw_long_message(a, c);
	canvas_fill(c, row, 0, c->cols, STYLE_NORMAL, ' ');
	if (a->prompting == PROMPT_SEARCH) {
		used = prompt_draw(&a->prompt, c, row, 1, room);
		if (a->help.open)
			draw_help_found(a, c, row, used + 4);
		else
			draw_found(a, c, row, used + 4);
		return;
	}
	col = a->prompting == PROMPT_FILTER ? draw_terms_so_far(a, c, row) : 1;
	used = col + prompt_draw(&a->prompt, c, row, col, c->cols - col);
	if (a->message && a->chrome.hints < 0)
		canvas_puts(c, row, used + 3, c->cols - used - 3, STYLE_ERROR, a->message);
}

/* What one may type; or what is wrong with what was typed. */

/*
 * In the status row, or in the last one where there is none, until the next key. What is longer goes on in the rows below, and
 * begins in those above, as a name of a file is of no use without its end.
 */
static void draw_message(const struct app *a, struct canvas *c)
{
	int bottom = a->chrome.hints >= 0    ? a->chrome.hints
		     : a->chrome.status >= 0 ? a->chrome.status
					     : a->rows - 1;
	int row = a->chrome.status >= 0 ? a->chrome.status : a->rows - 1, cols = c->cols - 1;
	uint16_t style = a->message_bad ? STYLE_ERROR : STYLE_STATUS;
	int n = canvas_put_lines(c, 0, 0, cols, 0, style, a->message);
	int used = (int)text_width(a->message, strlen(a->message));

	if (n > bottom + 1)
		n = bottom + 1;
	if (n > 1)
		row = row < bottom - n + 1 ? row : bottom - n + 1;
	for (int i = row; i < row + n; i++)
		canvas_fill(c, i, 0, c->cols, STYLE_NORMAL, ' ');
	canvas_put_lines(c, row, 1, cols, n, style, a->message);
	if (n == 1 && numbers_are_due(a))
		canvas_puts(c, row, 1 + used, cols - used, STYLE_DIM, ", computing");
}

static void draw_frame(struct app *a, struct canvas *c)
{
	const struct chrome *f = &a->chrome;

	if (f->title >= 0)
		draw_title(a, c);
	if (f->tabs >= 0)
		app_draw_tabs(a, c, f->tabs);
	if (f->activity >= 0)
		draw_activity(a, c);
	if (f->status >= 0)
		draw_status(a, c);
	if (f->terms >= 0)
		draw_terms(a, c);
	if (f->hints >= 0)
		app_draw_hints(a, c);
}

/* Below a view that has nothing to show: how to get back to where there is something. */
static void draw_way_out(const struct app *a, struct canvas *c)
{
	const struct weights *w = &a->analysis->weights;
	struct rect r = a->chrome.view;
	int row = r.row + r.rows / 3 + 1;
	char key[APP_KEYS_SIZE];

	if (w->total[0] != 0 || a->loading || app_ops(a)->contexts & IN_TEXT ||
	    row >= r.row + r.rows)
		return;
	if (app_is_filtered(a) && a->trail.n > 0) {
		const char *terms = a->trail.at[a->trail.n - 1].terms;

		app_first_key(a, ACTION_BACK, key);
		canvas_printf(c, row, r.col + 2, r.cols - 2, STYLE_DIM, "%s takes %s away again",
			      key, terms ? terms : "the last step");
	} else if (app_is_filtered(a)) {
		size_t n = filter_n_terms(a->lens.filter);

		app_first_key(a, ACTION_FILTER, key);
		canvas_printf(c, row, r.col + 2, r.cols - 2, STYLE_DIM, "%s and Enter take %s away",
			      key, filter_term(a->lens.filter, n - 1));
	} else if (a->analysis->counts.n_events > 1) {
		app_first_key(a, ACTION_METRIC, key);
		canvas_printf(c, row, r.col + 2, r.cols - 2, STYLE_DIM, "%s shows the next event",
			      key);
	} else {
		app_first_key(a, (enum action)((int)ACTION_VIEW_1 + (int)VIEW_KIND_INFO), key);
		canvas_printf(c, row, r.col + 2, r.cols - 2, STYLE_DIM,
			      "%s shows what is in the file", key);
	}
}

void app_draw(struct app *a, struct canvas *c)
{
	void *state;

	canvas_clear(c);
	vec_clear(&a->hits);
	if (a->rows <= 0 || a->cols <= 0)
		return;
	state = app_state(a);
	draw_frame(a, c);
	if (a->help.open)
		app_draw_help(c, a->chrome.view, a);
	else
		app_ops(a)->draw(state, &a->scene, c, a->chrome.view);
	if (!a->help.open)
		draw_way_out(a, c);
	if (a->menu.open && a->menu.of_views)
		app_saved_draw(a, c, a->chrome.view);
	else if (a->menu.open)
		app_draw_menu(a, c, a->chrome.view);
	if (a->prompting != PROMPT_NONE)
		draw_prompt(a, c);
	else if (a->message)
		draw_message(a, c);
}
