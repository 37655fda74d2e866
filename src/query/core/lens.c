/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lenses: the first one, copies, and the names of what they count. */
#include "config.h"

#include "query/core/lens.h"

#include "base/err.h"
#include "base/mem.h"
#include "profile/heap/heap.h"
#include "profile/profile.h"
#include "profile/sample_rows.h"
#include "query/core/filter.h"
#include "query/core/name_rules.h"
#include "query/core/ratio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *normalise_name(enum normalise n)
{
	static const char *const names[] = {
#define X(id, name) name,
		NORMALISATIONS(X)
#undef X
	};

	return names[n];
}

const char *shown_size_name(enum shown_size s)
{
	static const char *const names[] = {
#define X(id, name) name,
		SHOWN_SIZES(X)
#undef X
	};

	return names[s];
}

/* Is it time on the cpu, as clocks count it, or its cycles? By its name: cycles, cycles:u, cpu_core/cycles/. */
static bool is_cpu_time(const struct profile *p, const struct event *e)
{
	const char *name = profile_string(p, e->name, NULL), *slash = strchr(name, '/');

	if (slash)
		name = slash + 1;
	if (strncmp(name, "cpu-cycles", strlen("cpu-cycles")) == 0)
		name += strlen("cpu-");
	return e->unit == UNIT_NS || (strncmp(name, "cycles", strlen("cycles")) == 0 &&
				      strchr(":/", name[strlen("cycles")]));
}

bool lens_event_outranks(const struct profile *p, uint32_t event, uint64_t n, uint32_t best,
			 uint64_t most)
{
	const struct event *e = profile_event(p, (event_id){ event }), *other;

	if (e->is_derived || n == 0)
		return false;
	if (best == ID_NONE)
		return true;
	other = profile_event(p, (event_id){ best });
	if (e->is_default != other->is_default)
		return e->is_default;
	if (e->is_heap != other->is_heap)
		return !e->is_heap;
	if (is_cpu_time(p, e) != is_cpu_time(p, other))
		return is_cpu_time(p, e);
	return n > most;
}

/* Of the events that f lets pass, if there are any. */
static event_id usual_event(const struct profile *p, const struct filter *f)
{
	struct profile_counts counts;
	struct sample_columns columns;
	struct sample_rows *rows = xmalloc(sizeof(*rows));
	uint32_t best = ID_NONE, n;
	uint64_t *n_samples;

	profile_hold(p, &counts);
	profile_samples_of(p, &counts, &columns);
	n_samples = xcalloc(counts.n_events, sizeof(*n_samples));
	for (uint64_t row = 0; columns.event; row += n) {
		n = sample_rows_next(rows, &columns, row, counts.n_samples, ROWS_EVENT);
		if (n == 0)
			break;
		for (uint32_t i = 0; i < n; i++)
			n_samples[rows->event[i]] += sample_count(&columns, row + i);
	}
	profile_release(p, &counts);
	free(rows);
	for (uint32_t i = 0; i < counts.n_events; i++) {
		const struct event *e = profile_event(p, (event_id){ i });
		string_id name = e->name;

		/* Blocks are no samples, but an input may put a heap first. */
		n_samples[i] += e->is_heap && e->is_default;
		if (filter_has_event(f, profile_string(p, name, NULL)) &&
		    lens_event_outranks(p, i, n_samples[i], best,
					best == ID_NONE ? 0 : n_samples[best]))
			best = i;
	}
	free(n_samples);
	return (event_id){ best == ID_NONE ? 0 : best };
}

static const struct {
	const char *name, *title;
} groupings[N_GROUPINGS] = {
#define X(id, name, title) { name, title },
	GROUPINGS(X)
#undef X
};

const char *grouping_name(enum grouping g)
{
	return groupings[g].name;
}

const char *grouping_title(enum grouping g)
{
	return groupings[g].title;
}

bool grouping_find(const char *name, enum grouping *out)
{
	for (int g = 0; g < N_GROUPINGS; g++)
		if (strcmp(groupings[g].name, name) == 0) {
			*out = (enum grouping)g;
			return true;
		}
	return false;
}

bool heap_rows_find(const char *name, enum heap_rows *out)
{
	static const char *const names[] = {
#define X(id, text) text,
		HEAP_ROWS(X)
#undef X
	};

	for (size_t i = 1; i < sizeof(names) / sizeof(*names); i++) {
		if (strcmp(names[i], name) != 0)
			continue;
		*out = (enum heap_rows)i;
		return true;
	}
	return false;
}

