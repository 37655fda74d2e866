/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The way back from where one is, and what views ask of the app. */
#include "config.h"

#include "tui/app/app_history.h"

#include <stdlib.h>

#include "base/mem.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/app/app_act.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"
#include "tui/app/app_views.h"
#include "tui/rows/time_axis.h"

/* A trail longer than this forgets its beginning. */
#define MAX_TRAIL 100u

static void forget_step(struct app *a, size_t i)
{
	free(a->trail.at[i].terms);
	free(a->trail.at[i].gone);
	for (size_t k = i + 1; k < a->trail.n; k++)
		a->trail.at[k - 1] = a->trail.at[k];
	a->trail.n--;
}

static void push_step(struct app *a, struct step s)
{
	if (a->trail.n == MAX_TRAIL)
		forget_step(a, 0);
	vec_push(&a->trail, s);
}

void app_go(struct app *a, enum view_kind view, const struct place *place)
{
	struct step here = app_here(a);

	app_go_from(a, &here, view, place);
}

void app_go_from(struct app *a, const struct step *from, enum view_kind view,
		 const struct place *place)
{
	struct step there = { .view = view, .has_place = place != NULL };

	push_step(a, *from);
	if (place)
		there.place = *place;
	app_show(a, view);
	app_select(a, &there);
}

static void set_grouping(struct app *a, enum grouping g)
{
	if (g == a->lens.grouping)
		return;
	a->lens.grouping = g;
	app_reanalyse(a);
}

static void regroup(struct app *a, enum grouping g, enum heap_rows rows)
{
	a->lens.grouping = g;
	a->lens.heap_rows = rows;
	app_reanalyse(a);
}

static void set_metric(struct app *a, struct metric m)
{
	a->follow = false;
	lens_choose(&a->lens, a->source->profile, m);
	app_reanalyse(a);
}

/* Takes the step's terms away; its place is there again when the answer comes. */
static void undo_filter(struct app *a, struct step *s)
{
	if (!*s->terms || app_take_filter(a, s->terms)) {
		a->landing = *s;
		if (s->gone)
			app_add_filter(a, s->gone, NULL);
	}
	a->landing.terms = a->landing.gone = NULL;
	set_grouping(a, s->grouping);
	if (s->has_metric)
		set_metric(a, s->metric);
	free(s->terms);
	free(s->gone);
	s->terms = s->gone = NULL;
}

/* Terms that were typed and then taken away by hand leave a step that leads nowhere. */
static void forget_empty_steps(struct app *a)
{
	while (a->trail.n > 0 && a->trail.at[a->trail.n - 1].typed &&
	       !app_has_filter(a, a->trail.at[a->trail.n - 1].terms))
		forget_step(a, a->trail.n - 1);
}

bool app_back(struct app *a)
{
	struct step s;

	forget_empty_steps(a);
	/* What led to a comparison waits until that is left. */
	if (a->trail.n <= (a->own.open ? a->own.n_trail : 0))
		return false;
	s = a->trail.at[--a->trail.n];
	if (!s.typed)
		app_show(a, s.view);
	if (s.terms)
		undo_filter(a, &s);
	else if (!app_is_at(a, &s))
		app_select(a, &s);
	return true;
}

bool app_leave(struct app *a)
{
	size_t n = a->trail.n;

	while (n > 0 && a->trail.at[n - 1].typed)
		n--;
	if (n == 0)
		return false;
	while (a->trail.n >= n)
		app_back(a);
	return true;
}

void app_clear_trail(struct app *a)
{
	for (size_t i = a->trail.n; i > 0; i--) {
		const char *terms = a->trail.at[i - 1].terms;

		if (!terms || !app_has_filter(a, terms))
			forget_step(a, i - 1);
	}
}

void app_free_trail(struct app *a)
{
	while (a->trail.n > 0)
		forget_step(a, a->trail.n - 1);
	vec_done(&a->trail);
}

void app_land(struct app *a)
{
	struct step s = a->landing;

	a->landing.has_place = false;
	if (s.has_place && s.view == a->view)
		app_select(a, &s);
}

int app_narrow_here(struct app *a, const char *terms)
{
	struct step here = app_here(a);
	int ret = app_add_filter(a, terms, &here.terms);

	if (ret < 0)
		return ret;
	here.grouping = a->lens.grouping;
	here.typed = true;
	push_step(a, here);
	return 0;
}

