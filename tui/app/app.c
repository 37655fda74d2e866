/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Life of the app: loading, analyses, keys and clicks.
 *
 * While the profile grows, analyses follow each other at most every 250 ms and cost at most half of
 * the time; of all that runs on a machine they come so seldom, down to one a second, that we take no more than half a per
 * cent of a processor; what the user changes is asked for at once. Until the first one is there, views see an empty profile.
 */
#include "config.h"

#include "tui/app/app.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/task.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "code/annotation.h"
#include "tui/app/annotator.h"
#include "tui/app/app_act.h"
#include "tui/app/app_chrome.h"
#include "tui/app/app_compare.h"
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
#include "tui/app/app_views.h"
#include "tui/app/app_window.h"
#include "tui/app/worker.h"

#define REANALYSE_MS    250
/* What grows is looked at so often, if nothing is due; while nobody wants to see it, as often as what is recorded is. */
#define LOOK_MS         125
#define LOOK_SELDOM_MS  500
/* And so often where what is recorded should be there by now, but comes late; after so long it is not late, there is none. */
#define LOOK_SOON_MS    25
#define LATE_MS         500
/*
 * Of all that runs, which is left open for long, an analysis waits until all that we do was one part in so many of a processor,
 * but no longer than so. 0.4 %: a screen is to take no more than 0.5 % with what is not known at that time.
 */
#define LIVE_PART       250
#define LIVE_MOST_MS    1000
/* What is there so long before its frame is asked for so much later the next time. */
#define EARLY_MS        80
#define LATER_MS        10
/* An analysis takes one part in so many of the time where what is written is not read yet; elsewhere half. */
#define BEHIND_PART     8
/* What is loaded within the first is shown once, and whole; names are not waited for any longer than the second. */
#define FIRST_ROWS_MS   40
#define FIRST_WAIT_MS   10
#define FIRST_NAMES_MS  100
#define FIRST_LOCATIONS 64u /* are looked at for names */
#define DOUBLE_CLICK_MS 400
#define WHEEL_ROWS      3

static int find_view(const char *name, enum view_kind *out, struct err *e)
{
	for (int i = 0; i < N_VIEW_KINDS; i++)
		if (strcmp(views[i]->name, name) == 0) {
			*out = (enum view_kind)i;
			return 0;
		}
	return err_set(e, -EINVAL, "there is no view '%s'", name);
}

/* The user's lens; its metric is open until there are events, unless one was asked for. */
static void start_lens(struct app *a, const struct lens *wanted, bool metric_open)
{
	struct profile_counts counts;

	profile_counts_read(a->source->profile, &counts);
	if (wanted)
		lens_copy(&a->lens, wanted);
	else
		lens_init(&a->lens, a->source->profile);
	a->follow = !wanted || metric_open || counts.n_events == 0;
}

static uint32_t version_of(const struct profile *p)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	return counts.version;
}

/* Is the cursor where only another analysis knows what of each site is there? */
static bool cursor_moved(const struct app *a)
{
	const struct analysis *an = a->analysis;
	const struct footprint_lines *lines = analysis_lines(an);

	return lines && lines->n_row_slots != lines->span.n &&
	       an->lens.cursor_ns != a->lens.cursor_ns;
}

/* Does the profile hold what the analysis has not seen, and somebody wants to? */
static bool behind(const struct app *a)
{
	if (a->live.frozen || (a->live.unfocused && !a->live.glance))
		return false;
	return a->analysis->profile != a->source->profile ||
	       a->analysis->counts.version != version_of(a->source->profile) || cursor_moved(a) ||
	       app_window_moves(a);
}

/* Where there is no heap its view has nothing to show, and no tab; nor has it, or the timeline, of two moments of one. */
static void leave_memory(struct app *a)
{
	char *why;

	if (app_baseline_hides(a, a->view)) {
		why = app_baseline_text(a, a->view);
		app_show(a, VIEW_KIND_TOP);
		app_say_owned(a, false, why);
		return;
	}
	/* What is shown may be of a part that had no heap yet. */
	if (a->loading || a->analysis->counts.version < a->whole_version ||
	    !(a->view == VIEW_KIND_MEMORY || view_is_of_heap(a->view)) ||
	    app_has_view(a, VIEW_KIND_MEMORY) || a->analysis->counts.n_samples == 0)
		return;
	why = xasprintf("the %s view wants a recording of a heap; this is top", app_ops(a)->name);
	app_show(a, VIEW_KIND_TOP);
	app_say_owned(a, true, why);
}

