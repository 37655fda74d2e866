/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What actions do that reach beyond the view on screen. */
#include "config.h"

#include "tui/app/app_act.h"
#include "tui/app/app_compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/task.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/app/app_comparison.h"
#include "tui/app/app_help.h"
#include "tui/app/app_history.h"
#include "tui/app/app_hottest.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_live.h"
#include "tui/app/app_menu.h"
#include "tui/app/app_notes.h"
#include "tui/app/app_prompt.h"
#include "tui/app/app_saved.h"
#include "tui/app/app_search.h"
#include "tui/app/app_state.h"
#include "tui/app/app_total.h"
#include "tui/app/app_views.h"
#include "tui/rows/row.h"

static void say_no_function(struct app *a)
{
	app_say(a, false,
		app_rows_of_samples(a)
			? "these rows are no functions: Enter shows one alone, o groups by function"
			: "no function is selected");
}

/* The selected name, or a message and NULL. */
static const char *selected_label(struct app *a)
{
	struct step here = app_here(a);
	const char *label = here.has_place ? app_label(a, &here.place) : NULL;

	if (!label)
		say_no_function(a);
	return label;
}

/* What comes after the metric that is shown: where all is of a heap, the next one of a heap. */
static struct metric metric_after(const struct app *a)
{
	const struct profile *p = a->analysis->profile;
	bool heap = a->view == VIEW_KIND_MEMORY || view_is_of_heap(a->view);
	struct metric shown = heap ? app_shown_metric(a) : a->lens.column[0].metric, m = shown;

	do
		m = metric_next(p, m, a->lens.filter);
	while (heap && metric_is_heap(p, shown) && !metric_is_heap(p, m));
	return m;
}

/* One column: the next metric. Several: the next of them leads. */
static void next_metric(struct app *a)
{
	const struct profile *p = a->analysis->profile;
	struct lens *l = &a->lens;
	struct lens_column first = l->column[0];
	struct profile_counts counts;
	char *name;

	profile_counts_read(p, &counts);
	if (first.metric.event.v >= counts.n_events)
		return;
	if (a->sides) {
		app_compare_metric(a);
		return;
	}
	a->follow = false;
	if (l->beside) {
		lens_choose(l, p, metric_after(a));
	} else if (l->n_columns > 1) {
		memmove(l->column, l->column + 1, (l->n_columns - 1) * sizeof(first));
		l->column[l->n_columns - 1] = first;
	} else {
		l->column[0].metric = metric_after(a);
	}
	name = metric_name(p, l->column[0].metric);
	app_say_owned(a, false,
		      l->column[0].metric.all
			      ? xasprintf("metric: %s, of all events of allocations", name)
		      : counts.n_events < 2 ? xasprintf("metric: %s", name)
					    : xasprintf("metric: %s, of event %u of %u", name,
							(unsigned)l->column[0].metric.event.v + 1,
							(unsigned)counts.n_events));
	free(name);
	app_reanalyse(a);
}

static void next_grouping(struct app *a)
{
	a->lens.grouping = grouping_next(a->lens.grouping, a->source->profile);
	app_reanalyse(a);
}

static void stop_loading(struct app *a)
{
	if (!a->loading || !a->source->progress) {
		app_say(a, false, "nothing is loading");
		return;
	}
	progress_cancel(a->source->progress);
	app_say(a, false, "stopped loading; what is there stays");
}

/* What Enter would show alone of a thread, an event, …, in another view. */
static bool carry_samples(struct app *a, enum view_kind target)
{
	struct effect fx = { .kind = EFFECT_NONE };

	if (!app_rows_of_samples(a) || target == VIEW_KIND_BUTTERFLY)
		return false;
	app_ops(a)->act(app_state(a), &a->scene, ACTION_ENTER, &fx);
	if (fx.kind == EFFECT_FILTER)
		fx.view = target;
	app_apply(a, &fx);
	return true;
}

static void say_here(struct app *a)
{
	app_say_owned(a, false, xasprintf("this is %s", app_ops(a)->name));
}

/* Into the view that it is in: a butterfly makes it the centre. */
static void carry_here(struct app *a, const struct step *here)
{
	char *crumb = app_ops(a)->crumb ? app_ops(a)->crumb(app_state(a), &a->scene) : NULL;
	char *now;

	app_select(a, here);
	now = app_ops(a)->crumb ? app_ops(a)->crumb(app_state(a), &a->scene) : NULL;
	if (strcmp(crumb ? crumb : "", now ? now : "") == 0)
		say_here(a);
	free(crumb);
	free(now);
}

