/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A window is a time term beside the user's filter, made anew with each analysis. It ends now where a recorder of ours runs,
 * whose samples come at once: a window goes on while nothing comes, until nothing is in it. Elsewhere it ends with the newest sample.
 */
#include "config.h"

#include "tui/app/app_window.h"

#include <stdlib.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "query/core/filter.h"
#include "query/core/lens.h"
#include "query/diff/comparison.h"
#include "tui/app/app_state.h"

#define NS_PER_S INT64_C(1000000000)

/* Windows go on in so many steps while nothing comes. */
#define STEPS 40

/* What came since a baseline is compared when it has come for so long: of hardly a sample all is gone or new. */
#define COMPARED_NS NS_PER_S

/* What sparklines of rows show. */
#define MINUTE_NS (60 * NS_PER_S)

static const struct window {
	int64_t last_ns;      /* 0: all */
	int64_t half_life_ns; /* after so long a sample counts half as much; 0: it counts whole */
	const char *text;
	const char *compared; /* the same as what comes after a baseline */
} windows[] = {
	{ 0, 0, NULL, NULL },
	{ 10 * NS_PER_S, 0, "last 10 s", "last 10 s against before" },
	{ 60 * NS_PER_S, 0, "last 60 s", "last 60 s against before" },
	{ 60 * NS_PER_S, 5 * NS_PER_S, "fading by half in 5 s",
	  "fading by half in 5 s against before" },
};
#define N_WINDOWS (sizeof(windows) / sizeof(windows[0]))

bool app_window_is_chosen(const struct app *a)
{
	int64_t from, to;

	return filter_times(a->lens.filter, &from, &to);
}

/* The present one: of a time that was chosen all is shown. */
static const struct window *window_of(const struct app *a)
{
	return &windows[app_window_is_chosen(a) ? 0 : a->live.window];
}

const char *app_window_text(const struct app *a)
{
	const struct window *w = window_of(a);

	if (a->live.baseline_ns >= 0)
		return w->text && !app_window_is_level(a) ? w->compared : "since the baseline";
	if (w->text)
		return w->text;
	return a->live.from_ns > 0 ? "since the reset" : "since the start";
}

struct metric app_window_metric(const struct app *a)
{
	struct metric m = a->lens.column[0].metric;

	/* What was there at two moments is more telling than two peaks, unless somebody asks for these. */
	if (a->live.baseline_ns >= 0 && a->follow && m.measure == MEASURE_PEAK)
		m.measure = MEASURE_LIVE;
	return m;
}

bool app_window_is_level(const struct app *a)
{
	struct metric m = app_window_metric(a);

	return measure_is_level(m.measure) && metric_is_heap(a->source->profile, m);
}

/* "time:1,2", of times since the start; to_ns INT64_MAX: to the end. The caller frees. */
static char *time_term(int64_t from_ns, int64_t to_ns)
{
	char from[FMT_SIZE], to[FMT_SIZE] = "";

	if (to_ns < INT64_MAX)
		fmt_exact(to, to_ns, NS_PER_S);
	return xasprintf("time:%s,%s", fmt_exact(from, from_ns, NS_PER_S), to);
}

static void add_side(struct comparison *s, enum side side, const char *name, char *term)
{
	comparison_add(s, side, term, NULL);
	s->name[side] = xstrdup(name);
	free(term);
}

/*
 * What was there then, and what is there now, whenever it came; the highest that it was until then, and until now: blocks that
 * came before the baseline are never more than at their peak before it.
 */
static void add_levels(const struct app *a, struct comparison *s)
{
	bool peak = app_window_metric(a).measure == MEASURE_PEAK;
	int64_t from = a->live.from_ns > 0 ? a->live.from_ns : 0;

	add_side(s, SIDE_BEFORE, "then",
		 peak       ? time_term(from, a->live.baseline_ns)
		 : from > 0 ? time_term(from, INT64_MAX)
			    : xstrdup(""));
	add_side(s, SIDE_AFTER, "now", from > 0 ? time_term(from, INT64_MAX) : xstrdup(""));
}

/*
 * Two columns: before the baseline and since, as if both had taken equally long; of what is there how much it was then and is
 * now. False: not so far.
 */
static bool compare_lens(const struct app *a, int64_t since_ns, struct lens *out)
{
	const struct profile *p = a->source->profile;
	struct metric m = app_window_metric(a);
	struct profile_counts counts;
	bool level = app_window_is_level(a);
	struct comparison_choice choice = { .normalise = level ? NORMALISE_NONE : NORMALISE_TIME };
	struct comparison sides = { 0 };
	bool done;

	profile_counts_read(p, &counts);
	if (m.event.v >= counts.n_events)
		return false;
	choice.event = profile_string(p, profile_event(p, m.event)->name, NULL);
	choice.metric = metric_word(p, m);
	if (metric_is_heap(p, m))
		choice.level_ns = a->live.baseline_ns;
	if (level) {
		add_levels(a, &sides);
	} else {
		choice.now_ns = a->live.now_ns;
		choice.half_life_ns = metric_is_heap(p, m) ? 0 : window_of(a)->half_life_ns;
		add_side(&sides, SIDE_BEFORE, "before",
			 time_term(a->live.from_ns, a->live.baseline_ns));
		add_side(&sides, SIDE_AFTER, "since", time_term(since_ns, INT64_MAX));
	}
	out->cursor_ns = INT64_MAX;
	done = comparison_lens(&sides, p, &choice, out, NULL) == 0;
	comparison_done(&sides);
	return done;
}

void app_window_next(struct app *a)
{
	a->live.window = (a->live.window + 1) % N_WINDOWS;
}

bool app_window_moves(const struct app *a)
{
	const struct live *l = &a->live;
	int64_t last = window_of(a)->last_ns;

	/* Nothing was in it, and nothing new came: then it may go on as it likes. */
	if (last == 0 || l->newest_ns < l->asked_ns - last)
		return false;
	return l->now_ns - l->asked_ns >= last / STEPS ||
	       (l->newest_ns > l->asked_ns && l->now_ns > l->asked_ns);
}

void app_window_lens(const struct app *a, struct lens *out)
{
	int64_t from = a->live.from_ns, last = window_of(a)->last_ns;
	/* What comes between this and the counting is not of it, or it would be wider than it says. */
	int64_t to = a->live.now_ns + 1;
	bool heap = metric_is_heap(a->source->profile, a->lens.column[0].metric);
	char since[FMT_SIZE], until[FMT_SIZE], *term;

	lens_copy(out, &a->lens);
	out->recent_ns = a->source->live ? MINUTE_NS : 0;
	if (last > 0 && to - last > from)
		from = to - last;
	if (a->live.baseline_ns >= 0 && a->live.newest_ns - a->live.baseline_ns >= COMPARED_NS &&
	    compare_lens(a, from > a->live.baseline_ns ? from : a->live.baseline_ns, out))
		return;
	/* Memory is what is there, and nothing of it fades. */
	if (!heap) {
		out->half_life_ns = window_of(a)->half_life_ns;
		out->now_ns = a->live.now_ns;
	}
	if (from <= 0)
		return;
	term = xasprintf("time:%s,%s", fmt_exact(since, from, NS_PER_S),
			 last > 0 && !heap ? fmt_exact(until, to, NS_PER_S) : "");
	if (!out->filter)
		filter_parse("", &out->filter, NULL);
	filter_add(out->filter, term, NULL);
	free(term);
}