void heap_rows_next(enum grouping *g, enum heap_rows *rows, bool sizes)
{
	static const enum grouping order[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_FILE,
					       GROUP_THREAD };
	size_t n = sizeof(order) / sizeof(*order), i = 0;

	if (*rows == HEAP_ROWS_STACKS || *rows == HEAP_ROWS_SIZES) {
		*rows = *rows == HEAP_ROWS_STACKS && sizes ? HEAP_ROWS_SIZES : HEAP_ROWS_GROUPS;
		*g = GROUP_FUNCTION;
		return;
	}
	if (*rows == HEAP_ROWS_GROUPS && (*g == GROUP_FUNCTION || *g == GROUP_LINE)) {
		*rows = HEAP_ROWS_FUNCTIONS;
		*g = GROUP_FUNCTION;
		return;
	}
	while (i < n && order[i] != *g)
		i++;
	*rows = i + 1 < n ? HEAP_ROWS_GROUPS : HEAP_ROWS_STACKS;
	*g = i + 1 < n ? order[i + 1] : GROUP_FUNCTION;
}

enum grouping grouping_next(enum grouping g, const struct profile *p)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	g = (enum grouping)((g + 1) % N_GROUPINGS);
	if (g == GROUP_CGROUP && counts.n_cgroups == 0)
		g = GROUP_LABELS;
	if (g == GROUP_LABELS && counts.n_labelled == 0)
		g = GROUP_CAPTURE;
	return g >= GROUP_CAPTURE && counts.n_captures < 2 ? GROUP_FUNCTION : g;
}

void lens_set_names(struct lens *l, const struct name_rules *rules)
{
	struct name_rules *copy = rules ? name_rules_copy(rules) : NULL;

	name_rules_free(l->names);
	l->names = copy;
}

void lens_copy(struct lens *to, const struct lens *from)
{
	*to = *from;
	to->cache = NULL;
	to->names = NULL;
	lens_set_names(to, from->names);
	to->ratios = ratios_copy(from->ratios);
	to->filter = from->filter ? filter_copy(from->filter) : NULL;
	for (uint32_t i = 0; i < from->n_columns; i++)
		if (from->column[i].filter)
			to->column[i].filter = filter_copy(from->column[i].filter);
}

void lens_done(struct lens *l)
{
	filter_free(l->filter);
	l->filter = NULL;
	lens_set_names(l, NULL);
	ratios_free(l->ratios);
	l->ratios = NULL;
	for (uint32_t i = 0; i < l->n_columns; i++) {
		filter_free(l->column[i].filter);
		l->column[i].filter = NULL;
	}
}

enum unit metric_unit(const struct profile *p, struct metric m)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	if (m.event.v >= counts.n_events || m.measure == MEASURE_SAMPLES ||
	    m.measure == MEASURE_TEMPORARY)
		return UNIT_COUNT;
	return profile_event(p, m.event)->unit;
}

/* Words for --metric. Heaps have words of their own for what every event has. */
static const struct measure_name {
	enum measure measure;
	const char *name;
	bool of_heaps;
	bool of_samples;
} measure_names[] = { { MEASURE_WEIGHT, "bytes", true, false },
		      { MEASURE_SAMPLES, "calls", true, false },
		      { MEASURE_WEIGHT, "period", false, true },
		      { MEASURE_SAMPLES, "samples", false, true },
		      { MEASURE_WALL, "wall", false, true },
#define X(id, name) { MEASURE_##id, name, true, false },
		      HEAP_MEASURES(X)
#undef X
};

#define N_MEASURE_NAMES (sizeof(measure_names) / sizeof(*measure_names))

bool metric_is_heap(const struct profile *p, struct metric m)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	return m.event.v < counts.n_events && profile_event(p, m.event)->is_heap;
}

bool metric_is_summed(const struct profile *p, struct metric m)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	return m.event.v < counts.n_events && profile_event(p, m.event)->is_summed;
}

const char *metric_share_of(const struct profile *p, struct metric m)
{
	if (!metric_is_heap(p, m) || metric_unit(p, m) != UNIT_BYTES)
		return "";
	return m.measure == MEASURE_PEAK     ? " bytes at this peak"
	       : m.measure == MEASURE_LIVE   ? " bytes in use"
	       : m.measure == MEASURE_LEAKED ? " bytes never freed"
					     : " bytes";
}

