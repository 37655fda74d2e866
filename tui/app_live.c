/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A profile that is being recorded; see app_live.h.
 *
 * A window is a time term beside the user's filter, made anew with each analysis. What it is counted from is the
 * newest sample, not the clock: a recording that pauses stands still, and nothing is repainted.
 */
#include "config.h"

#include "app_live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "app.h"
#include "app_chrome.h"
#include "app_lens.h"
#include "app_state.h"
#include "err.h"
#include "filter.h"
#include "fmt.h"
#include "heap.h"
#include "mem.h"
#include "profile.h"
#include "sides.h"
#include "task.h"
#include "text.h"
#include "time_axis.h"
#include "worker.h"

#define NS_PER_S INT64_C(1000000000)

/* What sparklines of rows show. */
#define MINUTE_NS (60 * NS_PER_S)

/* A rate is of so much time; what is older is forgotten, and after so long without anything it is 0. */
#define RATE_MS 3000

/* Our own share is of so much time; how the target is is asked so often. */
#define CPU_MS    2000
#define TARGET_MS 500

static const struct {
	int64_t last_ns; /* 0: all */
	const char *text;
} windows[] = {
	{ 0, NULL },
	{ 10 * NS_PER_S, "last 10 s" },
	{ 60 * NS_PER_S, "last 60 s" },
};
#define N_WINDOWS (sizeof(windows) / sizeof(windows[0]))

static const char *window_text(const struct app *a)
{
	const char *text = windows[a->live.window].text;

	if (a->live.baseline_ns >= 0)
		return text ? text : "since the baseline";
	if (text)
		return text;
	return a->live.from_ns > 0 ? "since the reset" : "since the start";
}

/* The newest sample's time since the start of the recording; -1 where there are no times. */
static int64_t newest_ns(const struct app *a)
{
	struct profile_counts counts;
	int64_t newest = -1;

	profile_counts_read(a->source->profile, &counts);
	for (uint32_t i = 0; i < counts.n_captures; i++) {
		const struct capture *c = profile_capture(a->source->profile, (capture_id){ i });
		int64_t begin = capture_begin(c), end = capture_end(c), since;

		if (begin != TIME_NONE && end != TIME_NONE &&
		    !__builtin_sub_overflow(end, begin, &since) && since > newest)
			newest = since;
	}
	return newest;
}

/* Two columns: before the baseline and since, as if both had taken equally long. False: not so far. */
static bool compare_lens(const struct app *a, int64_t since_ns, struct lens *out)
{
	const struct profile *p = a->source->profile;
	struct metric m = a->lens.column[0].metric;
	struct profile_counts counts;
	char from[FMT_SIZE], to[FMT_SIZE];
	struct sides_choice choice = { .normalise = NORMALISE_TIME };
	struct sides sides = { 0 };
	char *term;
	bool done;

	profile_counts_read(p, &counts);
	if (m.event.v >= counts.n_events)
		return false;
	choice.event = profile_string(p, profile_event(p, m.event)->name, NULL);
	choice.metric = metric_word(p, m);
	term = xasprintf("time:%s,%s", fmt_exact(from, a->live.from_ns, NS_PER_S),
			 fmt_exact(to, a->live.baseline_ns, NS_PER_S));
	sides_add(&sides, SIDE_BEFORE, term, NULL);
	sides.name[SIDE_BEFORE] = xstrdup("before");
	free(term);
	term = xasprintf("time:%s,", fmt_exact(from, since_ns, NS_PER_S));
	sides_add(&sides, SIDE_AFTER, term, NULL);
	sides.name[SIDE_AFTER] = xstrdup("since");
	free(term);
	done = sides_lens(&sides, p, &choice, out, NULL) == 0;
	sides_done(&sides);
	return done;
}

void app_live_lens(const struct app *a, struct lens *out)
{
	int64_t from = a->live.from_ns, last = windows[a->live.window].last_ns;
	char since[FMT_SIZE], *term;

	lens_copy(out, &a->lens);
	out->recent_ns = a->source->live ? MINUTE_NS : 0;
	if (last > 0 && a->live.newest_ns - last > from)
		from = a->live.newest_ns - last;
	if (a->live.baseline_ns >= 0 &&
	    compare_lens(a, from > a->live.baseline_ns ? from : a->live.baseline_ns, out))
		return;
	if (from <= 0)
		return;
	term = xasprintf("time:%s,", fmt_exact(since, from, NS_PER_S));
	if (!out->filter)
		filter_parse("", &out->filter, NULL);
	filter_add(out->filter, term, NULL);
	free(term);
}

static void freeze(struct app *a)
{
	a->live.frozen = !a->live.frozen;
	worker_hold(a->worker, a->live.frozen ? &a->analysis->counts : NULL);
	app_say(a, false,
		a->live.frozen ? "frozen: what comes is kept, and shown when z is pressed again"
			       : "going on");
	if (!a->live.frozen)
		app_reanalyse(a);
}

static void next_window(struct app *a)
{
	if (a->live.newest_ns < 0) {
		app_say(a, true, "there are no times in it: all of it is shown");
		return;
	}
	a->live.window = (a->live.window + 1) % N_WINDOWS;
	app_say(a, false, window_text(a));
	app_reanalyse(a);
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
	app_say(a, false, "begun anew: what was before is left out");
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
	app_say(a, false,
		a->live.baseline_ns >= 0
			? "baseline: what comes from now on is compared with what was before"
			: "no baseline any more");
	app_reanalyse(a);
}

