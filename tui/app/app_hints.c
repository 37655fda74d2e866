/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_hints.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "base/text.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/app/app_chrome.h"
#include "tui/app/app_live.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"

/* Many more than that nobody reads, however wide the screen is. */
#define MAX_HINTS 14

/* What a prompt takes, in pieces that are shown whole or not at all; NULL ends them. */
#define MAX_PIECES 12

/* Of a note; the other one once it is of the row alone. */
#define NOTE_TAB      "Tab: this row alone"
#define NOTE_TAB_BACK "Tab: wherever it is"

static const char *const prompt_pieces[][MAX_PIECES + 1] = {
	[PROMPT_SEARCH] = { "Enter keeps it", "Esc leaves", "a regular expression",
			    "upper case counts if used" },
	[PROMPT_FILTER] = { "Tab completes", "fn:", "module:", "time:2,5", "! not",
			    "thread:", "tid:", "leaf:", "in:", "is:idle", "focus:", "merge:" },
	[PROMPT_NOTE] = { "Enter keeps it", NOTE_TAB, "no text: no note" },
	[PROMPT_SAVE] = { "Enter saves", "letters and digits",
			  "Tab: for this file or for all files" },
	[PROMPT_EXPORT] = { ".svg", ".pb.gz", ".json", ".speedscope.json", ".folded", ".csv",
			    ".jsonl", ".cpuprofile", ".callgrind" },
};

/* The filter's where allocations are on screen, whose blocks have terms of their own. */
static const char *const heap_filter_pieces[MAX_PIECES + 1] = {
	"Tab completes", "fn:",       "size:1k,64k", "lifetime:,1ms", "block:leaked",
	"time:2,5",      "alive:1.5", "! not",       "module:",       "thread:",
};

/* Draws a piece if there is room for all of it; returns the column behind. */
static int draw_piece(struct canvas *c, int row, int col, const char *piece)
{
	if (col + (int)text_width(piece, strlen(piece)) > c->cols)
		return col;
	return col + canvas_puts(c, row, col, c->cols - col, STYLE_DIM, piece) + 2;
}

static void draw_prompt_hints(const struct app *a, struct canvas *c)
{
	const char *const *pieces = prompt_pieces[a->prompting];
	int row = a->chrome.hints, col = 1;

	/* What takes more than this row stands above the prompt. */
	if (a->message && canvas_put_lines(c, 0, 0, c->cols - 1, 0, 0, a->message) <= 1) {
		canvas_puts(c, row, 1, c->cols - 1, a->message_bad ? STYLE_ERROR : STYLE_NORMAL,
			    a->message);
		return;
	}
	if (a->prompting == PROMPT_FILTER && !a->prompt.touched && a->lens.filter &&
	    filter_n_terms(a->lens.filter) > 0)
		col = draw_piece(c, row, col, "Backspace takes the last term away");
	if (a->prompting == PROMPT_FILTER &&
	    metric_is_heap(a->source->profile, a->lens.column[0].metric))
		pieces = heap_filter_pieces;
	for (int i = 0; pieces[i]; i++) {
		bool tab = strcmp(pieces[i], NOTE_TAB) == 0;
		int next;

		/* The row stands for one thing: there is nothing to choose. */
		if (tab && a->keeping.n_on < 2)
			continue;
		next = draw_piece(c, row, col,
				  tab && a->keeping.which > 0 ? NOTE_TAB_BACK : pieces[i]);

		if (next == col) {
			canvas_puts(c, row, col < c->cols ? col : c->cols - 1, 1, STYLE_DIM, "…");
			break;
		}
		col = next;
	}
}

void app_first_key(const struct app *a, enum action action, char out[APP_KEYS_SIZE])
{
	char keys[APP_KEYS_SIZE];
	size_t n;

	keymap_keys(&a->settings->keymap, a->view, app_contexts(a), action, keys, sizeof(keys));
	n = strcspn(keys, " ");
	if (n > 2 && keys[0] == '<' && keys[n - 1] == '>') {
		memcpy(out, keys + 1, n - 2);
		out[n - 2] = '\0';
	} else {
		memcpy(out, keys, n);
		out[n] = '\0';
	}
}

/* Does Enter on a row of the table open its function? */
static bool leads_to_butterfly(const struct app *a)
{
	return a->analysis->lens.grouping == GROUP_FUNCTION;
}