static bool is_clock(const struct event *e)
{
	return e->unit == UNIT_NS && e->has_weight && !e->is_heap && !e->is_derived;
}

/* The event of waits off the cpu, in nanoseconds; {ID_NONE}: there is none. */
static event_id waits_of(const struct profile *p)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_events; i++) {
		const struct event *e = profile_event(p, (event_id){ i });

		if (e->is_derived && e->unit == UNIT_NS)
			return (event_id){ i };
	}
	return (event_id){ ID_NONE };
}

event_id metric_waits(const struct profile *p, struct metric m)
{
	return m.measure == MEASURE_WALL ? waits_of(p) : (event_id){ ID_NONE };
}

bool lens_is_empty_heap(const struct profile *p, event_id event)
{
	struct heap_columns c;

	if (!profile_event(p, event)->is_heap)
		return false;
	profile_heap(p, &c);
	for (uint32_t i = 0; i < c.n_origins; i++)
		if (c.origins[i].event == event.v)
			return false;
	return true;
}

/* The first event of allocations that there are; {ID_NONE}: there are none. */
static event_id first_heap(const struct profile *p)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_events; i++)
		if (profile_event(p, (event_id){ i })->is_heap &&
		    !lens_is_empty_heap(p, (event_id){ i }))
			return (event_id){ i };
	return (event_id){ ID_NONE };
}

uint32_t lens_n_shown(const struct lens *l)
{
	return l->ratios && l->ratios->n_columns < l->n_columns ? l->ratios->n_columns
								: l->n_columns;
}

bool lens_shows(const struct lens *l, const int64_t *numbers)
{
	if (!l->ratios)
		return true;
	for (uint32_t c = 0; c < lens_n_shown(l); c++)
		if (numbers[c])
			return true;
	return false;
}

bool lens_has_event(const struct lens *l, const struct profile *p, event_id event)
{
	for (uint32_t c = 0; c < lens_n_shown(l); c++) {
		struct metric m = l->column[c].metric;

		if (m.event.v == event.v || metric_waits(p, m).v == event.v ||
		    (m.all && profile_event(p, event)->is_heap))
			return true;
	}
	return false;
}

bool lens_sums_heaps(const struct profile *p)
{
	uint32_t first = first_heap(p).v;
	struct heap_columns c;

	profile_heap(p, &c);
	for (uint32_t i = 0; first != ID_NONE && i < c.n_origins; i++)
		if (c.origins[i].event != first)
			return true;
	return false;
}

/* What was there at the peak of all heaps. */
static struct metric usual_of_heaps(const struct profile *p)
{
	return (struct metric){ first_heap(p), MEASURE_PEAK, lens_sums_heaps(p) };
}

struct metric lens_usual_metric(const struct profile *p, const struct filter *f)
{
	struct metric m = { .event = usual_event(p, f) };

	if (!metric_is_heap(p, m))
		return m;
	m.measure = MEASURE_PEAK;
	return first_heap(p).v == ID_NONE ? m : usual_of_heaps(p);
}

void lens_init(struct lens *l, const struct profile *p)
{
	*l = (struct lens){
		.n_columns = 1, .grouping = GROUP_FUNCTION, .inlines = true, .cursor_ns = INT64_MAX
	};
	l->column[0].metric = lens_usual_metric(p, NULL);
	l->beside = !metric_is_heap(p, l->column[0].metric) && first_heap(p).v != ID_NONE;
	lens_choose(l, p, l->column[0].metric);
}

void lens_choose(struct lens *l, const struct profile *p, struct metric m)
{
	l->column[0].metric = m;
	if (!l->beside)
		return;
	l->column[1].metric = metric_is_heap(p, m)
				      ? (struct metric){ .event = usual_event(p, NULL) }
				      : usual_of_heaps(p);
	l->n_columns = 2;
}

/* The next event with something to show; the same where there is no other. */
static event_id next_event(const struct profile *p, event_id event, uint32_t n_events)
{
	event_id next = event;

	do
		next.v = (next.v + 1) % n_events;
	while (next.v != event.v && lens_is_empty_heap(p, next));
	return next;
}

/* Is it known where blocks were freed? */
static bool knows_frees(const struct profile *p)
{
	struct heap_columns c;

	profile_heap(p, &c);
	return c.release != NULL;
}

