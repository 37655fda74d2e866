/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A profile that is being recorded; see app_live.h. */
#include "config.h"

#include "tui/app/app_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "base/text.h"
#include "profile/heap/heap.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "tui/app/app.h"
#include "tui/app/app_chrome.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_window.h"
#include "tui/app/worker.h"
#include "tui/rows/time_axis.h"

#define NS_PER_MS INT64_C(1000000)

/* After so long without anything the rate of what comes at once is 0. */
#define RATE_MS 3000

/* What comes by itself is shown no more often, … */
#define FRAME_MS   250
/* … where we are to be sparing with the rows that follow, unless they do not come … */
#define SPARING_MS 1250
/* … but for what somebody may have asked for by a key so long ago. */
#define FOLLOWS_MS 1000
/* So long rows wait for lines over time that are of the same state. */
#define LINES_MS   80

/* Our own share is of so much time; how the target is is asked so often. */
#define CPU_MS    2000
#define TARGET_MS 500
/* What has stopped does nothing after so long: what it did before has come by then. */
#define STILL_MS  800
/* The end of a recording is heard of before its command is gone: it is asked so often still. */
#define LATE_MOST 10

static void freeze(struct app *a)
{
	a->live.frozen = !a->live.frozen;
	worker_hold(a->worker, a->live.frozen ? &a->analysis->counts : NULL);
	app_say(a, false,
		a->live.frozen ? "paused; data is still collected, z continues" : "live again");
	if (!a->live.frozen) {
		live_rate_anew(&a->live.growth);
		app_reanalyse(a);
	}
}

static void next_window(struct app *a)
{
	if (a->live.newest_ns < 0) {
		app_say(a, true, "there are no times in it: all of it is shown");
		return;
	}
	if (a->live.baseline_ns >= 0 && app_window_is_level(a)) {
		app_say(a, false,
			"what was there at the baseline is compared with what is there now, whenever it "
			"came: r is for what comes, as bytes");
		return;
	}
	if (app_window_is_chosen(a)) {
		app_say(a, true, "a time is chosen: Esc takes it back, and r says which is shown");
		return;
	}
	app_window_next(a);
	app_say(a, false, app_window_text(a));
	app_reanalyse(a);
}

/* What is before and since stays apart, however long it is watched: sums must know one from the other. */
static void keep_apart(const struct app *a)
{
	const struct capture *c = profile_capture(a->source->profile, (capture_id){ 0 });
	int64_t begin = capture_begin(c);

	if (a->source->keep_apart && begin != TIME_NONE)
		a->source->keep_apart(
			a->source->arg, a->live.from_ns > 0 ? begin + a->live.from_ns : TIME_NONE,
			a->live.baseline_ns > 0 ? begin + a->live.baseline_ns : TIME_NONE);
}

/* From now on only what comes is shown. */
static void reset(struct app *a)
{
	if (a->live.newest_ns < 0) {
		app_say(a, true, "there are no times in it by which it could begin anew");
		return;
	}
	a->live.from_ns = a->live.newest_ns + 1;
	a->live.baseline_ns = -1;
	keep_apart(a);
	app_say(a, false,
		a->live.frozen ? "reset: z continues, with new data alone"
			       : "reset: earlier data hidden");
	app_reanalyse(a);
}

static void set_baseline(struct app *a)
{
	if (a->live.newest_ns < 0) {
		app_say(a, true,
			"there are no times in it by which before and after could be told");
		return;
	}
	a->live.baseline_ns = a->live.baseline_ns < 0 ? a->live.newest_ns + 1 : -1;
	keep_apart(a);
	if (a->live.baseline_ns < 0)
		app_say(a, false, "baseline cleared");
	else if (a->live.frozen)
		app_say(a, false,
			"baseline set: z continues, and compares new data with earlier data");
	else
		app_say(a, false, "baseline set: new data is compared with earlier data");
	app_reanalyse(a);
}

static void save(struct app *a)
{
	struct err e = ERR_INIT;
	char *said;

	analysis_tree(a->analysis);
	if (!a->source->save || a->analysis->profile != a->source->profile)
		app_say(a, true, "there is nothing that could be saved");
	else if (a->source->save(a->analysis, &said, &e) == 0)
		app_say_owned(a, false, said);
	else
		app_say(a, true, err_text(&e));
	err_clear(&e);
}

void app_live_marked(struct app *a)
{
	char *said = a->message;

	if (!a->source->live || a->message_bad)
		return;
	a->message = NULL;
	app_say_owned(a, false,
		      xasprintf("%s; in other views B is the baseline",
				said ? said : "the range that is shown ends here"));
	free(said);
}

bool app_live_is_over(const struct app *a, enum action action)
{
	if (!a->source->live || a->loading)
		return false;
	return action == ACTION_RESET || (action == ACTION_FREEZE && !a->live.frozen) ||
	       (action == ACTION_BASELINE && a->live.baseline_ns < 0);
}