/* Does Enter do the same? Then one of both is enough. */
static bool is_enter(const struct app *a, enum action action)
{
	uint32_t in = app_contexts(a);

	switch (action) {
	case ACTION_TO_BUTTERFLY:
		return in & IN_TOP && leads_to_butterfly(a);
	case ACTION_TO_TREE:
		return in & IN_TASKS;
	case ACTION_TO_FLAME:
		return in & IN_HEAT;
	case ACTION_TO_CALLERS:
		return in & IN_MEMORY;
	default:
		return false;
	}
}

/* Would the hint lead to where we are? */
static bool leads_here(const struct app *a, enum action action)
{
	return (action == ACTION_TO_TREE && a->view == VIEW_KIND_TREE) ||
	       (action == ACTION_TO_CALLERS && a->view == VIEW_KIND_CALLERS) ||
	       (action == ACTION_TO_BUTTERFLY && a->view == VIEW_KIND_BUTTERFLY) ||
	       (action == ACTION_TO_FLAME && a->view == VIEW_KIND_FLAME);
}

/* What a key would do now: what is held or compared goes on by the key that began it. */
static const char *hint_text(const struct app *a, enum action action)
{
	if (action == ACTION_FREEZE && a->live.frozen)
		return "continue";
	if (action == ACTION_BASELINE && a->live.baseline_ns >= 0)
		return "no baseline";
	if (action == ACTION_HEAT_MAP && a->view == VIEW_KIND_HEAT)
		return "timeline";
	if (action == ACTION_ENTER && a->view == VIEW_KIND_TOP && !leads_to_butterfly(a))
		return a->analysis->lens.grouping == GROUP_LINE ? "source" : "show alone";
	return action_hint_in(action, app_contexts(a));
}

/* Columns that a hint takes; 0: no key does it. */
static int hint_cols(const struct app *a, enum action action)
{
	char key[APP_KEYS_SIZE];

	app_first_key(a, action, key);
	if (key[0] == '\0')
		return 0;
	return (int)text_width(key, strlen(key)) + 1 + (int)strlen(hint_text(a, action));
}

/* Draws one hint; returns the columns it takes with what separates it. */
static int draw_hint(struct app *a, struct canvas *c, int col, int end, enum action action)
{
	int row = a->chrome.hints, width = hint_cols(a, action);
	char key[APP_KEYS_SIZE];

	app_first_key(a, action, key);
	if (width == 0 || col + width > end)
		return 0;
	app_add_hit(a, row, col, width, action);
	col += canvas_puts(c, row, col, end - col, STYLE_HINT_KEY, key) + 1;
	canvas_puts(c, row, col, end - col, STYLE_HINT, hint_text(a, action));
	return width + 2;
}

static bool has_hint(const struct app *a, enum action action)
{
	/* Where there is nothing to save a view of. */
	if (action == ACTION_SAVED && !(app_contexts(a) & (IN_FRAMES | IN_TASKS | IN_TIME)))
		return false;
	if (action == ACTION_METRIC && a->analysis->counts.n_events < 2)
		return false;
	if (action == ACTION_HOTTEST_LINE && !(app_contexts(a) & (IN_TOP | IN_CODE)))
		return false;
	/* It is for who looks at time. */
	if (action == ACTION_HEAT_MAP && (a->analysis->diff || !(app_contexts(a) & IN_TIME)))
		return false;
	if (action == ACTION_SIDE_A && (!app_has_sides(a) || app_contexts(a) & IN_HALF))
		return false;
	if ((action == ACTION_EQUALISE || action == ACTION_SIZE) && !a->analysis->diff)
		return false;
	if (app_live_is_over(a, action))
		return false;
	return action != ACTION_NONE && action_where(action) & app_contexts(a) &&
	       action_hint(action)[0] != '\0' && action != ACTION_HELP && !leads_here(a, action) &&
	       !is_enter(a, action) && !app_not_of_rows(a, action);
}

/* Is it a hint for a screen with room to spare? It takes none from what is done more often. */
static bool comes_last(enum action action)
{
	return action == ACTION_HOTTEST_LINE || action == ACTION_NOTE || action == ACTION_SAVED ||
	       action == ACTION_SIDE_A;
}

