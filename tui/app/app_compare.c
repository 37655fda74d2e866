/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/app/app_compare.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "query/analysis.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "query/diff/diff_doubt.h"
#include "tui/app/app_lens.h"
#include "tui/app/app_state.h"

/* Metrics are tried until one of them is on both sides. */
#define METRICS_MOST 200

static const char *event_name(const struct profile *p, struct metric m)
{
	return metric_event_name(p, m);
}

void app_compare_metric(struct app *a)
{
	const struct profile *p = a->analysis->profile;
	struct metric first = a->lens.column[0].metric, m = first;

	for (int i = 0; i < METRICS_MOST; i++) {
		struct comparison_choice choice = {
			.normalise = a->lens.sides.normalise,
			.automatic = a->lens.sides.automatic,
		};
		uint32_t reference = a->lens.sides.reference.v;

		m = metric_next(p, m, a->lens.filter);
		choice.event = event_name(p, m);
		choice.metric = metric_word(p, m);
		if (reference != ID_NONE)
			choice.reference = event_name(p, (struct metric){ .event = { reference } });
		if (metric_same_event(m, first) && m.measure == first.measure)
			break;
		if (comparison_lens(a->sides, p, &choice, &a->lens, NULL) == 0) {
			char *name = metric_name(p, m);

			app_say_owned(a, false, xasprintf("metric: %s", name));
			free(name);
			app_reanalyse(a);
			return;
		}
	}
	app_say(a, false, "there is no other metric that both sides have");
}

/* What was asked for last, which may be made just now; else what is on screen. */
static enum normalise asked_normalise(const struct app *a)
{
	enum normalise n = a->lens.sides.normalise;

	if (a->lens.sides.automatic ||
	    !normalize_known(&a->analysis->amounts, &a->analysis->lens, n))
		return a->analysis->diff->normalise;
	return n;
}

static const char *const equalised[N_NORMALISATIONS] = {
	[NORMALISE_NONE] = "measured values",
	[NORMALISE_TYPICAL] = "scaled by what most functions did",
	[NORMALISE_TOTAL] = "comparing shares of each total",
	[NORMALISE_TIME] = "comparing rates (per second)",
	[NORMALISE_SAMPLES] = "comparing shares of each side's samples",
	[NORMALISE_EVENT] = "comparing what is spent per unit of the reference event",
};

void app_compare_equalise(struct app *a)
{
	enum normalise n;

	if (!a->analysis->diff) {
		app_say(a, false, "nothing is compared; proftop diff compares");
		return;
	}
	n = asked_normalise(a);
	do
		n = (enum normalise)((n + 1) % N_NORMALISATIONS);
	while (!normalize_known(&a->analysis->amounts, &a->analysis->lens, n));
	a->lens.sides.normalise = n;
	a->lens.sides.automatic = false;
	app_reanalyse(a);
	app_say(a, false, equalised[n]);
}

void app_compare_size(struct app *a)
{
	if (!a->analysis->diff) {
		app_say(a, false, "nothing is compared; proftop diff compares");
		return;
	}
	a->lens.sides.shown = (enum shown_size)((a->lens.sides.shown + 1) % N_SHOWN_SIZES);
	app_reanalyse(a);
	app_say_owned(a, false,
		      xasprintf("sizes are those of %s", shown_size_name(a->lens.sides.shown)));
}

void app_compare_tell(struct app *a)
{
	const struct analysis *an = a->analysis;
	char *change, *doubt = diff_say_doubt(an->diff);

	if (doubt) {
		app_say_owned(a, false, doubt);
		return;
	}
	if (!an->lens.sides.automatic || !an->amounts.typical.differs)
		return;
	change = common_factor_change(&an->amounts.typical);
	app_say_owned(a, false, xasprintf("%s %% in most functions; = scales by that", change));
	free(change);
}

/*
 * "not normalised (typical +48.0 %)", "normalised by typical (+48.0 %)"; the caller frees. It is of what was measured: of times that
 * are made equal it would seem to be what is left.
 */
static char *say_normalised(const struct analysis *an)
{
	enum normalise n = an->diff->normalise;
	const struct common_factor *t = &an->amounts.typical;
	bool tells = t->differs && (n == NORMALISE_NONE || n == NORMALISE_TYPICAL);
	char *change = tells ? common_factor_change(t) : NULL;
	char *drift = !change ? xstrdup("")
			      : xasprintf(" (%s%s %%)", n == NORMALISE_TYPICAL ? "" : "typical ",
					  change);
	char *text = n == NORMALISE_NONE
			     ? xasprintf("not normalised%s", drift)
			     : xasprintf("normalised by %s%s", normalise_name(n), drift);

	free(change);
	free(drift);
	return text;
}

/* "2 of 30 beyond noise"; of what functions have themselves, or else by what they call. The caller frees. */
static char *say_beyond(const struct diff *d)
{
	char n[FMT_SIZE], beyond[FMT_SIZE];
	uint32_t by_calls = d->self.n_beyond == 0 ? diff_n_by_calls(d) : 0;

	if (by_calls > 0)
		return xasprintf("%s beyond noise by total", fmt_count(beyond, by_calls));
	return xasprintf("%s of %s beyond noise", fmt_count(beyond, d->self.n_beyond),
			 fmt_count(n, d->self.n_changed));
}

int app_compare_titles(const struct analysis *an, char **out, int most)
{
	const struct diff *d = an->diff;
	const char *name = normalise_name(d->normalise);
	char *how = say_normalised(an), *beyond = say_beyond(d);
	char *forms[] = {
		xasprintf("= %s", name),
		d->normalise == NORMALISE_NONE ? xstrdup("not normalised")
					       : xasprintf("normalised by %s", name),
		xstrdup(how),
		xasprintf("%s · %s", how, beyond),
	};
	const int n_forms = (int)(sizeof(forms) / sizeof(forms[0]));

	free(how);
	free(beyond);
	for (int i = 0; i < n_forms; i++) {
		if (i < most)
			out[i] = forms[i];
		else
			free(forms[i]);
	}
	return n_forms < most ? n_forms : most;
}
