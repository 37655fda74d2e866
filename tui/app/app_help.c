/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The help overlay: the keys that work in this view now, then those that work everywhere. */
#include "config.h"

#include "tui/app/app_help.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/regex.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/rows/match_cursor.h"
#include "tui/rows/row.h"

#define KEYS_COLS 24

/* Draws lines [top, top + rows) of a text that is walked from its first line on. */
struct page {
	struct canvas *c;
	struct rect r;
	int top;                      /* first line in sight */
	int line;                     /* the one that comes next */
	struct regex *regex;          /* what is searched, or NULL */
	struct match_cursor *finding; /* to be told which lines match, or NULL */
};

/* Does the search match the entry that begins on the next line? Then a flag for its style. */
static uint16_t match_entry(const struct page *p, const char *text, const char *more)
{
	if (!p->regex || (!regex_matches(p->regex, text, strlen(text)) &&
			  !regex_matches(p->regex, more, strlen(more))))
		return 0;
	if (p->finding)
		match_cursor_add(p->finding, (uint32_t)p->line);
	return STYLE_MATCH;
}

/* The canvas row of the next line, or -1 when it is out of sight. */
static int next_row(struct page *p)
{
	int line = p->line++ - p->top;

	return p->c && line >= 0 && line < p->r.rows ? p->r.row + line : -1;
}

/* Bytes of s that fit in cols columns, whole words if there are any. */
static size_t fitting(const char *s, int cols)
{
	size_t width, n = text_clip(s, strlen(s), cols > 0 ? (size_t)cols : 0, &width);

	if (s[n] == '\0')
		return n;
	for (size_t i = n; i > 0; i--)
		if (s[i] == ' ')
			return i;
	return n > 0 ? n : strlen(s);
}

/* On as many lines as it takes. */
static void put(struct page *p, uint16_t style, const char *text)
{
	style |= match_entry(p, text, "");
	do {
		size_t n = fitting(text, p->r.cols - 1);
		int row = next_row(p);

		if (row >= 0)
			canvas_put(p->c, row, p->r.col + 1, p->r.cols - 1, style, text, n);
		text += n;
		text += strspn(text, " ");
	} while (*text != '\0');
}

/* Keys on the left, what they do on the right, on as many lines as that takes. */
static void put_key(struct page *p, const char *keys, const char *help)
{
	int keys_cols = p->r.cols > 3 * KEYS_COLS ? KEYS_COLS : p->r.cols / 3;
	int col = p->r.col + 1, cols = p->r.cols - keys_cols - 1;
	uint16_t match = match_entry(p, keys, help);

	for (bool first = true; first || *help != '\0'; first = false) {
		size_t n = fitting(help, cols);
		int row = next_row(p);

		if (row >= 0 && first)
			canvas_puts(p->c, row, col, keys_cols - 1, STYLE_HINT_KEY | match, keys);
		if (row >= 0)
			canvas_put(p->c, row, col + keys_cols, cols, STYLE_NORMAL | match, help, n);
		help += n;
		help += strspn(help, " ");
	}
}

/* Does the action mean anything at this moment? */
static bool works_now(const struct app *a, enum action action)
{
	switch (action) {
	case ACTION_STOP:
		return a->loading;
	case ACTION_SIDE_A:
		return app_has_sides(a);
	case ACTION_EQUALISE:
	case ACTION_SIZE:
		return a->analysis->diff != NULL;
	case ACTION_HEAP_VIEW:
		return app_has_view(a, VIEW_KIND_LEAKS);
	case ACTION_HEAT_MAP:
		return !a->analysis->diff;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		return a->seeking.pattern != NULL;
	default:
		return action_help(action)[0] != '\0' && !app_not_of_rows(a, action);
	}
}

/* Keys that are of comparisons alone. */
static bool of_comparisons(enum action action)
{
	return action == ACTION_EQUALISE || action == ACTION_SIZE || action == ACTION_LEAVE_SIDES ||
	       action == ACTION_ALIGN;
}

