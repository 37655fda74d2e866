/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lenses: the first one, copies, and the names of what they count. */
#include "config.h"

#include "lens.h"

#include "err.h"
#include "filter.h"
#include "mem.h"
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static event_id busiest_event(const struct profile *p)
{
	struct profile_counts counts;
	struct sample_columns rows;
	uint64_t *n_samples;
	event_id best = { 0 };

	profile_counts_read(p, &counts);
	profile_samples(p, &rows);
	if (!rows.event || counts.n_events < 2)
		return best;
	n_samples = xcalloc(counts.n_events, sizeof(*n_samples));
	for (uint64_t i = 0; i < counts.n_samples; i++)
		n_samples[rows.event[i]]++;
	for (uint32_t i = 1; i < counts.n_events; i++)
		if (n_samples[i] > n_samples[best.v])
			best.v = i;
	free(n_samples);
	return best;
}

void lens_init(struct lens *l, const struct profile *p)
{
	*l = (struct lens){ .n_columns = 1, .grouping = GROUP_FUNCTION, .inlines = true };
	l->column[0].metric.event = busiest_event(p);
}

void lens_copy(struct lens *to, const struct lens *from)
{
	*to = *from;
	to->filter = from->filter ? filter_copy(from->filter) : NULL;
	for (uint32_t i = 0; i < from->n_columns; i++)
		if (from->column[i].filter)
			to->column[i].filter = filter_copy(from->column[i].filter);
}

void lens_done(struct lens *l)
{
	filter_free(l->filter);
	l->filter = NULL;
	for (uint32_t i = 0; i < l->n_columns; i++) {
		filter_free(l->column[i].filter);
		l->column[i].filter = NULL;
	}
}

char *metric_name(const struct profile *p, struct metric m)
{
	struct profile_counts counts;
	const char *event = "samples";

	profile_counts_read(p, &counts);
	if (m.event.v < counts.n_events)
		event = profile_string(p, profile_event(p, m.event)->name, NULL);
	if (m.measure == MEASURE_WEIGHT || strcmp(event, "samples") == 0)
		return xstrdup(event);
	return xasprintf("%s samples", event);
}

/* Says what is wrong with an event's name and what names there are. */
static int no_such_event(const struct profile *p, uint32_t n_events, const char *name,
			 const char *problem, struct err *e)
{
	char *list = xstrdup("");

	for (uint32_t i = 0; i < n_events; i++) {
		const char *other = profile_string(p, profile_event(p, (event_id){ i })->name,
						   NULL);
		char *longer = xasprintf("%s%s%s", list, i ? ", " : "", other);

		free(list);
		list = longer;
	}
	err_set(e, -ENOENT, "%s event is called \"%s\"; there are: %s", problem, name,
		n_events ? list : "none");
	free(list);
	return -ENOENT;
}

int metric_find(const struct profile *p, const char *event, const char *measure, struct metric *out,
		struct err *e)
{
	struct profile_counts counts;
	struct metric m = { .measure = MEASURE_WEIGHT };
	uint32_t n_prefixed = 0, found = ID_NONE;

	if (strcmp(measure, "samples") == 0)
		m.measure = MEASURE_SAMPLES;
	else if (*measure && strcmp(measure, "period") != 0)
		return err_set(e, -ENOENT, "no metric is called \"%s\"; there are: period, samples",
			       measure);
	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_events; i++) {
		const char *name = profile_string(p, profile_event(p, (event_id){ i })->name, NULL);

		if (strcmp(name, event) == 0) {
			m.event.v = i;
			*out = m;
			return 0;
		}
		if (strncmp(name, event, strlen(event)) == 0) {
			n_prefixed++;
			found = i;
		}
	}
	if (n_prefixed != 1)
		return no_such_event(p, counts.n_events, event, n_prefixed ? "more than one" : "no",
				     e);
	m.event.v = found;
	*out = m;
	return 0;
}