/* Is a heap all that there is to look at, or what the input puts first? */
static bool is_of_heap(const struct analysis *a)
{
	event_id e = a->lens.column[0].metric.event;

	return a->counts.n_samples == 0 ||
	       (e.v < a->counts.n_events && profile_event(a->profile, e)->is_heap &&
		profile_event(a->profile, e)->is_default);
}

static void replace_analysis(struct app *a, struct analysis *made)
{
	struct analysis *old = a->analysis;

	if (!worker_busy(a->worker))
		a->n_shown = a->n_filters;
	analysis_keep_lines(made, old);
	a->analysis = a->scene.analysis = made;
	app_search_again(a);
	/* A recording of a heap begins with its memory over time. */
	if (a->view_open && made->footprint && !made->diff && is_of_heap(made))
		app_show(a, VIEW_KIND_MEMORY);
	if (made->diff && old->profile != made->profile)
		app_compare_tell(a);
	if (!annotator_keeps(a->annotator, old))
		worker_drop(a->worker, old);
	leave_memory(a);
	if (!worker_busy(a->worker)) {
		app_land(a);
		app_saved_land(a);
		app_hottest_land(a);
	}
}

/*
 * Did loading fail with nothing to look at? What looked like stacks in the only input is none when its
 * reader refuses it in the end: a number here and there in another text.
 */
static bool has_failed(const struct app *a)
{
	struct profile_counts counts;

	if (a->loading || a->load_error.code == 0)
		return false;
	profile_counts_read(a->source->profile, &counts);
	return counts.n_samples == 0 || (a->load_error.code == -EBADMSG && counts.n_captures == 1);
}

/* The loader's end: an error that left something to look at is a message. */
static void end_loading(struct app *a)
{
	a->loading = a->scene.loading = false;
	a->whole_version = version_of(a->source->profile);
	if (!a->asked)
		a->asked_ms = INT64_MIN; /* the last analysis need not wait */
	leave_memory(a);
	/* What others record with may have said on the terminal that it ends: "[ perf record: Woken up 4 times". */
	if (a->source->live && a->source->recorder == 0 && a->wish.kind == REQUEST_NONE)
		a->wish.kind = REQUEST_REPAINT;
	if (has_failed(a) && a->load_error.code != -ECANCELED)
		a->over = true;
	else if (a->load_error.code != 0)
		app_say(a, true, err_text(&a->load_error));
}

static void drain(int fd)
{
	uint64_t count;
	ssize_t ignored = fd >= 0 ? read(fd, &count, sizeof(count)) : 0;

	(void)ignored;
}

/* 0..100; -1 while unknown or over. */
static int percent_loaded(const struct app *a)
{
	const struct progress *p = a->source->progress;
	uint64_t total = a->loading && p ? atomic_load(&p->total) : 0;
	uint64_t done = total > 0 ? atomic_load(&p->done) : 0;

	if (total == 0)
		return -1;
	return done < total ? (int)((double)done / (double)total * 100) : 100;
}

/* Do most of the first frames have names by now? */
static bool has_names(const struct profile *p)
{
	struct profile_counts counts;
	struct location_columns c;
	uint32_t n, n_named = 0;

	profile_counts_read(p, &counts);
	profile_locations(p, &c);
	n = counts.n_locations < FIRST_LOCATIONS ? (uint32_t)counts.n_locations : FIRST_LOCATIONS;
	for (uint32_t i = 0; i < n; i++)
		n_named += location_function(&c, i) != ID_NONE;
	return n_named > n / 2;
}

/* When the next analysis of a growing profile is due. */
static int64_t due_ms(const struct app *a)
{
	int64_t least = app_has_data(a)                 ? REANALYSE_MS
			: has_names(a->source->profile) ? FIRST_ROWS_MS
							: FIRST_NAMES_MS;
	/* Where reading is behind, it is to have the processor. */
	int64_t share = a->live.behind_s > 0 ? BEHIND_PART : 2;
	int64_t pause = a->cost_ms * share > least ? a->cost_ms * share : least;
	int64_t dear = (a->live.cpu_ns - a->live.asked_cpu_ns) * LIVE_PART / 1000000;

	/*
	 * While others have the processor an analysis takes long without costing much. It is asked for in time all the same: the first
	 * late one puts off the frames after it, and by that those to come have so much more time; what they do not need of it is
	 * given back in small steps.
	 */
	if (a->live.early_ms > EARLY_MS)
		pause += LATER_MS;
	/* The last of what has stopped is not waited for. */
	if (a->source->sparing && !a->live.target.is_still && app_has_data(a) && dear > pause)
		pause = dear < LIVE_MOST_MS ? dear : LIVE_MOST_MS;
	return a->asked_ms == INT64_MIN ? INT64_MIN : a->asked_ms + pause;
}