static const char *help_of(const struct app *a, enum action action)
{
	if (action == ACTION_QUIT && a->source->ends_command)
		return "close the view; on the last one quit, which ends the command, too, after a question";
	return action_help_in(action, app_contexts(a));
}

static void put_action(struct page *p, const struct app *a, enum action action)
{
	uint32_t contexts = app_contexts(a);
	char keys[64];

	if (!(action_where(action) & contexts) || !works_now(a, action))
		return;
	keymap_keys(&a->settings->keymap, a->view, contexts, action, keys, sizeof(keys));
	if (keys[0] != '\0')
		put_key(p, keys, help_of(a, action));
}

#define MOST_ACTIONS 12

/* What one does most in a view comes first; the first row that fits counts. */
static const struct {
	uint32_t where;
	enum action action[MOST_ACTIONS];
} most[] = {
	{ IN_HEAT,
	  { ACTION_LEFT, ACTION_RIGHT, ACTION_DOWN, ACTION_UP, ACTION_ENTER, ACTION_MARK_A,
	    ACTION_MARK_B, ACTION_PEAK, ACTION_ZOOM_IN, ACTION_ZOOM_OUT } },
	{ IN_FLAME,
	  { ACTION_ENTER, ACTION_LEFT, ACTION_RIGHT, ACTION_DOWN, ACTION_UP, ACTION_TO_ANNOTATE,
	    ACTION_TO_CALLERS, ACTION_INVERT, ACTION_SEARCH, ACTION_FILTER, ACTION_MENU } },
	{ IN_TREE,
	  { ACTION_ENTER, ACTION_RIGHT, ACTION_LEFT, ACTION_HOT_PATH, ACTION_TO_ANNOTATE,
	    ACTION_TO_CALLERS, ACTION_TO_FLAME, ACTION_SEARCH, ACTION_FILTER, ACTION_MENU } },
	{ IN_BFLY,
	  { ACTION_ENTER, ACTION_BACK, ACTION_TO_ANNOTATE, ACTION_TO_TREE, ACTION_TO_CALLERS,
	    ACTION_TO_FLAME, ACTION_SEARCH, ACTION_FILTER } },
	{ IN_CODE,
	  { ACTION_HOT_NEXT, ACTION_HOT_PREVIOUS, ACTION_HOTTEST_LINE, ACTION_ASSEMBLY,
	    ACTION_FOLLOW, ACTION_TO_CALLERS, ACTION_TO_TREE, ACTION_EDIT, ACTION_SEARCH } },
	{ IN_TIME,
	  { ACTION_LEFT, ACTION_RIGHT, ACTION_ENTER, ACTION_MARK_A, ACTION_MARK_B, ACTION_PEAK,
	    ACTION_ZOOM_IN, ACTION_ZOOM_OUT, ACTION_FILTER, ACTION_HEAT_MAP } },
	{ IN_TASKS,
	  { ACTION_ENTER, ACTION_TO_FLAME, ACTION_TO_CALLERS, ACTION_SEARCH, ACTION_FILTER } },
	{ IN_HEAP,
	  { ACTION_ENTER, ACTION_HEAP_VIEW, ACTION_SORT, ACTION_REVERSE, ACTION_TO_TREE } },
	{ IN_TOP,
	  { ACTION_ENTER, ACTION_TO_ANNOTATE, ACTION_HOTTEST_LINE, ACTION_TO_CALLERS,
	    ACTION_TO_TREE, ACTION_TO_FLAME, ACTION_SEARCH, ACTION_FILTER, ACTION_SORT,
	    ACTION_GROUP, ACTION_MENU } },
	{ IN_FINDINGS, { ACTION_ENTER, ACTION_BACK, ACTION_SEARCH } },
	{ IN_TEXT, { ACTION_DOWN, ACTION_UP, ACTION_SEARCH } },
};

#define N_MOST ((int)(sizeof(most) / sizeof(most[0])))

static const enum action *most_done(const struct app *a)
{
	uint32_t contexts = app_contexts(a);

	for (int i = 0; i < N_MOST; i++)
		if (most[i].where & contexts)
			return most[i].action;
	return NULL;
}