/* Carries the selection into another view. */
static void carry(struct app *a, enum view_kind target)
{
	struct step here = app_here(a);

	if (carry_samples(a, target))
		return;
	if (!here.has_place || here.place.key_id == ID_NONE)
		say_no_function(a);
	else if (target == a->view)
		carry_here(a, &here);
	else
		app_go(a, target, &here.place);
}

/* Is the key the name of a thread, which has no code? */
static bool is_name(const struct app *a, uint32_t key_id)
{
	return key_id < a->analysis->counts.n_functions &&
	       profile_function(a->analysis->profile, (function_id){ key_id })->flags &
		       FUNCTION_COMM;
}

/* Rows of modules or files have no lines of their own. */
static void carry_to_code(struct app *a)
{
	enum grouping g = a->analysis->keys.grouping;
	struct step here = app_here(a);

	if (app_rows_of_samples(a) || (here.has_place && is_name(a, here.place.key_id))) {
		say_no_function(a);
	} else if (g == GROUP_FUNCTION) {
		carry(a, VIEW_KIND_ANNOTATE);
	} else if (g != GROUP_LINE) {
		app_say(a, false, "source lines are of a function: o groups by function");
	} else if (!here.has_place || here.place.key_id == ID_NONE) {
		say_no_function(a);
	} else {
		if (key_is_line(here.place.key_id))
			here.place = row_line_place(&a->scene, here.place.key_id);
		else
			here.place.path = 0;
		app_go(a, VIEW_KIND_ANNOTATE, &here.place);
	}
}

void app_wish(struct app *a, enum terminal_request_kind kind, const char *text, uint32_t line)
{
	free(a->wish.text);
	a->wish = (struct terminal_request){ .kind = kind,
					     .text = text ? xstrdup(text) : NULL,
					     .line = line };
}

static void copy_label(struct app *a)
{
	const char *label;
	char *row;

	if (app_ops(a)->contexts & (IN_TASKS | IN_CODE) || app_rows_of_samples(a)) {
		row = app_ops(a)->status(app_state(a), &a->scene);
		if (row)
			app_wish(a, REQUEST_COPY, row, 0);
		free(row);
		return;
	}
	label = selected_label(a);
	if (label)
		app_wish(a, REQUEST_COPY, label, 0);
}

static const char *node_label(const struct analysis *an, uint32_t node)
{
	return an->keys.key[an->tree->key[node]].label;
}

/* The names above a node and its own, as a line of folded stacks has them; the caller frees. */
static char *stack_text(const struct analysis *an, uint32_t node)
{
	const uint32_t *parent = an->tree->parent;
	size_t n = 0;
	char *out;

	for (uint32_t i = node; i != 0; i = parent[i])
		n += strlen(node_label(an, i)) + 1;
	out = xmalloc(n + 1);
	out[n] = '\0';
	/* from the end, each with a ';' behind it; the last one's is cut off */
	for (uint32_t i = node; i != 0; i = parent[i]) {
		size_t len = strlen(node_label(an, i));

		out[--n] = ';';
		n -= len;
		memcpy(out + n, node_label(an, i), len);
	}
	out[strlen(out) - 1] = '\0';
	return out;
}

/* Of the selected node; of a function, where it weighs most. */
static void copy_stack(struct app *a)
{
	struct step here = app_here(a);
	const struct analysis *an = a->analysis;
	const struct calltree *tree = analysis_tree(a->analysis);
	uint32_t node = KEY_NONE, key = KEY_NONE;
	char *text;

	if (here.has_place && here.place.key_id != ID_NONE)
		key = row_key_of_id(&an->keys, here.place.key_id);
	if (key != KEY_NONE && here.place.path != 0)
		node = calltree_find(tree, key, here.place.path);
	if (node == KEY_NONE)
		node = calltree_hottest(tree, key);
	if (node == KEY_NONE) {
		say_no_function(a);
		return;
	}
	text = stack_text(an, node);
	app_wish(a, REQUEST_COPY, text, 0);
	free(text);
}

