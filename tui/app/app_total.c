/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Samples, allocations, or the weight that stands for them. */
#include "config.h"

#include "tui/app/app_total.h"

#include "base/fmt.h"
#include "base/mem.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tui/app/app_state.h"

#include <string.h>

static char *samples_text(const char *number)
{
	return xasprintf("%s sample%s", number, strcmp(number, "1") == 0 ? "" : "s");
}

/* Which allocations those are that a measure counts; "": all. */
static const char *counted_text(enum measure measure)
{
	switch (measure) {
	case MEASURE_LIVE:
		return " live";
	case MEASURE_PEAK:
		return " at the peak";
	case MEASURE_LEAKED:
		return " never freed";
	case MEASURE_GROWN:
		return " came and still in use";
	case MEASURE_FREED:
		return " freed";
	case MEASURE_FREED_BY:
		return " freed, by whom is known";
	case MEASURE_TEMPORARY:
		return " freed at once";
	case MEASURE_WEIGHT:
	case MEASURE_SAMPLES:
	case MEASURE_WALL:
		break;
	}
	return "";
}

bool app_is_of_all_measures(const struct app *a)
{
	return (a->view == VIEW_KIND_MEMORY || view_is_of_heap(a->view)) && a->analysis->footprint;
}

bool app_is_beside_samples(const struct app *a)
{
	return app_is_of_all_measures(a) && !a->analysis->diff &&
	       !metric_is_heap(a->analysis->profile, a->analysis->lens.column[0].metric);
}

struct metric app_shown_metric(const struct app *a)
{
	const struct lens *l = &a->analysis->lens;
	struct metric m;

	if (!app_is_beside_samples(a))
		return l->column[0].metric;
	if (l->beside && l->n_columns > 1)
		return l->column[1].metric;
	m = a->analysis->footprint->lens.column[0].metric;
	m.measure = MEASURE_PEAK;
	return m;
}

void app_shown_span(const struct app *a, int64_t *from_ns, int64_t *to_ns)
{
	const struct weights *w = &a->analysis->weights;
	int64_t whole = w->end_ns - w->begin_ns, from, to;

	*from_ns = w->first_ns - w->begin_ns;
	*to_ns = w->last_ns - w->begin_ns;
	if (a->scene.windowed || !filter_times(a->analysis->lens.filter, &from, &to) ||
	    from > whole)
		return;
	*from_ns = from;
	*to_ns = to < whole ? to : whole;
}

int64_t app_total_ns(const struct app *a)
{
	const struct weights *w = &a->analysis->weights;
	int64_t from, to;

	app_shown_span(a, &from, &to);
	return app_is_of_all_measures(a) && !a->analysis->footprint->in_range
		       ? w->end_ns - w->begin_ns
		       : to - from;
}

/* "6,426 allocations" where the screen has all measures, as the sum of its CALLS; else those that its measure counts. */
static char *allocations_text(const struct app *a)
{
	const struct analysis *an = a->analysis;
	const struct footprint *f = an->footprint;
	bool all = app_is_of_all_measures(a);
	bool sampled = f && f->manner.sampled;
	struct heap_manner manner;
	int64_t n = all ? footprint_calls(f) : (int64_t)an->weights.n_samples;
	char number[FMT_SIZE];

	manner = heap_manner_of(an->profile, &an->counts);
	if (manner.lacks & HEAP_LACKS_CALLS)
		return xstrdup("snapshots");
	/* Blocks are summed up there: rows are not their number. */
	if (manner.lacks & HEAP_LACKS_TEMPORARY && !all)
		return xstrdup("sums of blocks");
	return xasprintf("%s%s%s allocation%s%s", all && sampled ? "~" : "", fmt_count(number, n),
			 sampled && !all ? " recorded" : "", n == 1 ? "" : "s",
			 all ? "" : counted_text(an->lens.column[0].metric.measure));
}

char *app_total_text(const struct app *a)
{
	const struct analysis *an = a->analysis;
	const struct weights *w = &an->weights;
	struct metric m = app_shown_metric(a);
	char number[FMT_SIZE], count[FMT_SIZE];
	struct event event;

	if (metric_is_heap(an->profile, m))
		return allocations_text(a);
	if (metric_is_summed(an->profile, m))
		return xasprintf(
			"%s in %s stack%s",
			fmt_weight(number, w->total[0], metric_unit(an->profile, m), w->scale[0]),
			fmt_count(count, (int64_t)w->n_samples), w->n_samples == 1 ? "" : "s");
	if (m.measure == MEASURE_WEIGHT && m.event.v < an->counts.n_events) {
		event = *profile_event(an->profile, m.event);
		if (strcmp(profile_string(an->profile, event.name, NULL), "samples") == 0)
			return samples_text(
				fmt_weight(number, w->total[0], event.unit, w->scale[0]));
	}
	return samples_text(fmt_weight(number, (int64_t)w->n_samples, UNIT_COUNT, w->sample_scale));
}

const char *app_share_of(const struct app *a)
{
	return metric_share_of(a->analysis->profile, app_shown_metric(a));
}

/* How many events have something that is not shown; *last is the last of them. */
static uint32_t count_more(const struct app *a, uint32_t *last)
{
	const struct analysis *an = a->analysis;
	struct metric shown = app_shown_metric(a);
	uint32_t n = 0;

	for (uint32_t i = 0; i < an->counts.n_events; i++) {
		if (i == shown.event.v ||
		    (!app_is_beside_samples(a) &&
		     lens_has_event(&an->lens, an->profile, (event_id){ i })) ||
		    lens_is_empty_heap(an->profile, (event_id){ i }))
			continue;
		*last = i;
		n++;
	}
	return n;
}

char *app_more_text(const struct app *a)
{
	const struct analysis *an = a->analysis;
	uint32_t last = 0, n = an->diff ? 0 : count_more(a, &last);
	char keys[64];

	if (n == 0)
		return xstrdup("");
	if (n > 1 || app_is_beside_samples(a) ||
	    !metric_is_heap(an->profile, an->lens.column[0].metric))
		return xasprintf(" +%u event%s", (unsigned)n, n == 1 ? "" : "s");
	keymap_keys(&a->settings->keymap, a->view, app_contexts(a), ACTION_METRIC, keys,
		    sizeof(keys));
	return xasprintf(" (%s too: %s)",
			 profile_string(an->profile,
					profile_event(an->profile, (event_id){ last })->name, NULL),
			 keys);
}