static bool is_most_done(const struct app *a, enum action action)
{
	const enum action *m = most_done(a);

	for (int i = 0; m && i < MOST_ACTIONS; i++)
		if (m[i] == action)
			return true;
	return false;
}

/* Under which title of the overlay a key stands. */
enum title {
	TITLE_HERE,   /* what this view's rows are for */
	TITLE_VIEWS,  /* other views, and saved ones */
	TITLE_KEEPS,  /* what outlives the screen: notes, copies, files */
	TITLE_ALWAYS, /* moving about, filters, the rest */
	TITLE_COMPARES
};

static enum title title_of(const struct app *a, enum action action)
{
	if (is_most_done(a, action))
		return TITLE_HERE;
	switch (action) {
	case ACTION_NEXT_VIEW:
	case ACTION_PREV_VIEW:
	case ACTION_VIEW_1:
	case ACTION_HEAP_VIEW:
	case ACTION_HEAT_MAP:
	case ACTION_SAVED:
		return TITLE_VIEWS;
	case ACTION_NOTE:
	case ACTION_COPY:
	case ACTION_COPY_STACK:
	case ACTION_EDIT:
	case ACTION_SAVE:
	case ACTION_EXPORT:
		return TITLE_KEEPS;
	default:
		return of_comparisons(action)           ? TITLE_COMPARES
		       : action_where(action) == IN_ALL ? TITLE_ALWAYS
							: TITLE_HERE;
	}
}

/* Two rows may be compared, which is done rarely: behind all else. */
static bool chooses_sides(enum action action)
{
	return action == ACTION_SIDE_A || action == ACTION_SIDE_B;
}

static void put_actions(struct page *p, const struct app *a, enum title title)
{
	const enum action *m = title == TITLE_HERE ? most_done(a) : NULL;

	for (int i = 0; m && i < MOST_ACTIONS; i++)
		if (m[i] != ACTION_NONE)
			put_action(p, a, m[i]);
	for (int last = 0; last < 2; last++)
		for (int i = ACTION_NONE + 1; i < N_ACTIONS; i++)
			if (title_of(a, (enum action)i) == title &&
			    chooses_sides((enum action)i) == last &&
			    !is_most_done(a, (enum action)i))
				put_action(p, a, (enum action)i);
	put(p, STYLE_NORMAL, "");
}

/* The keys of a comparison, and how its numbers are read. */
static void put_comparison(struct page *p, const struct app *a)
{
	put(p, STYLE_HEADER_SORTED, "COMPARISON");
	for (int i = ACTION_NONE + 1; i < N_ACTIONS; i++)
		if (of_comparisons((enum action)i))
			put_action(p, a, (enum action)i);
	put_action(p, a, ACTION_METRIC);
	put(p, STYLE_NORMAL, "+ and red: more than before; - and blue: less");
	put(p, STYLE_NORMAL, "new, gone: on one side alone; noise: chance may have made it");
	put(p, STYLE_NORMAL, "");
}

/* What colours, and tags where there are none, say of modules. */
static void put_families(struct page *p)
{
	static const char *const names[N_FAMILIES] = {
		[FAMILY_UNKNOWN] = "unknown", [FAMILY_PROGRAM] = "the program",
		[FAMILY_LIBRARY] = "library", [FAMILY_LIBC] = "C library",
		[FAMILY_KERNEL] = "kernel",   [FAMILY_JIT] = "JIT",
	};
	int row = next_row(p), col = p->r.col + 1, end = p->r.col + p->r.cols;

	for (int f = 0; f < N_FAMILIES && row >= 0; f++) {
		uint16_t style = (uint16_t)(STYLE_FAMILY_UNKNOWN + f);

		col += canvas_puts(p->c, row, col, end - col, style,
				   row_family_tag((enum family)f));
		col += 1 + canvas_puts(p->c, row, col + 1, end - col - 1, style, names[f]);
		col += 2;
	}
}