bool app_live_act(struct app *a, enum action action)
{
	if (!a->source->live)
		return false;
	if (app_live_is_over(a, action)) {
		app_say(a, false, "that is for what comes, and the recording has ended");
		return true;
	}
	switch ((int)action) {
	case ACTION_FREEZE:
		freeze(a);
		return true;
	case ACTION_WINDOW:
		next_window(a);
		return true;
	case ACTION_RESET:
		reset(a);
		return true;
	case ACTION_BASELINE:
		set_baseline(a);
		return true;
	case ACTION_SAVE:
		save(a);
		return true;
	default:
		return false;
	}
}

/*
 * Samples, or allocations where a heap's numbers are shown. Folded stacks are counted by their weights, in which rows of equal
 * ones are one.
 */
static uint64_t n_samples(const struct analysis *an)
{
	struct metric m = an->lens.column[0].metric;
	const struct event *event = m.event.v < an->counts.n_events
					    ? profile_event(an->profile, m.event)
					    : NULL;
	struct heap_columns heap;

	if (event && event->is_counted)
		return (uint64_t)an->weights.whole[0] / (uint64_t)an->weights.scale[0];
	if (event && !event->is_heap)
		return an->counts.n_taken;
	profile_heap_of(an->profile, &an->counts, &heap);
	return heap.n_allocations + heap.n_counted;
}

/* Until some time has gone by, what was is. */
static void take_share(struct cpu_share *s, int64_t now_ms, int64_t ns)
{
	if (s->ms > 0 && ns >= 0 && now_ms - s->ms < CPU_MS)
		return;
	/* It began earlier, or a part of it has ended and took its share with it. */
	if (ns < 0)
		s->permille = -1;
	else if (s->ms > 0 && ns >= s->ns)
		s->permille = (int)((ns - s->ns) / (now_ms - s->ms) / 1000);
	s->ms = ns < 0 ? 0 : now_ms;
	s->ns = ns;
}

void app_told_cpu(struct app *a, int64_t now_ms, int64_t cpu_ns)
{
	a->live.cpu_ns = cpu_ns;
	/* Only while something comes: what the screen says of us is no reason to paint it. */
	if (a->live.own.ms == 0 ||
	    (a->live.pace.per_s > 0 && a->live.pace.silent_s == 0 && !a->live.frozen))
		take_share(&a->live.own, now_ms, cpu_ns);
}

/* Has what is recorded stopped, ended, become another program, or begun others? */
static bool look_at_target(struct app *a, int64_t now_ms)
{
	struct live *l = &a->live;
	struct tui_target t = { .cpu_ns = -1 };
	/* The end of what is recorded follows, or is followed by, that of the command. */
	bool last = !a->loading && l->n_late == 0, changed, was_still = l->target.is_still;
	/* Of a machine nothing is told but its share. */
	int was = l->its.permille, every = a->source->sparing ? CPU_MS : TARGET_MS;

	if (!a->source->target || (l->target_ms > 0 && !last && now_ms - l->target_ms < every))
		return false;
	l->target_ms = now_ms;
	l->n_late += a->loading ? 0 : 1;
	a->source->target(a->source->target_arg, &t);
	changed = strcmp(t.text, l->target.text) != 0 || t.n_forked != l->target.n_forked;
	l->target = t;
	/* What it takes meanwhile is no reason to paint a screen that is held still. */
	if (l->frozen)
		return changed;
	if (was_still != t.is_still || t.is_still)
		l->its = (struct cpu_share){ now_ms, t.cpu_ns, t.is_still ? 0 : -1 };
	if (t.cpu_ns < 0 || !t.is_still)
		take_share(&l->its, now_ms, t.cpu_ns);
	return changed || l->its.permille != was;
}

void app_focus(struct app *a, bool has_focus)
{
	if (!a->source->live || a->live.unfocused == !has_focus)
		return;
	a->live.unfocused = !has_focus;
	a->changed = true;
}

/* Why there may be nothing to show, or NULL; the caller frees. */
static char *nothing_text(const struct app *a, int64_t now_ms)
{
	const struct weights *w = &a->analysis->weights;
	const struct tui_target *t = &a->live.target;
	const char *text = NULL;

	if (w->whole[0] > 0)
		return w->total[0] == 0 && !app_is_filtered(a)
			       ? xasprintf("nothing was recorded in this time: %s",
					   app_window_text(a))
			       : NULL;
	if (!a->loading || a->analysis->counts.n_samples > 0)
		return NULL;
	if (a->source->target)
		text = t->hint[0] ? t->hint : "waiting for the first samples";
	else if (a->source->waiting && now_ms - a->live.begun_ms >= RATE_MS)
		text = a->source->waiting(a->source->arg);
	return text ? text_clean(text, strlen(text), false) : NULL;
}

