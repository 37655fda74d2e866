/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The views on hand and which one is on screen.
 *
 * There is one instance of each view. It is made when first needed, and sees a changed scene when it
 * is next needed.
 */
#include "config.h"

#include "tui/app/app_views.h"

#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/groups.h"
#include "query/code_weights.h"
#include "tui/app/annotator.h"
#include "tui/app/app_chrome.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_window.h"
#include "tui/app/worker.h"
#include "tui/rows/row.h"

/* An instance of a view, laid out. */
static void *lay_out(struct app *a, enum view_kind view)
{
	const struct view_ops *ops = view_of(view, &a->scene);
	struct instance *in = &a->instance[view];

	if (in->state && in->ops != ops) {
		in->ops->free(in->state);
		in->state = NULL;
	}
	in->ops = ops;
	if (ops->of_tree)
		analysis_tree(a->analysis);
	if (!in->state) {
		in->state = ops->new ();
		in->stale = true;
	}
	/* Rows that another filter leaves are in their order; those that only grow keep the cursor's where it is. */
	a->scene.stays = a->scene.live && in->n_filters == a->n_shown;
	a->scene.windowed = a->scene.live && !app_window_is_chosen(a);
	if (in->stale)
		ops->update(in->state, &a->scene);
	in->stale = false;
	in->n_filters = a->n_shown;
	app_chrome(a, &a->chrome);
	ops->layout(in->state, &a->scene, a->chrome.view);
	return in->state;
}

/* What a view wants over time is asked for, if it is not there. */
static void ask_over_time(struct app *a, enum view_kind view)
{
	const struct analysis *an = a->analysis;
	const struct view_ops *ops = view_of(view, &a->scene);
	const struct over_time *there;
	struct over_time_wish wish;

	if (!ops->wish || !ops->wish(a->instance[view].state, &wish))
		return;
	a->wishes.of[wish.kind] = wish;
	there = an->over[wish.kind];
	if (over_time_possible(an, wish.kind) &&
	    !(there && over_time_same_wish(&there->wish, &wish)))
		worker_request_over(a->worker, an, &wish);
}

/* The code that the view shows is asked for, if it is not of this function and this analysis. */
static void ask_code(struct app *a)
{
	const struct view_ops *ops = app_ops(a);
	struct code_wish wish;

	if (!ops->code || !ops->code(a->instance[a->view].state, &wish))
		return;
	if (!a->source->annotate)
		a->scene.no_code = "there is no code behind these stacks";
	else if (a->analysis->profile == a->source->profile)
		annotator_request(a->annotator, a->analysis, &wish);
}

void *app_state(struct app *a)
{
	void *state = lay_out(a, a->view);

	ask_over_time(a, a->view);
	ask_code(a);
	return state;
}

void app_expect_lines(struct app *a)
{
	if (a->analysis->diff)
		return;
	lay_out(a, VIEW_KIND_MEMORY);
	ask_over_time(a, VIEW_KIND_MEMORY);
}

uint32_t app_contexts(const struct app *a)
{
	uint32_t in = app_ops(a)->contexts | (a->source->live ? IN_LIVE : 0);

	if (a->own.first && (in & (IN_TASKS | IN_TIME) || app_rows_of_samples(a)))
		in |= IN_HALF;
	if (a->own.first || a->own.open)
		in |= IN_SIDES;
	return in;
}

bool app_has_view(const struct app *a, enum view_kind view)
{
	const struct view_ops *ops = view_of(view, &a->scene);

	return !ops->applies || ops->applies(&a->scene);
}

bool app_rows_of_samples(const struct app *a)
{
	return app_ops(a)->contexts & IN_TOP && a->analysis->table_keys != &a->analysis->keys;
}

bool app_not_of_rows(const struct app *a, enum action action)
{
	enum grouping g = a->analysis->keys.grouping;

	switch (action) {
	case ACTION_TO_ANNOTATE:
		return app_rows_of_samples(a) || (g != GROUP_FUNCTION && g != GROUP_LINE);
	case ACTION_MENU:
		return app_rows_of_samples(a) || (g != GROUP_FUNCTION && g != GROUP_MODULE);
	case ACTION_TO_BUTTERFLY:
	case ACTION_NOTE:
	case ACTION_COPY_STACK:
	case ACTION_EDIT:
		return app_rows_of_samples(a);
	default:
		return false;
	}
}

bool app_has_sides(const struct app *a)
{
	return !a->analysis->diff && !a->source->live &&
	       (app_ops(a)->contexts & (IN_TASKS | IN_TIME) || app_rows_of_samples(a));
}

bool app_baseline_hides(const struct app *a, enum view_kind view)
{
	return a->live.baseline_ns >= 0 && a->analysis->lens.sides.moments &&
	       (view == VIEW_KIND_TIMELINE || view == VIEW_KIND_MEMORY);
}

char *app_baseline_text(const struct app *a, enum view_kind view)
{
	char keys[64];

	keymap_keys(&a->settings->keymap, VIEW_KIND_TOP, IN_LIVE, ACTION_BASELINE, keys,
		    sizeof(keys));
	return xasprintf("%s shows no baseline of a heap: %s in another view ends that",
			 views[view]->name, keys);
}

void app_scene_changed(struct app *a)
{
	for (int i = 0; i < N_VIEW_KINDS; i++)
		a->instance[i].stale = true;
	a->changed = true;
}

struct step app_here(struct app *a)
{
	struct step here = { .view = a->view };

	here.has_place = app_ops(a)->selection(app_state(a), &a->scene, &here.place);
	return here;
}

void app_select(struct app *a, const struct step *s)
{
	if (s->has_place)
		app_ops(a)->select(lay_out(a, a->view), &a->scene, &s->place);
}

bool app_is_at(struct app *a, const struct step *s)
{
	struct step here = app_here(a);

	return here.has_place == s->has_place &&
	       (!s->has_place ||
		(here.place.key_id == s->place.key_id && here.place.path == s->place.path));
}

/*
 * The cursor of the memory view was moved: other views speak of that moment, too, where they would of the peak. Not
 * while it moves, as that takes an analysis each time; and not in comparisons, whose metric was chosen.
 */
static void follow_cursor(struct app *a)
{
	bool any = false;

	for (uint32_t i = 0; i < a->lens.n_columns; i++) {
		if (a->lens.column[i].metric.measure != MEASURE_PEAK)
			continue;
		a->lens.column[i].metric.measure = MEASURE_LIVE;
		any = true;
	}
	a->cursor_moved = false;
	if (!any)
		return;
	a->follow = false;
	app_reanalyse(a);
}

void app_show(struct app *a, enum view_kind view)
{
	if (a->cursor_moved && !a->sides && view != VIEW_KIND_MEMORY && view != VIEW_KIND_INFO)
		follow_cursor(a);
	a->view = view;
	a->scene.view = view;
	a->view_open = false;
	a->seeking.n = 0;
	a->changed = true;
}

const char *app_label(const struct app *a, const struct place *place)
{
	const struct analysis *an = a->analysis;
	bool of_samples = app_ops(a)->contexts & IN_TOP && an->table_keys != &an->keys;
	const struct groups *keys = of_samples ? an->table_keys : &an->keys;
	uint32_t key = place->key_id != ID_NONE ? row_key_of_id(keys, place->key_id) : KEY_NONE;

	return key != KEY_NONE ? keys->key[key].label : NULL;
}