/* The source of the selected function, line or file, where it is known. */
static void edit_source(struct app *a)
{
	struct step here = app_here(a);
	const struct profile *p = a->analysis->profile;
	const char *label = selected_label(a), *file = "";
	const struct function *f;

	if (!label)
		return;
	if (a->analysis->keys.grouping == GROUP_LINE && key_is_line(here.place.key_id)) {
		struct location_columns l;
		const struct frame *at;

		profile_locations(p, &l);
		at = &l.frames[here.place.key_id & ~KEY_OF_LINE];
		file = profile_string(p, (string_id){ at->file }, NULL);
		app_wish(a, REQUEST_EDIT, file, at->line);
		return;
	}
	if (a->analysis->keys.grouping == GROUP_FILE &&
	    here.place.key_id < a->analysis->counts.n_functions) {
		f = profile_function(p, (function_id){ here.place.key_id });
		file = profile_string(p, function_file(f), NULL);
		if (*file != '\0')
			app_hottest_edit(a, function_file(f).v, function_line(f));
	}
	if ((a->analysis->keys.grouping == GROUP_FUNCTION ||
	     a->analysis->keys.grouping == GROUP_LINE) &&
	    here.place.key_id < a->analysis->counts.n_functions) {
		f = profile_function(p, (function_id){ here.place.key_id });
		file = profile_string(p, function_file(f), NULL);
		if (*file != '\0')
			app_wish(a, REQUEST_EDIT, file, function_line(f));
	}
	if (*file == '\0')
		app_say_owned(a, false, xasprintf("no source file is known for %s", label));
}

static void search_here(struct app *a)
{
	const char *label = selected_label(a);
	char *exact;

	if (!label)
		return;
	exact = filter_exact(label);
	if (app_search(a, exact))
		app_find(a, 0);
	free(exact);
}

static void next_match(struct app *a, int step)
{
	if (a->seeking.pattern)
		app_find(a, step);
	else
		app_say(a, false, "nothing is searched; / searches");
}

/* Esc: clears the search, else the view steps back, else the trail, else a comparison. It never quits. */
static void back(struct app *a)
{
	struct effect fx = { .kind = EFFECT_NONE };

	if (a->seeking.pattern) {
		app_search(a, NULL);
	} else if (app_ops(a)->act(app_state(a), &a->scene, ACTION_BACK, &fx)) {
		app_apply(a, &fx);
	} else if (!app_back(a) && a->own.open) {
		app_comparison_leave(a);
	}
}

/* What ends with us may have run for long: q is pressed easily, to go back. */
static void ask_to_quit(struct app *a)
{
	a->asked_to_quit = true;
	app_say(a, false, "q again ends proftop and the command; any other key goes on");
}

/* Leaves the comparison within a recording, else where one drilled to, else the program. */
static void quit(struct app *a)
{
	if (a->own.open)
		app_comparison_leave(a);
	else if (app_leave(a))
		return;
	else if (a->source->ends_command && a->loading && !a->asked_to_quit)
		ask_to_quit(a);
	else
		a->over = true;
}

/* Why a view did not do what a key does elsewhere in it; NULL: nobody would ask. */
static const char *undone_text(enum action action)
{
	switch (action) {
	case ACTION_OPEN:
	case ACTION_OPEN_ALL:
	case ACTION_HOT_PATH:
		return "there is nothing more to open here";
	case ACTION_CLOSE:
		return "there is nothing open here";
	case ACTION_ZOOM_IN:
		return "columns of less time there are none";
	case ACTION_ZOOM_OUT:
		return "that is all of the time";
	case ACTION_ENTER:
		return "there is nothing to go into here";
	default:
		return NULL;
	}
}

/* The view's own business; what it leaves, the app may still know. */
static void act_in_view(struct app *a, enum action action)
{
	struct effect fx = { .kind = EFFECT_NONE };
	bool done = app_ops(a)->act(app_state(a), &a->scene, action, &fx);

	if (done)
		app_apply(a, &fx);
	else if (action == ACTION_GROUP)
		next_grouping(a);
	else if (undone_text(action))
		app_say(a, false, undone_text(action));
}

static void show_tab(struct app *a, enum view_kind view)
{
	app_clear_trail(a);
	app_show(a, view);
}

/* By its number, of which a profile may lack the view. */
static void show_numbered(struct app *a, enum view_kind view)
{
	if (view == a->view && a->trail.n == 0)
		say_here(a);
	else if (app_has_view(a, view))
		show_tab(a, view);
	else if (app_baseline_hides(a, view))
		app_say_owned(a, false, app_baseline_text(a, view));
	else
		app_say(a, false,
			view == VIEW_KIND_MEMORY     ? "no heap data in this profile"
			: view == VIEW_KIND_FINDINGS ? "info says what changed in a comparison"
						     : "no times in this profile");
}