struct app *app_new(const struct tui_source *source, const struct tui_options *o,
		    const struct settings *settings, struct err *e)
{
	const char *view = o->view ? o->view : settings->view;
	struct app *a = xcalloc(1, sizeof(*a));

	a->source = source;
	a->settings = settings;
	a->view = VIEW_KIND_TOP;
	a->view_open = !view;
	if (view && find_view(view, &a->view, e) < 0) {
		free(a);
		return NULL;
	}
	a->worker = worker_new(source->profile, e);
	if (!a->worker) {
		free(a);
		return NULL;
	}
	a->annotator = annotator_new(source, worker_fd(a->worker));
	a->hints = o->hints && settings->hints;
	a->loading = true;
	a->asked_ms = INT64_MIN;
	a->click_row = -1;
	a->press.row = -1;
	a->percent_loaded = -1;
	a->nothing = profile_new();
	a->ratios = o->ratios;
	a->n_ratios = o->n_ratios;
	start_lens(a, o->lens, o->metric_open);
	a->sides = o->sides;
	/* not cancelled by anyone */
	analysis_new(a->nothing, &a->lens, NULL, &a->analysis);
	a->scene = (struct scene){ .analysis = a->analysis,
				   .percent = settings->percent,
				   .wide = settings->wide,
				   .loading = true,
				   .live = source->live,
				   .view = a->view };
	a->notebook = o->notebook;
	a->scene.notes = o->notebook;
	app_saved_want(a, o->sort, o->function, o->zoom);
	a->live.baseline_ns = a->live.newest_ns = a->live.pace.per_s = -1;
	a->live.now_ns = a->live.asked_ns = -1;
	a->live.own.permille = a->live.its.permille = -1;
	app_reanalyse(a);
	return a;
}

void app_free(struct app *a)
{
	if (!a)
		return;
	app_comparison_stop(a);
	annotator_free(a->annotator);
	annotation_free(a->code);
	worker_free(a->worker);
	for (int i = 0; i < N_VIEW_KINDS; i++)
		if (a->instance[i].state)
			a->instance[i].ops->free(a->instance[i].state);
	free(a->completed);
	if (a->prompting != PROMPT_NONE)
		prompt_done(&a->prompt);
	for (int i = 0; i < N_PROMPTS; i++)
		history_done(&a->history[i]);
	app_search(a, NULL);
	app_help_search(a, NULL);
	free(a->seeking.kept);
	analysis_free(a->analysis);
	profile_free(a->nothing);
	lens_done(&a->lens);
	err_clear(&a->load_error);
	app_free_trail(a);
	app_comparison_done(a);
	vec_done(&a->hits);
	free(a->filter_text);
	free(a->live.nothing);
	app_notes_done(a);
	app_saved_want(a, NULL, NULL, NULL);
	free(a->message);
	free(a->wish.text);
	free(a);
}

void app_resize(struct app *a, int cols, int rows)
{
	a->cols = cols;
	a->rows = rows;
	a->changed = true;
	app_expect_lines(a);
	/* Whoever does that sees it. */
	a->live.glance = a->live.unfocused;
	a->live.glance = a->live.unfocused && behind(a);
}

bool app_glances(const struct app *a)
{
	return a->live.glance;
}

static void hush(struct app *a)
{
	free(a->message);
	a->message = NULL;
	a->changed = true;
}

/* Of a key that does nothing in this view; what terminals send by themselves is no such key. */
static void say_no_use(struct app *a, uint32_t key)
{
	char name[KEYCODE_NAME_SIZE], help[64];

	a->asked_to_quit = false;
	if (key == KEYCODE_NONE)
		return;
	keymap_keys(&a->settings->keymap, a->view, app_contexts(a), ACTION_HELP, help,
		    sizeof(help));
	help[strcspn(help, " ")] = '\0';
	app_say_owned(a, false,
		      xasprintf("%s means nothing in %s; %s lists its keys",
				keycode_name(key, name), app_ops(a)->name, help));
}

void app_key(struct app *a, uint32_t key)
{
	enum action action;

	hush(a);
	a->click_row = -1;
	if (a->prompting != PROMPT_NONE) {
		app_prompt_key(a, key);
		return;
	}
	if (a->menu.open) {
		if (a->menu.of_views)
			app_saved_key(a, key);
		else
			app_menu_key(a, key);
		return;
	}
	/* Where nothing is to be left, that is said. */
	action = keymap_find(&a->settings->keymap, a->view, app_contexts(a) | IN_SIDES, key);
	if (a->help.open)
		app_help_act(a, action);
	else if (action == ACTION_NONE)
		say_no_use(a, key);
	else
		app_act(a, action);
}

