/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where everything goes. What does not fit is left out from the least important on, so that the view has
 * room on any screen.
 */
#include "config.h"

#include "tui/app/app_chrome.h"

#include <stdio.h>
#include <string.h>

#include "base/fmt.h"
#include "base/text.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/app/app_state.h"
#include "tui/app/app_total.h"
#include "tui/rows/time_axis.h"

#define ACTIVITY_ROWS 12 /* a screen with fewer rows has no activity row, … */
#define STATUS_ROWS   8  /* … no status row, */
#define TABS_ROWS     7  /* no tabs, */
#define HINTS_ROWS    5  /* no hints, */
#define TITLE_ROWS    3  /* no title */

bool app_has_times(const struct weights *w)
{
	return w->begin_ns != TIME_NONE && w->end_ns > w->begin_ns;
}

bool app_has_losses(const struct analysis *an)
{
	for (uint32_t i = 0; i < an->counts.n_facts; i++)
		if (profile_fact(an->profile, i).kind == FACT_LOSS)
			return true;
	return false;
}

bool app_is_filtered(const struct app *a)
{
	return a->lens.filter && filter_n_terms(a->lens.filter) > 0;
}

void app_chrome(const struct app *a, struct chrome *f)
{
	int top = 0, bottom = a->rows;
	bool terms = app_is_filtered(a) || a->own.first ||
		     (a->scene.search && a->prompting == PROMPT_NONE);

	*f = (struct chrome){ -1, -1, -1, -1, -1, -1, -1, { 0, 0, 0, 0 } };
	if (a->rows >= TITLE_ROWS)
		f->title = top++;
	if (a->rows >= TABS_ROWS)
		f->tabs = top++;
	/* Samples over time say nothing of allocations. */
	if (a->rows >= ACTIVITY_ROWS && app_has_times(&a->analysis->weights) &&
	    !app_is_beside_samples(a))
		f->activity = top++;
	if (a->hints && a->rows >= HINTS_ROWS)
		f->hints = --bottom;
	if (terms && a->rows >= HINTS_ROWS)
		f->terms = --bottom;
	if (a->rows >= STATUS_ROWS)
		f->status = --bottom;
	f->prompt = f->terms >= 0 ? f->terms : f->status >= 0 ? f->status : a->rows - 1;
	f->view = (struct rect){ top, 0, bottom > top ? bottom - top : 0, a->cols };
}

/* What stands behind the activity: "2.3 s – 5.1 s of 8.85 s", or how long it is; "" for no room. */
static void activity_label(const struct app *a, int cols, char out[3 * FMT_SIZE])
{
	const struct weights *w = &a->analysis->weights;
	int64_t from, to;
	char first[FMT_SIZE], last[FMT_SIZE], end[FMT_SIZE];
	bool part = w->first_ns != TIME_NONE && w->total[0] != w->whole[0];

	fmt_ns(end, w->end_ns - w->begin_ns);
	snprintf(out, 3 * FMT_SIZE, " 0 – %s ", end);
	if (!part || cols < 72)
		return;
	app_shown_span(a, &from, &to);
	fmt_ns(last, to);
	if (from > 0)
		snprintf(out, 3 * FMT_SIZE, " %s – %s of %s ", fmt_ns(first, from), last, end);
	else if (strcmp(last, end) != 0)
		snprintf(out, 3 * FMT_SIZE, " 0 – %s of %s ", last, end);
}

bool app_activity_axis(const struct app *a, int cols, struct time_axis *t, char label[3 * FMT_SIZE])
{
	const struct weights *w = &a->analysis->weights;
	int64_t whole;

	if (!app_has_times(w))
		return false;
	activity_label(a, cols, label);
	cols -= 1 + (int)text_width(label, strlen(label));
	whole = w->end_ns - w->begin_ns;
	time_axis_init(t);
	time_axis_fit(t, whole < INT64_MAX ? whole + 1 : whole, cols);
	return cols >= 8;
}

bool app_activity_range(const struct app *a, int from_col, int to_col, int64_t *from_ns,
			int64_t *to_ns)
{
	char label[3 * FMT_SIZE];
	struct time_axis t;

	if (!app_activity_axis(a, a->cols, &t, label))
		return false;
	time_axis_mark(&t, from_col - 1, to_col - 1);
	return time_axis_range(&t, from_ns, to_ns);
}

void app_add_hit(struct app *a, int row, int col, int cols, enum action action)
{
	struct hit h = { row, col, cols, action };

	vec_push(&a->hits, h);
}
