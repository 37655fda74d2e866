/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A comparison within one recording; see app_comparison.h. It has a lens of its own, so that what is changed in it is gone
 * when one leaves it.
 */
#include "config.h"

#include "tui/app/app_comparison.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/diff/comparison.h"
#include "tui/app/app_history.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/app/worker.h"

static const char counting_text[] = "counting what both sides have; x stops it";

static bool begins_with(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* All of the time, from now on; false: there is no filter. */
static bool drop_times(struct lens *l)
{
	if (l->filter)
		free(filter_take_times(l->filter));
	return l->filter != NULL;
}

/* Ranges of time may lie over each other, and a thread is in a process; two threads have no sample in common. */
static bool may_overlap(const char *first, const char *second)
{
	size_t n = strcspn(first, ":") + 1;

	return strncmp(first, second, n) != 0 || begins_with(first, "time:");
}

/* Ranges are compared as if equally long, events by their shares: unlike units are no smaller or larger. */
static enum normalise usual(const struct app *a, const char *first, const char *second)
{
	if (begins_with(first, "event:") && begins_with(second, "event:"))
		return NORMALISE_TOTAL;
	if (begins_with(first, "time:") && begins_with(second, "time:") &&
	    !metric_is_heap(a->source->profile, a->lens.column[0].metric))
		return NORMALISE_TIME;
	return NORMALISE_NONE;
}

/* Two sides that were chosen, while what they have is counted: passes over all samples, so beside the terminal. */
struct coming_sides {
	const struct profile *profile; /* borrowed */
	struct comparison sides;       /* owned */
	struct lens lens; /* what it was when they were chosen, then the comparison's; owned */
	enum normalise normalise;
	char *overlap;            /* what is on both sides, or NULL; owned */
	struct err error;         /* why they cannot be compared; owned */
	struct progress progress; /* of: */
	struct task *task;
};

/* By what is on screen, else by what both have, else by numbers of samples; the first failure is told. */
static int make_lens(struct coming_sides *c)
{
	const struct profile *p = c->profile;
	struct metric m = c->lens.column[0].metric;
	const char *event = profile_string(p, profile_event(p, m.event)->name, NULL);
	const struct comparison_choice choices[] = {
		{ .event = event, .metric = metric_word(p, m), .normalise = c->normalise },
		{ .event = "", .metric = "", .normalise = c->normalise },
		{ .event = "", .metric = "samples", .normalise = c->normalise },
	};
	int rc = comparison_lens(&c->sides, p, &choices[0], &c->lens, &c->error);

	for (size_t i = 1; rc && i < sizeof(choices) / sizeof(choices[0]); i++)
		rc = comparison_lens(&c->sides, p, &choices[i], &c->lens, NULL) ? rc : 0;
	return rc;
}

/* The task: 0, or -errno with c->error, or -ECANCELED. */
static int count_sides(void *arg)
{
	struct coming_sides *c = arg;
	const struct comparison *s = &c->sides;
	int rc = comparison_count(&c->sides, c->profile, &c->progress);

	if (!rc)
		rc = make_lens(c);
	/* What is on both sides is told where anything can be. */
	if (!rc && may_overlap(s->run[SIDE_BEFORE].at[0], s->run[SIDE_AFTER].at[0]))
		c->overlap = comparison_overlap(s, c->profile, &c->progress);
	return rc;
}

static void coming_free(struct coming_sides *c)
{
	lens_done(&c->lens);
	comparison_done(&c->sides);
	err_clear(&c->error);
	free(c->overlap);
	free(c);
}

/* The lens of the comparison: the user's, of all of the time where its sides are ranges, with functions as rows. */
static void begin_lens(const struct app *a, struct lens *out)
{
	lens_copy(out, &a->lens);
	drop_times(out);
	if (!grouping_of_frames(out->grouping))
		out->grouping = GROUP_FUNCTION;
}

/* The comparison takes the place of the recording; c's lens and sides are the app's then. */
static void open_comparison(struct app *a, struct coming_sides *c)
{
	struct own_sides *own = &a->own;

	app_clear_trail(a);
	own->n_trail = a->trail.n;
	own->view = a->view;
	own->whole = a->lens;
	if (begins_with(c->sides.run[SIDE_AFTER].at[0], "time:"))
		drop_times(&own->whole);
	own->sides = c->sides;
	c->sides = (struct comparison){ 0 };
	own->open = true;
	free(own->first);
	own->first = NULL;
	a->scene.side_a = NULL;
	a->lens = c->lens;
	c->lens = (struct lens){ 0 };
	a->sides = &own->sides;
	app_show(a, VIEW_KIND_TOP);
	app_reanalyse(a);
	app_say_owned(a, false, c->overlap);
	c->overlap = NULL;
}

static void end_coming(struct app *a, int rc)
{
	struct coming_sides *c = a->own.coming;

	a->own.coming = NULL;
	if (rc == 0)
		open_comparison(a, c);
	else if (rc != -ECANCELED)
		app_say(a, true, err_text(&c->error));
	coming_free(c);
}

bool app_comparison_take(struct app *a)
{
	struct coming_sides *c = a->own.coming;

	/* What is being typed is of the lens that is there. */
	if (!c || !task_finished(c->task) || a->prompting != PROMPT_NONE)
		return false;
	end_coming(a, task_join(c->task));
	return true;
}

bool app_comparison_stop(struct app *a)
{
	struct coming_sides *c = a->own.coming;

	if (!c)
		return false;
	progress_cancel(&c->progress);
	task_join(c->task);
	end_coming(a, -ECANCELED);
	return true;
}

static void compare(struct app *a, const char *second)
{
	struct own_sides *own = &a->own;
	struct coming_sides *c = xcalloc(1, sizeof(*c));

	*c = (struct coming_sides){ .profile = a->source->profile,
				    .sides.name = { xstrdup(own->first), xstrdup(second) },
				    .normalise = usual(a, own->first, second),
				    .error = ERR_INIT };
	begin_lens(a, &c->lens);
	own->coming = c;
	if (comparison_add(&c->sides, SIDE_BEFORE, own->first, &c->error) ||
	    comparison_add(&c->sides, SIDE_AFTER, second, &c->error)) {
		end_coming(a, -EINVAL);
		return;
	}
	c->task = task_start(count_sides, c, worker_fd(a->worker));
	if (!c->task)
		end_coming(a, count_sides(c));
	else
		app_say(a, false, counting_text);
}

/* All of the time is shown again, for another range to be chosen from. */
static void choose_first(struct app *a, const char *terms)
{
	free(a->own.first);
	a->own.first = xstrdup(terms);
	a->scene.side_a = a->own.first;
	app_say_owned(a, false, xasprintf("side A = %s; select another, press b", terms));
	if (begins_with(terms, "time:") && drop_times(&a->lens))
		app_reanalyse(a);
}

static const char *live_text(const struct app *a)
{
	return app_ops(a)->contexts & IN_TIME
		       ? "B compares what comes with what was before, in views that have no range from A to B"
		       : "B compares what comes with what was before";
}

void app_comparison_choose(struct app *a, enum side side)
{
	struct effect fx = { .kind = EFFECT_NONE };

	if (a->source->live || a->loading) {
		app_say(a, false,
			a->source->live ? live_text(a) : "sides are chosen when all is loaded");
	} else if (a->sides || a->own.coming) {
		app_say(a, false, a->sides ? "this is a comparison already" : counting_text);
	} else if (app_ops(a)->act(app_state(a), &a->scene,
				   side == SIDE_BEFORE ? ACTION_SIDE_A : ACTION_SIDE_B, &fx) &&
		   fx.kind == EFFECT_SIDE) {
		if (side == SIDE_BEFORE)
			choose_first(a, fx.text);
		else if (strcmp(a->own.first, fx.text) != 0)
			compare(a, fx.text);
		else
			app_say(a, false, "that is side a itself: choose another one");
		free(fx.text);
	} else {
		app_apply(a, &fx);
	}
}

static void close_comparison(struct app *a)
{
	struct own_sides *own = &a->own;

	own->open = false;
	lens_done(&a->lens);
	a->lens = own->whole;
	a->sides = NULL;
	comparison_done(&own->sides);
	own->sides = (struct comparison){ 0 };
	app_show(a, own->view);
	app_reanalyse(a);
	app_say(a, false, "back to the whole recording");
}

bool app_comparison_leave(struct app *a)
{
	if (a->own.open) {
		close_comparison(a);
		return true;
	}
	if (app_comparison_stop(a)) {
		app_say(a, false, "nothing is compared; side a is still chosen");
		return true;
	}
	if (!a->own.first)
		return false;
	free(a->own.first);
	a->own.first = NULL;
	a->scene.side_a = NULL;
	app_say(a, false, "side a is forgotten");
	return true;
}

void app_comparison_done(struct app *a)
{
	free(a->own.first);
	if (!a->own.open)
		return;
	lens_done(&a->own.whole);
	comparison_done(&a->own.sides);
}

char *app_comparison_name(const struct app *a)
{
	const struct comparison *s = &a->own.sides;

	return a->own.open ? xasprintf("%s → %s", s->name[SIDE_BEFORE], s->name[SIDE_AFTER])
			   : xstrdup("");
}