void app_paste(struct app *a, uint32_t cp)
{
	hush(a);
	if (a->prompting != PROMPT_NONE && cp >= ' ' && cp != KEYCODE_BACKSPACE)
		app_prompt_key(a, cp);
	else if (a->prompting == PROMPT_NONE)
		app_say(a, false, "pasted text is no keys; open a prompt with / or & for it");
}

static const struct hit *hit_at(const struct app *a, int row, int col)
{
	for (size_t i = 0; i < a->hits.n; i++) {
		const struct hit *h = &a->hits.at[i];

		if (h->row == row && col >= h->col && col < h->col + h->cols)
			return h;
	}
	return NULL;
}

static bool inside(struct rect r, int row, int col)
{
	return row >= r.row && row < r.row + r.rows && col >= r.col && col < r.col + r.cols;
}

void app_click(struct app *a, int row, int col, int64_t now_ms)
{
	bool twice = row == a->click_row && col == a->click_col &&
		     now_ms - a->click_ms <= DOUBLE_CLICK_MS;
	const struct hit *hit = hit_at(a, row, col);
	struct effect fx = { .kind = EFFECT_NONE };

	hush(a);
	a->click_row = twice ? -1 : row;
	a->click_col = col;
	a->click_ms = now_ms;
	a->press = (struct cell_at){ -1, -1 };
	if (a->help.open || a->menu.open) {
		a->help.open = a->menu.open = false;
		return;
	}
	if (a->prompting != PROMPT_NONE)
		app_prompt_key(a, KEYCODE_ENTER);
	if (!hit)
		a->press = (struct cell_at){ row, col };
	if (hit) {
		app_act(a, hit->action);
	} else if (inside(a->chrome.view, row, col)) {
		void *state = app_state(a);

		app_ops(a)->click(state, &a->scene, a->chrome.view, row, col, twice, &fx);
		app_apply(a, &fx);
	}
}

void app_release(struct app *a, int row, int col)
{
	struct cell_at from = a->press, to = { row, col };
	struct effect fx = { .kind = EFFECT_NONE };
	int64_t from_ns, to_ns;

	a->press = (struct cell_at){ -1, -1 };
	if (from.row < 0 || a->help.open || a->prompting != PROMPT_NONE)
		return;
	if (from.row == row && from.col == col) {
		/* a click on activity shows it at large; a drag chooses a range */
		if (row == a->chrome.activity && a->view != VIEW_KIND_TIMELINE &&
		    a->view != VIEW_KIND_HEAT)
			app_go(a, VIEW_KIND_TIMELINE, NULL);
		return;
	}
	if (from.row == a->chrome.activity &&
	    app_activity_range(a, from.col, col, &from_ns, &to_ns)) {
		app_show_time(a, from_ns, to_ns);
	} else if (inside(a->chrome.view, from.row, from.col) && app_ops(a)->drag) {
		app_ops(a)->drag(app_state(a), &a->scene, a->chrome.view, from, to, &fx);
		app_apply(a, &fx);
	}
}

void app_wheel(struct app *a, int notches)
{
	enum action action = notches > 0 ? ACTION_DOWN : ACTION_UP;

	hush(a);
	for (int i = abs(notches) * WHEEL_ROWS; i > 0; i--) {
		if (a->prompting != PROMPT_NONE)
			break;
		if (a->help.open)
			app_help_act(a, action);
		else
			app_act(a, action);
	}
}

/* What the worker has made; false: nothing. */
static bool take_made(struct app *a)
{
	struct analysis *made = worker_take(a->worker);
	struct over_time *over = worker_take_over(a->worker);

	/* Before an analysis comes in the place of what it is of. */
	if (over) {
		analysis_set_over(a->analysis, over);
		a->instance[VIEW_KIND_MEMORY].stale = true;
		a->instance[VIEW_KIND_TIMELINE].stale = true;
		a->instance[VIEW_KIND_THREADS].stale = true;
		a->instance[VIEW_KIND_HEAT].stale = true;
	}
	if (made && app_hottest_takes(a, made)) {
		a->asked = worker_busy(a->worker);
		/* What the request for lines cancelled is still wanted. */
		if (!a->asked && behind(a))
			app_reanalyse(a);
	} else if (made) {
		replace_analysis(a, made);
		a->cost_ms = worker_cost_ns(a->worker) / 1000000;
		a->asked = worker_busy(a->worker);
		a->live.glance = false;
	}
	return app_comparison_take(a) || made || over;
}

static void note_asked(struct app *a, int64_t now_ms)
{
	a->asked_ms = now_ms;
	a->live.asked_cpu_ns = a->live.cpu_ns;
}