/* The first table of a heap, or the next one where one is shown. */
static void show_heap_view(struct app *a)
{
	int view = view_is_of_heap(a->view) ? (int)a->view + 1 : VIEW_KIND_LEAKS;

	if (view > VIEW_KIND_ALLOCATORS)
		view = VIEW_KIND_LEAKS;
	if (app_has_view(a, (enum view_kind)view))
		show_tab(a, (enum view_kind)view);
	else
		app_say(a, false, "no heap data in this profile");
}

/* The heat map, or the timeline where it is shown: two ways to see when. */
static void show_heat_map(struct app *a)
{
	if (a->view == VIEW_KIND_HEAT)
		show_tab(a, VIEW_KIND_TIMELINE);
	else if (a->analysis->diff)
		app_say(a, false, "a heat map is of one recording, not of a comparison");
	else
		show_tab(a, VIEW_KIND_HEAT);
}

/* Tables about a heap are one tab, which begins with the first of them. */
static bool is_other_tab(const struct app *a, enum view_kind view)
{
	return app_has_view(a, view) &&
	       (!view_is_of_heap(view) || (view == VIEW_KIND_LEAKS && !view_is_of_heap(a->view)));
}

/* The next tab to the right (1) or left (-1) of the present one, and round again. */
static void step_tab(struct app *a, int by)
{
	int view = (int)a->view;

	do
		view = (view + by + N_VIEW_KINDS) % N_VIEW_KINDS;
	while (view != (int)a->view && !is_other_tab(a, (enum view_kind)view));
	show_tab(a, (enum view_kind)view);
}

/* Actions on what is shown and how; false when it is none of them. */
static bool act_on_lens(struct app *a, enum action action)
{
	switch (action) {
	case ACTION_METRIC:
		next_metric(a);
		return true;
	case ACTION_EQUALISE:
		app_compare_equalise(a);
		return true;
	case ACTION_SIZE:
		app_compare_size(a);
		return true;
	case ACTION_INLINES:
		a->lens.inlines = !a->lens.inlines;
		app_say(a, false,
			a->lens.inlines ? "inlined functions are frames"
					: "inlined functions are part of their callers");
		app_reanalyse(a);
		return true;
	case ACTION_UNITS:
		a->scene.percent = !a->scene.percent;
		if (app_contexts(a) & (IN_TIME | IN_TEXT | IN_FINDINGS))
			app_say(a, false,
				a->scene.percent ? "numbers of rows are shares in %"
						 : "numbers of rows are in their unit");
		return true;
	case ACTION_WIDE:
		a->scene.wide = !a->scene.wide;
		if (app_contexts(a) & IN_TASKS ||
		    a->analysis->table_keys->grouping != GROUP_FUNCTION)
			app_say(a, false,
				a->scene.wide ? "names of functions are shown in full"
					      : "names of functions are folded");
		return true;
	case ACTION_STOP:
		stop_loading(a);
		return true;
	default:
		return false;
	}
}

/* Actions on the selection; false when it is none of them. */
static bool act_on_selection(struct app *a, enum action action)
{
	if (action == ACTION_COPY) {
		copy_label(a);
		return true;
	}
	if (app_ops(a)->contexts & IN_CODE && action == ACTION_EDIT)
		return false; /* it has a line selected */
	if (app_ops(a)->contexts & (IN_TASKS | IN_HEAT))
		return false; /* no function is selected: the view knows what to do */
	switch (action) {
	case ACTION_TO_TREE:
		carry(a, VIEW_KIND_TREE);
		return true;
	case ACTION_TO_CALLERS:
		carry(a, VIEW_KIND_CALLERS);
		return true;
	case ACTION_TO_BUTTERFLY:
		carry(a, VIEW_KIND_BUTTERFLY);
		return true;
	case ACTION_TO_FLAME:
		carry(a, VIEW_KIND_FLAME);
		return true;
	case ACTION_TO_ANNOTATE:
		carry_to_code(a);
		return true;
	case ACTION_COPY_STACK:
		copy_stack(a);
		return true;
	case ACTION_EDIT:
		edit_source(a);
		return true;
	case ACTION_SEARCH_HERE:
		search_here(a);
		return true;
	case ACTION_MENU:
		app_menu_open(a);
		return true;
	case ACTION_NOTE:
		app_notes_open(a);
		return true;
	default:
		return false;
	}
}