static bool look_for_nothing(struct app *a, int64_t now_ms)
{
	char *text = nothing_text(a, now_ms), *was = a->live.nothing;
	bool changed = text && was ? strcmp(text, was) != 0 : text != was;

	a->live.nothing = text;
	a->scene.nothing = text;
	free(was);
	return changed;
}

void app_live_clock(struct app *a, int64_t now_ms)
{
	struct live *l = &a->live;
	struct profile_counts counts;
	int64_t newest, now_ns = now_ms * NS_PER_MS;

	if (l->frozen)
		return;
	profile_counts_read(a->source->profile, &counts);
	newest = profile_newest_ns(a->source->profile, &counts);
	if (newest < 0)
		return;
	/* Of all samples the one that came soonest after it was taken says best how late it is there. */
	if (l->now_ns < 0 || newest - now_ns > l->ahead_ns)
		l->ahead_ns = newest - now_ns;
	/*
	 * What others record comes when they have enough of it, old files tell of other days, and what is there but is not read
	 * yet is not nothing.
	 */
	if (a->loading && a->source->target && l->behind_s == 0)
		l->now_ns = now_ns + l->ahead_ns;
	else if (l->behind_s > 0)
		l->now_ns = newest;
	if (l->now_ns < newest)
		l->now_ns = newest;
}

/* Does what is read lag behind what is written, or does it no more? */
static bool look_how_far(struct app *a)
{
	uint32_t ms = a->source->progress ? progress_behind_ms(a->source->progress) : 0;
	uint32_t s = (ms + 500) / 1000, was = a->live.behind_s;

	a->live.behind_s = s;
	return s != was;
}

bool app_live_tick(struct app *a, int64_t now_ms, bool more)
{
	struct live *l = &a->live;
	uint64_t n = n_samples(a->analysis);
	bool changed = look_at_target(a, now_ms);
	struct live_pace pace;

	if (l->begun_ms == 0)
		l->begun_ms = now_ms;
	changed |= look_for_nothing(a, now_ms);
	changed |= look_how_far(a);
	if (!live_rate_knows(&l->growth, n)) {
		l->newest_ns = profile_newest_ns(a->analysis->profile, &a->analysis->counts);
		live_rate_note(&l->growth, now_ms, n, l->newest_ns);
	}
	/* A recorder of ours passes on what comes at once. */
	pace = live_rate_pace(&l->growth, now_ms, a->source->target != NULL,
			      l->target.is_still && !more ? STILL_MS : RATE_MS);
	changed |= l->pace.per_s != pace.per_s || l->pace.silent_s != pace.silent_s;
	l->pace = pace;
	return changed;
}

int64_t app_live_due_ms(const struct app *a, int64_t now_ms)
{
	const struct live *l = &a->live;
	int64_t due = l->shown_ms + FRAME_MS;

	if (l->shown_ms == 0 || (l->touched_ms > 0 && now_ms - l->touched_ms < FOLLOWS_MS))
		return now_ms;
	/* With the rows that are on their way; and these with the lines that belong to them. */
	if (!l->owed_analysis && a->source->sparing && a->loading)
		return l->shown_ms + SPARING_MS;
	if (!l->owed_analysis && worker_busy(a->worker))
		return due + FRAME_MS;
	if (l->owed_analysis && worker_drawing(a->worker) && due < l->made_ms + LINES_MS)
		return l->made_ms + LINES_MS;
	return due;
}

bool app_live_shows(struct app *a, int64_t now_ms, bool at_once, bool analysis, bool beside)
{
	struct live *l = &a->live;

	l->owed |= at_once || analysis || beside;
	l->owed_analysis |= analysis;
	if (analysis)
		l->made_ms = now_ms;
	if (at_once)
		l->touched_ms = now_ms;
	if (!l->owed || (!at_once && now_ms < app_live_due_ms(a, now_ms)))
		return false;
	l->early_ms = l->owed_analysis ? now_ms - l->made_ms : 0;
	l->owed = l->owed_analysis = false;
	l->shown_ms = now_ms;
	return true;
}

int app_live_wait_ms(const struct app *a)
{
	return a->source->target && a->live.n_late < LATE_MOST ? TARGET_MS : -1;
}

static int add_form(char **out, int n, int most, char *part)
{
	if (n < most)
		out[n] = n > 0 ? xasprintf("%s · %s", out[n - 1], part) : xstrdup(part);
	free(part);
	return n < most ? n + 1 : n;
}

static const char *state_name(const struct app *a)
{
	if (a->live.frozen)
		return "paused";
	if (!a->loading)
		return "ended";
	if (a->live.target.is_still)
		return a->live.target.was_killed  ? "killed"
		       : a->live.target.has_ended ? "exited"
						  : "stopped";
	return a->live.unfocused ? "unfocused" : "live";
}