/* The annotation that was asked for. */
static bool take_code(struct app *a)
{
	struct analysis *left = NULL;
	struct annotation *made = annotator_take(a->annotator, &left);

	if (left)
		worker_drop(a->worker, left);
	if (!made)
		return false;
	annotation_free(a->code);
	a->code = made;
	a->scene.code = made;
	a->instance[VIEW_KIND_ANNOTATE].stale = true;
	return true;
}

bool app_tick(struct app *a, int64_t now_ms)
{
	const struct analysis *was = a->analysis;
	bool changed = a->changed, beside;
	int percent;

	drain(a->source->wake_fd);
	if (a->loading && a->source->finished(a->source->arg, &a->load_error)) {
		end_loading(a);
		changed = true;
	}
	if (a->asked && a->asked_ms == INT64_MIN)
		note_asked(a, now_ms);
	beside = take_made(a);
	beside |= take_code(a);
	if (a->source->live)
		app_live_clock(a, now_ms);
	if (!worker_busy(a->worker) && behind(a) && now_ms >= due_ms(a)) {
		app_reanalyse(a);
		note_asked(a, now_ms);
	}
	if (a->source->live)
		beside |= app_live_tick(a, now_ms, worker_busy(a->worker) || behind(a));
	percent = percent_loaded(a);
	changed |= percent != a->percent_loaded && !a->source->live; /* which does not tell it */
	a->percent_loaded = percent;
	a->changed = false;
	/* What is in sight now may want other lines. */
	if ((changed || beside || a->analysis != was) && a->cols > 0)
		app_state(a);
	if (!a->source->live)
		return changed || beside || a->analysis != was;
	return app_live_shows(a, now_ms, changed, a->analysis != was, beside);
}

/* Of what is being loaded: when to look whether there is more, and how far that is. */
static int64_t look_ms(const struct app *a, int64_t due_in_ms)
{
	if (a->source->live && (a->live.frozen || a->live.unfocused))
		return LOOK_SELDOM_MS;
	/* Of live nothing is told before. */
	if (a->source->live && due_in_ms > LOOK_MS)
		return due_in_ms;
	if (a->source->live && !a->source->sparing && due_in_ms <= 0 && due_in_ms > -LATE_MS)
		return LOOK_SOON_MS;
	return LOOK_MS;
}

/* As app_wait_ms(), for what is to be looked at. */
static int64_t wait_work_ms(const struct app *a, int64_t now_ms)
{
	int64_t due = due_ms(a) == INT64_MIN ? 0 : due_ms(a) - now_ms;
	bool idle = worker_busy(a->worker) || !behind(a);

	if (a->loading && !app_has_data(a))
		return a->source->live && now_ms - a->live.begun_ms > LATE_MS ? look_ms(a, LOOK_MS)
									      : FIRST_WAIT_MS;
	if (!a->loading && idle)
		return a->source->live ? app_live_wait_ms(a) : -1;
	if (a->loading && (idle || due > LOOK_MS))
		return look_ms(a, due);
	return due < 0 ? 0 : due;
}

int app_wait_ms(const struct app *a, int64_t now_ms)
{
	int64_t wait = wait_work_ms(a, now_ms), show;

	if (a->changed)
		return 0;
	if (a->live.owed) {
		show = app_live_due_ms(a, now_ms) - now_ms;
		show = show < 0 ? 0 : show;
		wait = wait < 0 || show < wait ? show : wait;
	}
	return (int)wait;
}

void app_wake_fds(const struct app *a, int fds[2])
{
	fds[0] = worker_fd(a->worker);
	fds[1] = a->source->wake_fd;
}

bool app_has_data(const struct app *a)
{
	return a->analysis->profile == a->source->profile && a->analysis->counts.n_samples > 0;
}

bool app_drawing(const struct app *a)
{
	return worker_drawing(a->worker);
}

bool app_settled(const struct app *a)
{
	return a->over ||
	       (!a->loading && !a->own.coming && !worker_busy(a->worker) &&
		!annotator_busy(a->annotator) && !worker_drawing(a->worker) && !behind(a));
}

bool app_take_request(struct app *a, struct terminal_request *out)
{
	*out = a->wish;
	a->wish = (struct terminal_request){ .kind = REQUEST_NONE };
	return out->kind != REQUEST_NONE;
}

bool app_over(const struct app *a)
{
	return a->over;
}

int app_failure(const struct app *a, struct err *e)
{
	if (!has_failed(a))
		return 0;
	return err_set(e, a->load_error.code, "%s", err_text(&a->load_error));
}
