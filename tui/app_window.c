/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A window is a time term beside the user's filter, made anew with each analysis. It ends now where a recorder of ours runs,
 * whose samples come at once: a window goes on while nothing comes, until nothing is in it. Elsewhere it ends with the newest sample.
 */
#include "config.h"

#include "app_window.h"

#include <stdlib.h>

#include "app_state.h"
#include "filter.h"
#include "fmt.h"
#include "lens.h"
#include "mem.h"
#include "profile.h"
#include "sides.h"

#define NS_PER_S INT64_C(1000000000)

/* Windows go on in so many steps while nothing comes. */
#define STEPS 40

/* What came since a baseline is compared when it has come for so long: of hardly a sample all is gone or new. */
#define COMPARED_NS NS_PER_S

/* What sparklines of rows show. */
#define MINUTE_NS (60 * NS_PER_S)

static const struct {
	int64_t last_ns;      /* 0: all */
	int64_t half_life_ns; /* after so long a sample counts half as much; 0: it counts whole */
	const char *text;
} windows[] = {
	{ 0, 0, NULL },
	{ 10 * NS_PER_S, 0, "last 10 s" },
	{ 60 * NS_PER_S, 0, "last 60 s" },
	{ 60 * NS_PER_S, 5 * NS_PER_S, "fading by half in 5 s" },
};
#define N_WINDOWS (sizeof(windows) / sizeof(windows[0]))

const char *app_window_text(const struct app *a)
{
	const char *text = windows[a->live.window].text;

	if (a->live.baseline_ns >= 0)
		return text ? text : "since the baseline";
	if (text)
		return text;
	return a->live.from_ns > 0 ? "since the reset" : "since the start";
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

void app_window_next(struct app *a)
{
	a->live.window = (a->live.window + 1) % N_WINDOWS;
}

bool app_window_moves(const struct app *a)
{
	const struct live *l = &a->live;
	int64_t last = windows[l->window].last_ns;

	/* Nothing was in it, and nothing new came: then it may go on as it likes. */
	if (last == 0 || l->newest_ns < l->asked_ns - last)
		return false;
	return l->now_ns - l->asked_ns >= last / STEPS ||
	       (l->newest_ns > l->asked_ns && l->now_ns > l->asked_ns);
}

void app_window_lens(const struct app *a, struct lens *out)
{
	int64_t from = a->live.from_ns, last = windows[a->live.window].last_ns;
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
		out->half_life_ns = windows[a->live.window].half_life_ns;
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