/* What is recorded, where the title does not say it already: the process that was named is as it was. */
static char *target_text(const struct app *a)
{
	const struct tui_target *t = &a->live.target;
	uint64_t seen = a->source->progress ? atomic_load(&a->source->progress->forked) : 0;
	uint64_t forked = seen > t->n_forked ? seen : t->n_forked;
	char number[FMT_SIZE], *clean, *out;
	bool titled = strcmp(t->text, a->source->title) == 0;

	if (!t->text[0] || (forked == 0 && titled))
		return NULL;
	if (titled)
		return xasprintf("forked %s", fmt_count(number, (int64_t)forked));
	clean = text_clean(t->text, strlen(t->text), false);
	if (forked == 0)
		return clean;
	out = xasprintf("%s%s forked %s", clean, t->text[strlen(t->text) - 1] == ')' ? "" : ",",
			fmt_count(number, (int64_t)forked));
	free(clean);
	return out;
}

/* A share of a cpu, or of several. */
static char *share_text(const char *whose, int permille)
{
	if (permille >= 100 || permille == 0)
		return xasprintf("%s %d %%", whose, (permille + 5) / 10);
	return xasprintf("%s %d.%d %%", whose, permille / 10, permille % 10);
}

/* Of a recording that goes on: "12 s behind". */
static char *behind_text(uint32_t s)
{
	if (s < 120)
		return xasprintf("%u s behind", s);
	return s < 7200 ? xasprintf("%u m behind", s / 60) : xasprintf("%u h behind", s / 3600);
}

/* "170/s", or of what comes now and then "170/s until 20 s ago". */
static char *pace_text(const struct live_pace *p)
{
	char number[FMT_SIZE];
	int s = p->silent_s;

	fmt_count(number, p->per_s);
	if (s == 0)
		return xasprintf("%s/s", number);
	return xasprintf("%s/s until %d %s ago", number,
			 s < 60     ? s
			 : s < 3600 ? s / 60
				    : s / 3600,
			 s < 60     ? "s"
			 : s < 3600 ? "m"
				    : "h");
}

/* What has to be there, in the order of app_live.h; returns how many forms there are. fate is freed, or NULL. */
static int due_totals(const struct app *a, bool whole, char *fate, char **out, int most)
{
	uint64_t lost = a->source->progress ? atomic_load(&a->source->progress->lost) : 0;
	char number[FMT_SIZE];
	int n = add_form(out, 0, most, xasprintf("● %s", state_name(a)));

	/* What is shown is not of now. */
	if (a->loading && !a->live.frozen && a->live.behind_s > 0)
		n = add_form(out, n, most, behind_text(a->live.behind_s));
	if (lost > 0)
		n = add_form(out, n, most, xasprintf("lost %s", fmt_count(number, (int64_t)lost)));
	/* How fast what comes meanwhile comes is not known while the screen is held still. */
	if (a->loading && !a->live.frozen && a->live.pace.per_s >= 0)
		n = add_form(out, n, most, pace_text(&a->live.pace));
	/* What is missing may be other than events: lines, or the rest of a record. */
	if (lost == 0)
		n = add_form(out, n, most,
			     xstrdup(app_has_losses(a->analysis) ? "lost: see info" : "lost 0"));
	if (fate)
		n = add_form(out, n, most, fate);
	if (a->loading && a->live.its.permille >= 0)
		n = add_form(out, n, most, share_text("cpu", a->live.its.permille));
	/* All of the time is what is expected; another one matters more than what we cost. */
	if (!whole)
		n = add_form(out, n, most, xstrdup(app_window_text(a)));
	if (a->live.own.permille >= 0)
		n = add_form(out, n, most, share_text("proftop", a->live.own.permille));
	return n;
}

int app_live_totals(const struct app *a, char **out, int most, int *n_due)
{
	const struct weights *w = &a->analysis->weights;
	bool whole = a->live.window == 0 && a->live.from_ns <= 0 && a->live.baseline_ns < 0;
	bool over = !a->loading || a->live.target.has_ended;
	char number[FMT_SIZE], *target = target_text(a);
	const char *time;
	int n_before, n = *n_due = due_totals(a, whole, over ? target : NULL, out, most);

	if (target && !over)
		n = add_form(out, n, most, target);
	time = app_has_times(w) && w->first_ns != TIME_NONE
		       ? fmt_ns(number, w->end_ns - w->begin_ns)
		       : NULL;
	n_before = n;
	if (time)
		n = add_form(out, n, most, xstrdup(time));
	/* That it is all of the time goes without saying where there is no room for it. */
	if (whole && n < most)
		out[n++] = xasprintf("%s · %s%s%s", out[n_before - 1], app_window_text(a),
				     time ? " · " : "", time ? time : "");
	return n;
}
