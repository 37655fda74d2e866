/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The prompts: searching as one types, adding to the filter, and the name of a file to be written. */
#include "config.h"

#include "tui/app/app_prompt.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/app/app_complete.h"
#include "tui/app/app_help.h"
#include "tui/app/app_history.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_notes.h"
#include "tui/app/app_saved.h"
#include "tui/app/app_search.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/contract/keymap.h"

/* Back to where the cursor was when the prompt was opened. */
static void return_cursor(struct app *a)
{
	if (a->seeking.from.view == a->view && !app_is_at(a, &a->seeking.from))
		app_select(a, &a->seeking.from);
}

void app_prompt_open(struct app *a, enum prompt_kind kind)
{
	a->prompting = kind;
	prompt_init(&a->prompt,
		    kind == PROMPT_SEARCH   ? "/"
		    : kind == PROMPT_FILTER ? "& "
		    : kind == PROMPT_EXPORT ? "write to file: "
					    : a->keeping.label,
		    &a->history[kind]);
	if (kind != PROMPT_SEARCH || a->help.open)
		return;
	free(a->seeking.kept);
	a->seeking.kept = a->seeking.pattern ? xstrdup(a->seeking.pattern) : NULL;
	a->seeking.from = app_here(a);
}

void app_prompt_close(struct app *a)
{
	prompt_done(&a->prompt);
	free(a->completed);
	a->completed = NULL;
	a->prompting = PROMPT_NONE;
}

/* Searches what is typed so far, from where the cursor was. */
static void search_typed(struct app *a)
{
	const char *text = a->prompt.text;
	bool good = app_search(a, *text != '\0' ? text : NULL);

	return_cursor(a);
	if (good)
		app_find(a, 0);
}

/* Esc: as if nothing had been typed. */
static void restore_search(struct app *a)
{
	char *kept = a->seeking.kept;

	a->seeking.kept = NULL;
	app_search(a, kept);
	free(kept);
	return_cursor(a);
}

/* Enter: what is typed is searched; nothing typed goes on with what was; a bad expression goes. */
static void keep_search(struct app *a)
{
	char *error = a->seeking.error;
	bool nothing = a->prompt.n == 0;

	a->seeking.error = NULL;
	app_prompt_close(a);
	if (error) {
		restore_search(a);
		app_say_owned(a, true, error);
	} else if (nothing) {
		app_find(a, 1);
	} else if (a->seeking.n == 0) {
		/* What came while it was typed may have made the view anew, whose matches nobody counted. */
		app_find(a, 0);
	} else if (a->seeking.at == 0) {
		app_find(a, 1);
	}
}

/* The same in the overlay of keys, which has a search of its own. */
static void help_search_key(struct app *a, uint32_t key)
{
	switch (prompt_key(&a->prompt, key)) {
	case PROMPT_UNCHANGED:
		break;
	case PROMPT_CHANGED:
		if (app_help_search(a, a->prompt.n > 0 ? a->prompt.text : NULL))
			app_help_find(a, 0);
		break;
	case PROMPT_DONE:
		if (a->prompt.n == 0)
			app_help_find(a, 1);
		app_prompt_close(a);
		break;
	case PROMPT_CANCELLED:
		app_help_search(a, NULL);
		app_prompt_close(a);
		break;
	}
}

static void search_key(struct app *a, uint32_t key)
{
	switch (prompt_key(&a->prompt, key)) {
	case PROMPT_UNCHANGED:
		break;
	case PROMPT_CHANGED:
		search_typed(a);
		break;
	case PROMPT_DONE:
		keep_search(a);
		break;
	case PROMPT_CANCELLED:
		app_prompt_close(a);
		restore_search(a);
		break;
	}
}

/* <Backspace> before anything is typed: the last term goes. */
static void drop_term(struct app *a)
{
	if (a->lens.filter && filter_pop(a->lens.filter))
		app_reanalyse(a);
	else
		app_say(a, false, "there is no filter to take away");
}

static void filter_key(struct app *a, uint32_t key)
{
	bool untouched = !a->prompt.touched;

	if (key == KEYCODE_TAB) {
		app_complete(a);
		return;
	}

	switch (prompt_key(&a->prompt, key)) {
	case PROMPT_UNCHANGED:
	case PROMPT_CHANGED:
		break;
	case PROMPT_DONE:
		if (a->prompt.n > 0 && app_narrow_here(a, a->prompt.text) < 0)
			break; /* to be mended */
		app_prompt_close(a);
		break;
	case PROMPT_CANCELLED:
		app_prompt_close(a);
		if (key == KEYCODE_BACKSPACE && untouched)
			drop_term(a);
		break;
	}
}

/* Writes what is shown to a file of that name; false: it is to be mended. */
static bool export_to(struct app *a, const char *path)
{
	struct err e = ERR_INIT;
	char *said;
	bool good = false;

	if (!a->analysis || !a->source->export_file) {
		app_say(a, true, "there is nothing that could be written");
		return true;
	}
	analysis_tree(a->analysis);
	good = a->source->export_file(a->analysis, path, &said, &e) == 0;
	if (good)
		app_say_owned(a, false, said);
	else
		app_say(a, true, err_text(&e));
	err_clear(&e);
	return good;
}

static void export_key(struct app *a, uint32_t key)
{
	switch (prompt_key(&a->prompt, key)) {
	case PROMPT_UNCHANGED:
	case PROMPT_CHANGED:
		break;
	case PROMPT_DONE:
		if (a->prompt.n == 0 || export_to(a, a->prompt.text))
			app_prompt_close(a);
		break;
	case PROMPT_CANCELLED:
		app_prompt_close(a);
		break;
	}
}

void app_prompt_key(struct app *a, uint32_t key)
{
	a->changed = true;
	if (a->prompting == PROMPT_SEARCH && a->help.open)
		help_search_key(a, key);
	else if (a->prompting == PROMPT_SEARCH)
		search_key(a, key);
	else if (a->prompting == PROMPT_FILTER)
		filter_key(a, key);
	else if (a->prompting == PROMPT_NOTE)
		app_notes_key(a, key);
	else if (a->prompting == PROMPT_SAVE)
		app_saved_name_key(a, key);
	else
		export_key(a, key);
}