void app_show_time(struct app *a, int64_t from_ns, int64_t to_ns)
{
	const struct weights *w = &a->analysis->weights;
	bool all = from_ns <= 0 && w->begin_ns != TIME_NONE && to_ns > w->end_ns - w->begin_ns;
	char *gone = a->lens.filter ? filter_take_times(a->lens.filter) : xstrdup("");
	char *term = time_axis_term(from_ns, to_ns);

	if (all)
		app_reanalyse(a);
	else if (app_narrow_here(a, term) == 0 && *gone)
		a->trail.at[a->trail.n - 1].gone = xstrdup(gone);
	if (all)
		app_say(a, false, *gone ? "all of the time again" : "that is all of the time");
	free(term);
	free(gone);
}

int app_show_instead(struct app *a, const struct instead *i, struct err *e)
{
	struct step here = app_here(a);
	struct filter *terms = NULL;
	int rc = filter_parse(i->terms, &terms, e);

	if (rc)
		return rc;
	here.terms = filter_text(terms);
	if (a->lens.filter && filter_n_terms(a->lens.filter))
		here.gone = filter_text(a->lens.filter);
	here.grouping = a->lens.grouping;
	here.has_metric = i->metric != NULL;
	here.metric = a->lens.column[0].metric;
	push_step(a, here);
	filter_free(a->lens.filter);
	a->lens.filter = terms;
	a->lens.grouping = i->grouping;
	app_show(a, i->view);
	if (i->metric)
		set_metric(a, *i->metric);
	else
		app_reanalyse(a);
	return 0;
}

/* Another view, or the same one, of what passes the terms too. */
static void narrow(struct app *a, const struct effect *fx)
{
	struct step here = app_here(a);

	if (!(fx->text && *fx->text) && !fx->has_metric && fx->grouping == a->lens.grouping) {
		app_go(a, fx->view, fx->has_place ? &fx->place : NULL);
		return;
	}
	if (app_add_filter(a, fx->text ? fx->text : "", &here.terms) < 0)
		return;
	here.grouping = a->lens.grouping;
	here.has_metric = fx->has_metric;
	here.metric = a->lens.column[0].metric;
	push_step(a, here);
	set_grouping(a, fx->grouping);
	if (fx->has_metric)
		set_metric(a, fx->metric);
	app_show(a, fx->view);
	a->landing =
		(struct step){ .view = fx->view, .has_place = fx->has_place, .place = fx->place };
}

/* Is a metric shown that depends on the cursor of the memory view? */
static bool shows_live(const struct app *a)
{
	for (uint32_t i = 0; i < a->lens.n_columns; i++)
		if (a->lens.column[i].metric.measure == MEASURE_LIVE)
			return true;
	return false;
}

void app_apply(struct app *a, struct effect *fx)
{
	switch (fx->kind) {
	case EFFECT_NONE:
		break;
	case EFFECT_OPEN:
		app_go(a, fx->view, fx->place.key_id != ID_NONE ? &fx->place : NULL);
		break;
	case EFFECT_FILTER:
		narrow(a, fx);
		break;
	case EFFECT_SIDE: /* app_comparison_choose() asks for it and takes it */
		break;
	case EFFECT_TIME:
		app_show_time(a, fx->from_ns, fx->to_ns);
		break;
	case EFFECT_CURSOR:
		a->lens.cursor_ns = fx->from_ns;
		a->cursor_moved = true;
		/* Of a large heap that takes a while: only for what the cursor changes. */
		if (shows_live(a))
			app_reanalyse(a);
		break;
	case EFFECT_GROUP:
		if (fx->heap_rows == a->lens.heap_rows)
			set_grouping(a, fx->grouping);
		else
			regroup(a, fx->grouping, fx->heap_rows);
		break;
	case EFFECT_EDIT:
		app_wish(a, REQUEST_EDIT, fx->text, fx->line);
		break;
	case EFFECT_MESSAGE:
		if (fx->text)
			app_say(a, false, fx->text);
		break;
	}
	free(fx->text);
	*fx = (struct effect){ .kind = EFFECT_NONE };
	a->changed = true;
}
