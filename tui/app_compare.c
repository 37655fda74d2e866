/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "app_compare.h"

#include <stdlib.h>
#include <string.h>

#include "analysis.h"
#include "app_lens.h"
#include "app_search.h"
#include "app_state.h"
#include "app_views.h"
#include "diff.h"
#include "mem.h"
#include "sides.h"

/* Metrics are tried until one of them is on both sides. */
#define METRICS_MOST 200

static const char *event_name(const struct profile *p, struct metric m)
{
	return profile_string(p, profile_event(p, m.event)->name, NULL);
}

void app_compare_metric(struct app *a)
{
	const struct profile *p = a->analysis->profile;
	struct metric first = a->lens.column[0].metric, m = first;

	for (int i = 0; i < METRICS_MOST; i++) {
		struct sides_choice choice = { .normalise = a->lens.sides.normalise };
		uint32_t reference = a->lens.sides.reference.v;

		m = metric_next(p, m);
		choice.event = event_name(p, m);
		choice.metric = metric_word(p, m);
		if (reference != ID_NONE)
			choice.reference = event_name(p, (struct metric){ .event = { reference } });
		if (m.event.v == first.event.v && m.measure == first.measure)
			break;
		if (sides_lens(a->sides, p, &choice, &a->lens, NULL) == 0) {
			char *name = metric_name(p, m);

			app_say_owned(a, false, xasprintf("metric: %s", name));
			free(name);
			app_reanalyse(a);
			return;
		}
	}
	app_say(a, false, "there is no other metric that both sides have");
}

/* The same sums, seen otherwise: no new analysis. */
static void look_again(struct app *a)
{
	analysis_compare(a->analysis, a->lens.sides.normalise, a->lens.sides.shown);
	app_search_again(a);
	app_scene_changed(a);
}

static const char *const equalised[N_NORMALISATIONS] = {
	[NORMALISE_NONE] = "numbers as they were measured",
	[NORMALISE_TOTAL] = "both sides as if equally much in all: shares are compared",
	[NORMALISE_TIME] = "both sides as if equally long: rates are compared",
	[NORMALISE_SAMPLES] = "both sides as if of equally many samples",
	[NORMALISE_EVENT] = "both sides as if of equally much of the reference event",
};

void app_compare_equalise(struct app *a)
{
	enum normalise n = a->lens.sides.normalise;

	if (!a->analysis->diff) {
		app_say(a, false, "nothing is compared; proftop diff compares");
		return;
	}
	do
		n = (enum normalise)((n + 1) % N_NORMALISATIONS);
	while (!amounts_known(&a->analysis->amounts, &a->analysis->lens, n));
	a->lens.sides.normalise = n;
	look_again(a);
	app_say(a, false, equalised[n]);
}

void app_compare_size(struct app *a)
{
	if (!a->analysis->diff) {
		app_say(a, false, "nothing is compared; proftop diff compares");
		return;
	}
	a->lens.sides.shown = (enum shown_size)((a->lens.sides.shown + 1) % N_SHOWN_SIZES);
	look_again(a);
	app_say_owned(a, false,
		      xasprintf("sizes are those of %s", shown_size_name(a->lens.sides.shown)));
}

int app_compare_titles(const struct analysis *an, char **out, int most)
{
	const struct diff *d = an->diff;
	bool as_is = d->normalise == NORMALISE_NONE;
	const char *name = normalise_name(d->normalise);
	char n[FMT_SIZE], beyond[FMT_SIZE];
	char *forms[] = {
		xasprintf("= %s", name),
		as_is ? xstrdup("not normalised") : xasprintf("normalised by %s", name),
		xasprintf("%s%s · %s of %s beyond noise",
			  as_is ? "not normalised" : "normalised by ", as_is ? "" : name,
			  fmt_count(beyond, d->self.n_beyond), fmt_count(n, d->self.n_changed)),
	};
	const int n_forms = (int)(sizeof(forms) / sizeof(forms[0]));

	for (int i = 0; i < n_forms; i++) {
		if (i < most)
			out[i] = forms[i];
		else
			free(forms[i]);
	}
	return n_forms < most ? n_forms : most;
}