static void leave_sides(struct app *a)
{
	if (app_comparison_leave(a))
		return;
	app_say(a, false,
		a->sides ? "these are two recordings: there is no whole one to go back to"
			 : "nothing is compared: a and b choose its sides");
}

/* Actions on the frame around the view; false when it is none of them. */
static bool act_on_frame(struct app *a, enum action action)
{
	switch (action) {
	case ACTION_QUIT:
		quit(a);
		return true;
	case ACTION_QUIT_ALL:
		a->over = true;
		return true;
	case ACTION_BACK:
		back(a);
		return true;
	case ACTION_HELP:
		a->help.open = true;
		a->help.top = 0;
		return true;
	case ACTION_REPAINT:
		app_wish(a, REQUEST_REPAINT, NULL, 0);
		return true;
	case ACTION_SEARCH:
		app_prompt_open(a, PROMPT_SEARCH);
		return true;
	case ACTION_FILTER:
		app_prompt_open(a, PROMPT_FILTER);
		return true;
	case ACTION_EXPORT:
		app_prompt_open(a, PROMPT_EXPORT);
		return true;
	case ACTION_HOT_NEXT:
	case ACTION_HOT_PREVIOUS:
		/* What was searched elsewhere may not be in sight here. */
		if (!a->seeking.pattern || a->seeking.n == 0)
			return false;
		next_match(a, action == ACTION_HOT_NEXT ? 1 : -1);
		return true;
	case ACTION_NEXT:
		next_match(a, 1);
		return true;
	case ACTION_PREVIOUS:
		next_match(a, -1);
		return true;
	case ACTION_HEAP_VIEW:
		show_heap_view(a);
		return true;
	case ACTION_HEAT_MAP:
		show_heat_map(a);
		return true;
	case ACTION_HOTTEST_LINE:
		app_hottest_ask(a);
		return true;
	case ACTION_SAVED:
		app_saved_open(a);
		return true;
	case ACTION_NEXT_VIEW:
		step_tab(a, 1);
		return true;
	case ACTION_PREV_VIEW:
		step_tab(a, -1);
		return true;
	case ACTION_SIDE_A:
	case ACTION_SIDE_B:
		app_comparison_choose(a, action == ACTION_SIDE_A ? SIDE_BEFORE : SIDE_AFTER);
		return true;
	case ACTION_LEAVE_SIDES:
		leave_sides(a);
		return true;
	default:
		if (action < ACTION_VIEW_1 || action > ACTION_VIEW_10)
			return false;
		show_numbered(a, (enum view_kind)(action - ACTION_VIEW_1));
		return true;
	}
}

void app_act(struct app *a, enum action action)
{
	a->changed = true;
	if (action != ACTION_QUIT)
		a->asked_to_quit = false;
	a->landing.has_place = false;
	app_hottest_forget(a);
	if (action == ACTION_NONE || app_live_act(a, action) || act_on_frame(a, action) ||
	    act_on_lens(a, action) || act_on_selection(a, action))
		return;
	act_in_view(a, action);
	if (action == ACTION_MARK_B)
		app_live_marked(a);
}

/* What does not scroll: searches, or closes the overlay. */
static void act_in_help_otherwise(struct app *a, enum action action)
{
	switch (action) {
	case ACTION_SEARCH:
		app_prompt_open(a, PROMPT_SEARCH);
		break;
	case ACTION_NEXT:
	case ACTION_PREVIOUS:
		app_help_find(a, action == ACTION_NEXT ? 1 : -1);
		break;
	case ACTION_QUIT_ALL:
		a->over = true;
		break;
	default:
		if (action != ACTION_BACK || !a->help.pattern)
			a->help.open = false;
		app_help_search(a, NULL);
		break;
	}
}

void app_help_act(struct app *a, enum action action)
{
	int page = a->chrome.view.rows > 2 ? a->chrome.view.rows - 2 : 1;

	switch (action) {
	case ACTION_DOWN:
		a->help.top++;
		break;
	case ACTION_UP:
		a->help.top--;
		break;
	case ACTION_PAGE_DOWN:
	case ACTION_HALF_DOWN:
		a->help.top += page;
		break;
	case ACTION_PAGE_UP:
	case ACTION_HALF_UP:
		a->help.top -= page;
		break;
	case ACTION_FIRST:
		a->help.top = 0;
		break;
	case ACTION_LAST:
		a->help.top = INT16_MAX;
		break;
	default:
		act_in_help_otherwise(a, action);
		break;
	}
}