static void put_all(struct page *p, const struct app *a)
{
	char title[160];

	if (a->analysis->diff)
		put_comparison(p, a);
	snprintf(title, sizeof(title), "KEYS IN %s: %s", app_ops(a)->name, app_ops(a)->help);
	put(p, STYLE_HEADER_SORTED, title);
	put_actions(p, a, TITLE_HERE);
	put(p, STYLE_HEADER_SORTED, "OTHER VIEWS");
	put_actions(p, a, TITLE_VIEWS);
	put(p, STYLE_HEADER_SORTED, "NOTES, COPIES AND FILES");
	put_actions(p, a, TITLE_KEEPS);
	put(p, STYLE_HEADER_SORTED, "EVERYWHERE");
	put_actions(p, a, TITLE_ALWAYS);
	put(p, STYLE_HEADER_SORTED, "ON THE SCREEN");
	put_families(p);
	if (app_contexts(a) & IN_FLAME)
		put(p, STYLE_NORMAL,
		    "+3: three callees too narrow for a name; Enter shows them alone");
	if (a->analysis->lens.ratios && app_contexts(a) & (IN_TOP | IN_TREE | IN_BFLY | IN_TASKS))
		put(p, STYLE_NORMAL,
		    app_contexts(a) & IN_TOP
			    ? "ratios, such as IPC: of self; blank where samples are too few"
			    : "ratios, such as IPC: of total; blank where samples are too few");
	put(p, STYLE_NORMAL, "inl: inlined, part of its caller in the program; I hides these");
	put(p, STYLE_NORMAL, "");
	put(p, STYLE_HEADER_SORTED, "MOUSE");
	put(p, STYLE_NORMAL, "click selects, a second click drills; the wheel scrolls; tabs,");
	put(p, STYLE_NORMAL, "column titles and hints are buttons; hold Shift to select text");
}

/* Keeps the first line in sight in range; returns how many lines there are below the last screen's. */
static int keep_in_range(struct app *a, struct rect r)
{
	struct page measure = { .c = NULL, .r = r };
	int max;

	put_all(&measure, a);
	max = measure.line > r.rows ? measure.line - r.rows : 0;
	if (a->help.top > max)
		a->help.top = max;
	if (a->help.top < 0)
		a->help.top = 0;
	return max;
}

void app_draw_help(struct canvas *c, struct rect r, struct app *a)
{
	int max = keep_in_range(a, r), below = max - a->help.top;
	struct page page = { .c = c, .r = r, .top = a->help.top, .regex = a->help.regex };

	put_all(&page, a);
	if (below > 0 && r.rows > 1) {
		char text[48];

		snprintf(text, sizeof(text), " %d more line%s below ", below,
			 below == 1 ? "" : "s");
		canvas_puts_right(c, r.row + r.rows - 1, r.col, r.cols, STYLE_HEADER_SORTED, text);
	}
}

bool app_help_search(struct app *a, const char *pattern)
{
	char *copy = pattern ? xstrdup(pattern) : NULL;
	struct err e = ERR_INIT;

	free(a->help.pattern);
	regex_free(a->help.regex);
	a->help.pattern = copy;
	a->help.regex = copy ? regex_new(copy, &e) : NULL;
	a->help.n = a->help.at = 0;
	a->help.line = (uint32_t)a->help.top;
	if (copy && !a->help.regex)
		app_say(a, true, err_text(&e));
	err_clear(&e);
	return !copy || a->help.regex;
}

void app_help_find(struct app *a, int step)
{
	struct help *h = &a->help;
	struct match_cursor f;
	struct page page = { .c = NULL, .r = a->chrome.view, .regex = h->regex, .finding = &f };
	int rows = a->chrome.view.rows;

	if (!h->regex)
		return;
	match_cursor_start(&f, h->line, step);
	put_all(&page, a);
	h->at = match_cursor_end(&f);
	h->n = f.n;
	if (h->at == 0)
		return;
	h->line = f.target;
	if ((int)h->line < h->top || (int)h->line >= h->top + rows)
		h->top = (int)h->line - rows / 3;
}
