/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the user wants to see of the profile, and what is said to him of it. */
#include "config.h"

#include "tui/app/app_lens.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/mem.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/lens.h"
#include "query/core/ratio.h"
#include "tui/app/app_state.h"
#include "tui/app/app_window.h"
#include "tui/app/worker.h"

void app_say_owned(struct app *a, bool bad, char *text)
{
	free(a->message);
	a->message = text;
	a->message_bad = bad;
	a->changed = true;
}

void app_say(struct app *a, bool bad, const char *text)
{
	app_say_owned(a, bad, xstrdup(text));
}

static void follow_busiest(struct app *a)
{
	struct lens usual;

	lens_init(&usual, a->source->profile);
	a->lens.beside = usual.beside;
	lens_choose(&a->lens, a->source->profile, usual.column[0].metric);
	lens_done(&usual);
}

/*
 * Lines of memory come with an analysis where those that are there will not do. An answer to a key does not wait for them: who asked
 * has the numbers first.
 */
static bool wants_lines(const struct app *a, uint32_t version, const struct time_span *span)
{
	const struct analysis *an = a->analysis;

	if (an->profile != a->source->profile)
		return true;
	if (!a->source->live && !a->loading && an->counts.version == version)
		return false;
	return !analysis_lines_hold(an, &a->lens, version, span);
}

/* What the next analysis has to come with. */
static void find_wishes(struct app *a, struct over_time_wishes *out)
{
	struct profile_counts counts;

	*out = a->wishes;
	profile_counts_read(a->source->profile, &counts);
	if (!wants_lines(a, counts.version, &out->of[OVER_MEMORY].span))
		out->of[OVER_MEMORY].span.n = 0;
	if (a->view != VIEW_KIND_THREADS)
		out->of[OVER_THREADS].span.n = 0;
	if (a->view != VIEW_KIND_TIMELINE)
		out->of[OVER_TIMELINE].span.n = 0;
	if (a->view != VIEW_KIND_HEAT)
		out->of[OVER_HEAT_MAP].span.n = 0;
	if (a->view != VIEW_KIND_FINDINGS)
		out->of[OVER_FINDINGS].span.n = 0;
	if (!view_is_of_heap(a->view))
		out->of[OVER_HEAP].span.n = 0;
}

/*
 * A key that asks for trees must not wait for them. What is made anew all the time comes with those that are in sight, or searched;
 * it is small enough to make another one when a key asks.
 */
static enum ready_parts wanted_parts(const struct app *a)
{
	if (!a->source->live || a->view == VIEW_KIND_CALLERS || a->view == VIEW_KIND_BUTTERFLY ||
	    a->view == VIEW_KIND_FLAME)
		return READY_CALLERS;
	return app_ops(a)->of_tree || a->seeking.pattern ? READY_TREE : READY_TABLE;
}

/* Counts other filters than the last one. */
static void count_filters(struct app *a)
{
	char *text = a->lens.filter ? filter_text(a->lens.filter) : xstrdup("");

	a->n_filters += a->filter_text && strcmp(a->filter_text, text) != 0;
	free(a->filter_text);
	a->filter_text = text;
}

void app_reanalyse(struct app *a)
{
	struct over_time_wishes wishes;
	struct lens wanted;

	/* What sides are compared by is theirs. */
	if (a->follow && !a->sides)
		follow_busiest(a);
	count_filters(a);
	app_window_lens(a, &wanted);
	/* What was asked for was checked when the command line was; where its events are not there, there are no ratios. */
	if (!a->sides)
		ratios_of_lens(&wanted, a->source->profile, a->ratios, a->n_ratios, NULL);
	find_wishes(a, &wishes);
	worker_request(a->worker, &wanted, &wishes, wanted_parts(a));
	lens_done(&wanted);
	a->asked = true;
	a->asked_ms = INT64_MIN;
	a->live.asked_ns = a->live.now_ns;
}

int app_add_filter(struct app *a, const char *terms, char **added)
{
	struct filter *alone = NULL;
	struct err e = ERR_INIT;
	int ret = filter_parse(terms, &alone, &e);

	if (ret == 0 && !a->lens.filter)
		ret = filter_parse("", &a->lens.filter, &e);
	if (ret == 0)
		ret = filter_add(a->lens.filter, terms, &e);
	if (ret < 0) {
		app_say(a, true, err_text(&e));
	} else {
		app_reanalyse(a);
		if (added)
			*added = filter_text(alone);
	}
	filter_free(alone);
	err_clear(&e);
	return ret;
}

bool app_has_filter(const struct app *a, const char *terms)
{
	return filter_has(a->lens.filter, terms);
}

bool app_take_filter(struct app *a, const char *terms)
{
	if (!a->lens.filter || !filter_take(a->lens.filter, terms))
		return false;
	app_reanalyse(a);
	return true;
}
