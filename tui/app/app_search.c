/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is searched in the views. */
#include "config.h"

#include "tui/app/app_search.h"

#include <stdlib.h>

#include "base/mem.h"
#include "query/analysis.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/rows/match_cursor.h"

static void forget_matches(struct app *a)
{
	if (a->scene.search)
		search_done(&a->seeking.search);
	a->scene.search = NULL;
	a->seeking.n = a->seeking.at = 0;
}

/* Compiles and runs the pattern over the present analysis. */
static bool run_search(struct app *a)
{
	struct seeking *s = &a->seeking;
	struct err e = ERR_INIT;

	forget_matches(a);
	free(s->error);
	s->error = NULL;
	if (s->pattern) {
		if (search_init(&s->search, s->pattern, &a->analysis->keys,
				analysis_tree(a->analysis), &e) == 0)
			a->scene.search = &s->search;
		else
			s->error = xstrdup(err_text(&e));
	}
	err_clear(&e);
	return !s->error;
}

bool app_search(struct app *a, const char *pattern)
{
	char *copy = pattern ? xstrdup(pattern) : NULL;
	bool good;

	free(a->seeking.pattern);
	a->seeking.pattern = copy;
	good = run_search(a);
	app_scene_changed(a);
	return good;
}

void app_search_again(struct app *a)
{
	bool counted = a->seeking.n > 0;

	run_search(a);
	app_scene_changed(a);
	/* What is typed is searched from where the cursor was, not from where it is. */
	if (counted && a->scene.search && a->prompting == PROMPT_NONE)
		a->seeking.n = app_ops(a)->find(app_state(a), &a->scene, FIND_STAY, &a->seeking.at);
}

void app_find(struct app *a, int step)
{
	struct seeking *s = &a->seeking;

	if (!a->scene.search)
		return;
	s->at = 0;
	s->n = app_ops(a)->find(app_state(a), &a->scene, step, &s->at);
	if (s->n == 0 && a->prompting == PROMPT_NONE)
		app_say(a, false, "no match in this view");
}