/* Which hints fit into so many columns: first what one cannot do without, then as in the table. */
static void choose_hints(const struct app *a, int room, bool chosen[N_ACTIONS])
{
	/* A baseline leads the list where there is one: else nobody would find out of it. */
	static const enum action first[] = {
		ACTION_BASELINE,    ACTION_SIDE_B,   ACTION_LEAVE_SIDES, ACTION_ENTER,
		ACTION_ALIGN,       ACTION_EQUALISE, ACTION_SIZE,        ACTION_INVERT,
		ACTION_MARK_A,      ACTION_MARK_B,   ACTION_HEAT_MAP,    ACTION_FREEZE,
		ACTION_SEARCH,      ACTION_FILTER,   ACTION_WINDOW,      ACTION_BASELINE,
		ACTION_TO_ANNOTATE, ACTION_SAVE,     ACTION_METRIC
	};
	const int n_first = (int)(sizeof(first) / sizeof(first[0]));
	int n = 1;

	for (int i = a->live.baseline_ns < 0; i < n_first + 2 * N_ACTIONS && n < MAX_HINTS; i++) {
		enum action action = i < n_first ? first[i]
						 : (enum action)((i - n_first) % N_ACTIONS);
		int cols;

		if (chosen[action] || !has_hint(a, action) ||
		    (comes_last(action) && i < n_first + N_ACTIONS) ||
		    (action == ACTION_MARK_B && !chosen[ACTION_MARK_A]))
			continue;
		cols = hint_cols(a, action);
		if (cols == 0 || cols > room)
			continue;
		chosen[action] = true;
		room -= cols + 2;
		n++;
	}
}

/* A key where something has keys of its own. */
struct own_hint {
	enum action action;
	const char *text;
};

static void draw_own_hints(struct app *a, struct canvas *c, int col, const struct own_hint *hint,
			   size_t n)
{
	int row = a->chrome.hints;

	for (size_t i = 0; i < n; i++) {
		char key[APP_KEYS_SIZE];

		app_first_key(a, hint[i].action, key);
		if (key[0] == '\0' ||
		    col + (int)(text_width(key, strlen(key)) + 1 + strlen(hint[i].text)) > c->cols)
			continue;
		col += canvas_puts(c, row, col, c->cols - col, STYLE_HINT_KEY, key) + 1;
		col += canvas_puts(c, row, col, c->cols - col, STYLE_HINT, hint[i].text) + 2;
	}
}

/* A click anywhere closes help. */
static void draw_help_hints(struct app *a, struct canvas *c)
{
	static const struct own_hint hints[] = {
		{ ACTION_BACK, "close" },     { ACTION_DOWN, "down" },     { ACTION_UP, "up" },
		{ ACTION_PAGE_DOWN, "page" }, { ACTION_SEARCH, "search" }, { ACTION_NEXT, "next" }
	};

	draw_own_hints(a, c, 1, hints, sizeof(hints) / sizeof(hints[0]));
}

/* In the menu of a row its letters do what stands beside them. */
static void draw_menu_hints(struct app *a, struct canvas *c)
{
	static const char *const letters[] = { "a letter does what it says",
					       "s save what is shown  d delete" };
	static const struct own_hint hints[] = {
		{ ACTION_ENTER, "do it" },
		{ ACTION_BACK, "close" },
		{ ACTION_DOWN, "down" },
		{ ACTION_UP, "up" },
	};
	int col = 1;

	col += canvas_puts(c, a->chrome.hints, col, c->cols - col, STYLE_HINT,
			   letters[a->menu.of_views]) +
	       2;
	draw_own_hints(a, c, col, hints, sizeof(hints) / sizeof(hints[0]));
}

/* Help always, and of the others as many as fit. */
static void draw_key_hints(struct app *a, struct canvas *c)
{
	bool chosen[N_ACTIONS] = { false };
	int col = 1;

	choose_hints(a, c->cols - col - hint_cols(a, ACTION_HELP) - 2, chosen);
	for (int i = ACTION_NONE + 1; i < N_ACTIONS; i++)
		if (chosen[i])
			col += draw_hint(a, c, col, c->cols, (enum action)i);
	draw_hint(a, c, col, c->cols, ACTION_HELP);
}

void app_draw_hints(struct app *a, struct canvas *c)
{
	if (a->prompting != PROMPT_NONE)
		draw_prompt_hints(a, c);
	else if (a->help.open)
		draw_help_hints(a, c);
	else if (a->menu.open)
		draw_menu_hints(a, c);
	else
		draw_key_hints(a, c);
}