/* Does the measure of a heap say something that the one before it does not? */
static bool says_more(const struct profile *p, enum measure m, const struct filter *f)
{
	int64_t from, to;

	switch (m) {
	case MEASURE_GROWN:
		return filter_times(f, &from, &to);
	case MEASURE_FREED_BY:
		return knows_frees(p);
	default:
		return true;
	}
}

struct metric metric_next(const struct profile *p, struct metric m, const struct filter *f)
{
	struct profile_counts counts;
	event_id next;

	profile_counts_read(p, &counts);
	if (m.event.v >= counts.n_events)
		return m;
	while (metric_is_heap(p, m) && m.measure < MEASURE_TEMPORARY)
		if (says_more(p, ++m.measure, f))
			return m;
	if (m.measure == MEASURE_WEIGHT && profile_event(p, m.event)->has_weight)
		return (struct metric){ .event = m.event, .measure = MEASURE_SAMPLES };
	if (m.measure == MEASURE_SAMPLES && is_clock(profile_event(p, m.event)) &&
	    waits_of(p).v != ID_NONE)
		return (struct metric){ .event = m.event, .measure = MEASURE_WALL };
	/* All heaps together go before each of them. */
	if (m.all)
		return (struct metric){ .event = first_heap(p) };
	next = next_event(p, m.event, counts.n_events);
	return (struct metric){ .event = next,
				.all = next.v == first_heap(p).v && lens_sums_heaps(p) };
}

static const char *measure_name(enum measure m, bool heap)
{
	for (size_t i = 0; i < N_MEASURE_NAMES; i++)
		if (measure_names[i].measure == m &&
		    (heap ? measure_names[i].of_heaps : measure_names[i].of_samples))
			return measure_names[i].name;
	return "samples";
}

const char *metric_word(const struct profile *p, struct metric m)
{
	return measure_name(m.measure, metric_is_heap(p, m));
}

/* Did a process outlive its recording? What it held then is no leak. */
static bool outlives(const struct profile *p)
{
	struct heap_columns heaps;

	profile_heap(p, &heaps);
	for (uint32_t i = 0; i < heaps.n_tracks; i++)
		if (profile_heap_track(p, (track_id){ i }).lives_on)
			return true;
	return false;
}

const char *metric_event_name(const struct profile *p, struct metric m)
{
	return m.all ? ALL_HEAPS_NAME : profile_string(p, profile_event(p, m.event)->name, NULL);
}