static void save(struct app *a)
{
	struct err e = ERR_INIT;
	char *said;

	if (!a->source->save || a->analysis->profile != a->source->profile)
		app_say(a, true, "there is nothing that could be saved");
	else if (a->source->save(a->analysis, &said, &e) == 0)
		app_say_owned(a, false, said);
	else
		app_say(a, true, err_text(&e));
	err_clear(&e);
}

bool app_live_act(struct app *a, enum action action)
{
	if (!a->source->live)
		return false;
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

/* Forgets what is too old to tell how fast it is now; the oldest that is left is the first. */
static void age(struct live *l, int64_t now_ms)
{
	size_t n_old = 0;

	while (n_old + 1 < l->n_growth && l->growth[n_old + 1].ms <= now_ms - RATE_MS)
		n_old++;
	if (l->n_growth == LIVE_GROWTH && n_old == 0)
		n_old = 1;
	l->n_growth -= n_old;
	memmove(l->growth, l->growth + n_old, l->n_growth * sizeof(l->growth[0]));
}

/* Samples a second, as far as they are known; -1: not yet. */
static int64_t rate_now(const struct live *l, int64_t now_ms)
{
	const struct growth *first = &l->growth[0], *last = &l->growth[l->n_growth - 1];

	if (l->n_growth == 0 || now_ms - last->ms >= RATE_MS)
		return l->n_growth == 0 ? -1 : 0;
	if (last->ms - first->ms < 200)
		return -1;
	return (int64_t)((double)(last->n - first->n) * 1000 / (double)(last->ms - first->ms) +
			 0.5);
}

/* Samples and allocations. Folded stacks are counted by their weights, in which rows of equal ones are one. */
static uint64_t n_samples(const struct analysis *an)
{
	struct metric m = an->lens.column[0].metric;
	struct heap_columns heap;

	if (m.event.v < an->counts.n_events && profile_event(an->profile, m.event)->is_counted)
		return (uint64_t)an->weights.whole[0] / (uint64_t)an->weights.scale[0];
	profile_heap(an->profile, &heap);
	return an->counts.n_samples + heap.n_allocations;
}

void app_told_cpu(struct app *a, int64_t now_ms, int64_t cpu_ns)
{
	struct live *l = &a->live;

	/* Only while something comes: what the screen says of us is no reason to paint it. */
	if (l->cpu_ms > 0 && (now_ms - l->cpu_ms < CPU_MS || l->rate <= 0))
		return;
	/* It began earlier, or has ended and took its share with it. */
	if (l->cpu_ms > 0 && cpu_ns >= l->cpu_ns)
		l->own_permille = (int)((cpu_ns - l->cpu_ns) / (now_ms - l->cpu_ms) / 1000);
	l->cpu_ms = now_ms;
	l->cpu_ns = cpu_ns;
}

/* Has what is recorded stopped, ended, or become another program? */
static bool look_at_target(struct app *a, int64_t now_ms)
{
	struct live *l = &a->live;
	char text[sizeof(l->target)] = "";

	if (!a->source->target || (l->target[0] && now_ms - l->target_ms < TARGET_MS))
		return false;
	l->target_ms = now_ms;
	a->source->target(a->source->target_arg, text, sizeof(text));
	if (strcmp(text, l->target) == 0)
		return false;
	memcpy(l->target, text, sizeof(text));
	return true;
}

bool app_live_tick(struct app *a, int64_t now_ms)
{
	struct live *l = &a->live;
	uint64_t n = n_samples(a->analysis);
	bool changed = look_at_target(a, now_ms);
	int64_t rate;

	if (l->n_growth == 0 || l->growth[l->n_growth - 1].n != n) {
		age(l, now_ms);
		l->growth[l->n_growth++] = (struct growth){ now_ms, n };
		l->newest_ns = newest_ns(a);
	}
	rate = rate_now(l, now_ms);
	changed |= l->rate != rate;
	l->rate = rate;
	return changed;
}

int app_live_wait_ms(const struct app *a, int64_t now_ms)
{
	const struct live *l = &a->live;
	int64_t wait;

	if (l->n_growth == 0 || l->rate <= 0)
		return -1;
	wait = l->growth[l->n_growth - 1].ms + RATE_MS - now_ms;
	return wait > 0 ? (int)wait : 0;
}

static int add_form(char **out, int n, int most, char *part)
{
	if (n < most)
		out[n] = n > 0 ? xasprintf("%s · %s", out[n - 1], part) : xstrdup(part);
	free(part);
	return n < most ? n + 1 : n;
}

int app_live_totals(const struct app *a, char **out, int most)
{
	const struct weights *w = &a->analysis->weights;
	uint64_t lost = a->source->progress ? atomic_load(&a->source->progress->lost) : 0;
	char number[FMT_SIZE];
	int n = 0;

	n = add_form(out, n, most,
		     xasprintf("● %s", a->live.frozen ? "frozen"
				       : a->loading   ? "live"
						      : "ended"));
	if (a->live.target[0])
		n = add_form(out, n, most,
			     text_clean(a->live.target, strlen(a->live.target), false));
	n = add_form(out, n, most, xstrdup(window_text(a)));
	if (app_has_times(w) && w->first_ns != TIME_NONE)
		n = add_form(out, n, most, xstrdup(fmt_ns(number, w->end_ns - w->begin_ns)));
	if (a->loading && a->live.rate >= 0)
		n = add_form(out, n, most, xasprintf("%s/s", fmt_count(number, a->live.rate)));
	n = add_form(out, n, most, xasprintf("lost %s", fmt_count(number, (int64_t)lost)));
	if (a->live.own_permille >= 0)
		n = add_form(out, n, most,
			     xasprintf("us %d.%d %%", a->live.own_permille / 10,
				       a->live.own_permille % 10));
	return n;
}
