/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "cli/options/query_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/fmt.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/ratio.h"

/* Columns that --event can ask for. */
#define MOST_EVENTS 8

const char *query_options_unit_name(enum unit u)
{
	static const char *const names[] = {
		[UNIT_COUNT] = "count",
		[UNIT_NS] = "ns",
		[UNIT_BYTES] = "bytes",
	};

	return names[u];
}

static int find_group(const char *name, enum grouping *out, struct err *e)
{
	char *known;

	if (grouping_find(name, out))
		return 0;
	known = xstrdup("");
	for (int i = 0; i < N_GROUPINGS; i++) {
		char *more = xasprintf("%s%s%s", known,
				       i == 0                ? ""
				       : i < N_GROUPINGS - 1 ? ", "
							     : " or ",
				       grouping_name((enum grouping)i));

		free(known);
		known = more;
	}
	err_set(e, -EINVAL, "--group takes %s, not \"%s\"", known, name);
	free(known);
	return -EINVAL;
}

/* The samples that are not the work of the recorder of the heap, as a term that one sees and can take away. */
#define NOT_TRACER "!is:tracer"

bool query_options_chose_event(const struct options *o)
{
	return o->events.n > 0 || filter_names_event(o->filter);
}

/* One column for each --event; the measure is theirs of whose kind it is, and of one of them at least. */
static int find_events(const struct lens_wish *w, const struct profile *p, struct lens *l,
		       struct err *e)
{
	bool taken = !*w->metric;
	struct err why = ERR_INIT;
	int rc = 0;

	l->beside = false;
	for (size_t i = 0; i < w->n_events && rc == 0; i++) {
		struct lens_column column = { 0 };
		const char *name = w->events[i];

		rc = metric_find(p, name, "", &column.metric, e);
		if (rc == 0 && metric_find(p, name, w->metric, &column.metric, &why) == 0)
			taken = true;
		l->column[i] = column;
		l->n_columns = (uint32_t)i + 1;
	}
	if (rc == 0 && !taken)
		rc = err_set(e, why.code, "%s", err_text(&why));
	err_clear(&why);
	return rc;
}

/* Those of --event, or of the event that is looked at first, with what stands beside it on a screen. */
static int find_columns(const struct lens_wish *w, const struct profile *p, struct lens *l,
			struct err *e)
{
	struct metric first = l->column[0].metric;
	struct profile_counts counts;
	int rc = 0;

	if (w->n_events > MOST_EVENTS)
		return err_set(e, -EINVAL, "--event can be given %d times at most", MOST_EVENTS);
	if (w->n_events > 0)
		return find_events(w, p, l, e);
	profile_counts_read(p, &counts);
	if (w->filter)
		first = lens_usual_metric(p, w->filter);
	if (*w->metric && counts.n_events)
		rc = metric_find_measure(p, w->metric, &first, e);
	if (w->to) {
		l->beside = false;
		l->n_columns = 1;
	}
	lens_choose(l, p, first);
	return rc;
}

struct lens_wish query_options_of(const struct options *o)
{
	return (struct lens_wish){
		.filter = o->filter,
		.events = o->events.at,
		.n_events = o->events.n,
		.metric = o->metric,
		.group = o->group,
		.normalise = o->normalise,
		.to = o->to,
		.no_inline = o->no_inline,
		.ratios = o->ratios.at,
		.n_ratios = o->ratios.n,
	};
}

/* Rows of one event have no ratio of two. */
static int add_ratios(const struct lens_wish *w, const struct profile *p, struct lens *l,
		      struct err *e)
{
	bool one_event = l->grouping == GROUP_EVENT || filter_names_event(w->filter);

	*w->made = (struct ratios){ .n_columns = l->n_columns };
	if (!one_event)
		return ratios_add(w->made, l, p, w->ratios, w->n_ratios, e);
	return w->n_ratios == 0 ? 0
				: err_set(e, -EINVAL,
					  "--ratio needs samples of two events in a row, and "
					  "--group event or a filter by event leaves one");
}

int query_options_lens(const struct lens_wish *w, const struct profile *p, struct lens *l,
		       struct err *e)
{
	int rc;

	lens_init(l, p);
	rc = find_columns(w, p, l, e);
	if (!rc && w->group && !heap_rows_find(w->group, &l->heap_rows))
		rc = find_group(w->group, &l->grouping, e);
	if (!rc && w->made)
		rc = add_ratios(w, p, l, e);
	if (rc) {
		lens_done(l);
		return rc;
	}
	l->inlines = !w->no_inline;
	l->suppress = w->suppress;
	if (filter_n_terms(w->filter))
		l->filter = filter_copy(w->filter);
	if (!w->hides_tracer || filter_has(w->filter, "is:tracer") ||
	    filter_has(w->filter, NOT_TRACER))
		return 0;
	if (!l->filter)
		filter_parse("", &l->filter, NULL);
	return filter_add(l->filter, NOT_TRACER, e);
}

/* Time terms by which nothing is left have mistaken the recording's length, more likely than not. */
static void tell_outside(const struct analysis *a)
{
	const struct weights *w = &a->weights;
	int64_t from_ns, to_ns;
	char length[FMT_SIZE];

	if (!filter_times(a->lens.filter, &from_ns, &to_ns) || w->begin_ns == TIME_NONE ||
	    from_ns <= w->end_ns - w->begin_ns)
		return;
	message("the time that is asked for begins behind the end of the recording, which is %s long",
		fmt_ns(length, w->end_ns - w->begin_ns));
}

int query_options_analysis(const struct lens_wish *w, const struct profile *p, unsigned parts,
			   struct analysis **out, struct err *e)
{
	struct lens lens;
	int rc = query_options_lens(w, p, &lens, e);

	if (rc)
		return rc;
	rc = analysis_new_parts(p, &lens, parts, NULL, out);
	lens_done(&lens);
	if (!rc)
		tell_outside(*out);
	if (!rc && analysis_gave_up(*out))
		message("%s took too long on some names, which count as not matching; a simpler expression "
			"gives exact numbers",
			analysis_gave_up(*out));
	return rc ? err_set(e, rc, "the answer could not be made: %s", strerror(-rc)) : 0;
}

char *query_options_events_left_out(const struct analysis *a, uint32_t n_columns)
{
	struct lens shown = a->lens; /* borrowed, as far as it is shown */
	char *all = NULL;

	if (n_columns < shown.n_columns)
		shown.n_columns = n_columns;
	for (uint32_t i = 0; i < a->counts.n_events; i++) {
		string_id name = profile_event(a->profile, (event_id){ i })->name;
		char *longer;

		if (lens_has_event(&shown, a->profile, (event_id){ i }) ||
		    lens_is_empty_heap(a->profile, (event_id){ i }))
			continue;
		longer = xasprintf("%s%s%s", all ? all : "", all ? ", " : "",
				   profile_string(a->profile, name, NULL));
		free(all);
		all = longer;
	}
	return all;
}