char *metric_name(const struct profile *p, struct metric m)
{
	struct profile_counts counts;
	const char *event = "samples";

	profile_counts_read(p, &counts);
	if (m.event.v < counts.n_events)
		event = metric_event_name(p, m);
	if (m.measure == MEASURE_LEAKED && metric_is_heap(p, m) && outlives(p))
		return xasprintf("%s still live", event);
	if (metric_is_heap(p, m))
		return xasprintf("%s %s", event, measure_name(m.measure, true));
	if (metric_waits(p, m).v != ID_NONE)
		return xasprintf(
			"wall (%s + %s)", event,
			profile_string(p, profile_event(p, metric_waits(p, m))->name, NULL));
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

/* The measure of a name that events of the kind have, to *out unless that is NULL; false and a sentence when there is none. */
static bool find_measure(const char *name, bool heap, enum measure *out, struct err *e)
{
	char *list = NULL;

	for (size_t i = 0; i < N_MEASURE_NAMES; i++) {
		const struct measure_name *m = &measure_names[i];
		char *longer;

		if (!(heap ? m->of_heaps : m->of_samples))
			continue;
		if (strcmp(m->name, name) == 0) {
			if (out)
				*out = m->measure;
			free(list);
			return true;
		}
		longer = xasprintf("%s%s%s", list ? list : "", list ? ", " : "", m->name);
		free(list);
		list = longer;
	}
	err_set(e, -ENOENT, "no metric is called \"%s\"; there are: %s", name, list);
	free(list);
	return false;
}

/* Can the time of the event and that of waits be added up? If not, a sentence says why. */
static int check_wall(const struct profile *p, struct metric m, struct err *e)
{
	const struct event *event = profile_event(p, m.event);

	if (waits_of(p).v == ID_NONE)
		return err_set(e, -ENOENT,
			       "wall time needs to know when threads were off the cpu: record with "
			       "--switch-events, or -e sched:sched_switch -a");
	if (!is_clock(event))
		return err_set(e, -ENOENT,
			       "wall time is that of a clock and of the waits, and \"%s\" is no "
			       "clock: record with -e cpu-clock or task-clock",
			       profile_string(p, event->name, NULL));
	return 0;
}

/* Can it be said who freed? If not, a sentence says why. */
static int check_frees(const struct profile *p, struct err *e)
{
	return knows_frees(p)
		       ? 0
		       : err_set(e, -ENOENT,
				 "where blocks were freed is not known: record with --heap --free-stacks");
}

/* The measure as the event, now known, has it. */
static int set_measure(const struct profile *p, const char *measure, struct metric m,
		       struct metric *out, struct err *e)
{
	bool heap = profile_event(p, m.event)->is_heap;

	m.measure = MEASURE_WEIGHT;
	if (*measure && !find_measure(measure, heap, &m.measure, e))
		return -ENOENT;
	if (m.measure == MEASURE_WALL && check_wall(p, m, e))
		return -ENOENT;
	if (m.measure == MEASURE_FREED_BY && check_frees(p, e))
		return -ENOENT;
	*out = m;
	return 0;
}

/* The event, or where its kind has no such measure the first one of a kind that has; the same where there is none. */
static event_id event_with(const struct profile *p, const char *measure, event_id event,
			   uint32_t n_events)
{
	bool heap = profile_event(p, event)->is_heap;

	if (!*measure || find_measure(measure, heap, NULL, NULL) ||
	    !find_measure(measure, !heap, NULL, NULL))
		return event;
	for (uint32_t i = 0; i < n_events; i++)
		if (profile_event(p, (event_id){ i })->is_heap != heap &&
		    !lens_is_empty_heap(p, (event_id){ i }))
			return (event_id){ i };
	return event;
}

int metric_find_measure(const struct profile *p, const char *measure, struct metric *out,
			struct err *e)
{
	struct profile_counts counts;
	struct metric m = *out;

	profile_counts_read(p, &counts);
	m.event = event_with(p, measure, m.event, counts.n_events);
	m.all = *measure && m.event.v == first_heap(p).v && lens_sums_heaps(p);
	if (strcmp(measure, "wall") == 0 && !is_clock(profile_event(p, m.event)))
		for (uint32_t i = counts.n_events; i-- > 0;)
			if (is_clock(profile_event(p, (event_id){ i })))
				m.event.v = i;
	return set_measure(p, measure, m, out, e);
}

int metric_find(const struct profile *p, const char *event, const char *measure, struct metric *out,
		struct err *e)
{
	struct profile_counts counts;
	struct metric m = { .measure = MEASURE_WEIGHT };
	uint32_t n_prefixed = 0, found = ID_NONE;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_events; i++) {
		const char *name = profile_string(p, profile_event(p, (event_id){ i })->name, NULL);

		if (strcmp(name, event) == 0) {
			m.event.v = i;
			return set_measure(p, measure, m, out, e);
		}
		if (strncmp(name, event, strlen(event)) == 0) {
			n_prefixed++;
			found = i;
		}
	}
	if (strcmp(event, ALL_HEAPS_NAME) == 0 && first_heap(p).v != ID_NONE) {
		m.event = first_heap(p);
		m.all = lens_sums_heaps(p);
		return set_measure(p, measure, m, out, e);
	}
	if (n_prefixed != 1)
		return no_such_event(p, counts.n_events, event, n_prefixed ? "more than one" : "no",
				     e);
	m.event.v = found;
	return set_measure(p, measure, m, out, e);
}

int64_t lens_side_sum(const struct lens *l, const int64_t *numbers, enum side side)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < l->sides.n_runs[side]; i++)
		sum += numbers[lens_side(l, side) + i];
	return sum;
}

static double part(int64_t number, int64_t whole)
{
	return whole != 0 ? (double)number / (double)whole : 0;
}

double lens_share(const struct lens *l, const int64_t *numbers, const int64_t *wholes)
{
	double before, after;

	if (!lens_compares(l))
		return part(numbers[0], wholes[0]);
	before = part(lens_side_sum(l, numbers, SIDE_BEFORE),
		      lens_side_sum(l, wholes, SIDE_BEFORE));
	after = part(lens_side_sum(l, numbers, SIDE_AFTER), lens_side_sum(l, wholes, SIDE_AFTER));
	switch (l->sides.shown) {
	case SHOWN_BEFORE:
		return before;
	case SHOWN_AFTER:
		return after;
	case SHOWN_CHANGE:
		return after > before ? after - before : before - after;
	case SHOWN_BOTH:
	case N_SHOWN_SIZES:
		break;
	}
	return after > before ? after : before;
}
