/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What events a side has is found out by weighing: columns of each event's samples, by the side's filter.
 */
#include "config.h"

#include "query/diff/comparison.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/task.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"
#include "query/core/heap_pass.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many samples or allocations of each event the sides have. */
struct presence {
	uint32_t version; /* of the profile's counts that they are of */
	uint32_t n_events;
	int64_t *n[N_SIDES];      /* [n_events] in parts of a sample; owned */
	double *samples[N_SIDES]; /* [n_events] the same as numbers; owned */
};

static void presence_free(struct presence *has)
{
	for (int side = 0; has && side < N_SIDES; side++) {
		free(has->n[side]);
		free(has->samples[side]);
	}
	free(has);
}

void comparison_done(struct comparison *s)
{
	name_rules_done(&s->names);
	presence_free(s->has);
	s->has = NULL;
	for (int side = 0; side < N_SIDES; side++) {
		for (size_t i = 0; i < s->run[side].n; i++)
			free(s->run[side].at[i]);
		vec_done(&s->run[side]);
		free(s->name[side]);
		s->name[side] = NULL;
	}
}

int comparison_add(struct comparison *s, enum side side, const char *filter, struct err *e)
{
	struct filter *f;
	int rc = filter_parse(filter, &f, e);

	if (rc)
		return rc;
	filter_free(f);
	if (s->run[SIDE_BEFORE].n + s->run[SIDE_AFTER].n >= SIDES_MAX_RUNS)
		return err_set(e, -EINVAL, "no more than %d runs can be compared at once",
			       SIDES_MAX_RUNS);
	vec_push(&s->run[side], xstrdup(filter));
	return 0;
}

/* The filter of a run, which was parsed before. The caller frees. */
static struct filter *filter_of(const char *text)
{
	struct filter *f = NULL;

	/* It parsed in comparison_add(). */
	return filter_parse(text, &f, NULL) == 0 ? f : NULL;
}

/*
 * One filter for all runs of a side: of files the list of their numbers, as runs of a side differ in nothing else.
 * The caller frees.
 */
static struct filter *filter_of_side(const struct comparison *s, enum side side)
{
	static const char prefix[] = "capture:";
	char *all = xstrdup(s->run[side].at[0]);
	struct filter *f;

	for (size_t i = 1; i < s->run[side].n; i++) {
		char *longer = xasprintf("%s,%s", all, s->run[side].at[i] + strlen(prefix));

		free(all);
		all = longer;
	}
	f = filter_of(all);
	free(all);
	return f;
}

static int count_batch(struct presence *has, const struct comparison *s, const struct profile *p,
		       const struct profile_counts *counts, struct progress *progress,
		       uint32_t first, uint32_t n)
{
	struct lens lens = { .n_columns = N_SIDES * n, .inlines = true };
	struct weights w;
	int rc;

	for (uint32_t i = 0; i < lens.n_columns; i++)
		lens.column[i] = (struct lens_column){
			.metric = { { first + i / N_SIDES }, MEASURE_SAMPLES, false },
			.filter = filter_of_side(s, (enum side)(i % N_SIDES)),
		};
	rc = aggregate(p, counts, &lens, progress, &w);
	for (uint32_t i = 0; rc == 0 && i < lens.n_columns; i++) {
		uint32_t event = first + i / N_SIDES;

		has->n[i % N_SIDES][event] = w.whole[i];
		has->samples[i % N_SIDES][event] = (double)w.whole[i] / (double)w.scale[i];
	}
	weights_done(&w);
	lens_done(&lens);
	return rc;
}

/* The caller frees. NULL: it was cancelled. */
static struct presence *presence_new(const struct comparison *s, const struct profile *p,
				     const struct profile_counts *counts, struct progress *progress)
{
	const uint32_t batch = LENS_MAX_COLUMNS / N_SIDES;
	struct presence *has = xcalloc(1, sizeof(*has));
	int rc = 0;

	has->version = counts->version;
	has->n_events = counts->n_events;
	for (int side = 0; side < N_SIDES; side++) {
		has->n[side] = xcalloc(counts->n_events, sizeof(*has->n[side]));
		has->samples[side] = xcalloc(counts->n_events, sizeof(*has->samples[side]));
	}
	for (uint32_t i = 0; rc == 0 && i < counts->n_events; i += batch)
		rc = count_batch(has, s, p, counts, progress, i,
				 counts->n_events - i < batch ? counts->n_events - i : batch);
	if (rc == 0)
		return has;
	presence_free(has);
	return NULL;
}

int comparison_count(struct comparison *s, const struct profile *p, struct progress *progress)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	presence_free(s->has);
	s->has = presence_new(s, p, &counts, progress);
	return s->has ? 0 : -ECANCELED;
}

/* The samples of so many events, from the first on, that pass a filter. */
static double count_passing(const struct profile *p, const struct profile_counts *counts,
			    struct progress *progress, const char *filter, uint32_t first,
			    uint32_t n)
{
	struct lens lens = { .n_columns = n, .inlines = true };
	struct weights w;
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		lens.column[i] = (struct lens_column){
			.metric = { { first + i }, MEASURE_SAMPLES, false },
			.filter = filter_of(filter),
		};
	if (aggregate(p, counts, &lens, progress, &w) == 0)
		for (uint32_t i = 0; i < n; i++)
			sum += (double)w.whole[i] / (double)w.scale[i];
	weights_done(&w);
	lens_done(&lens);
	return sum;
}

/*
 * How many samples or allocations are on both sides, and how many each side has. False: none is on both. A pass over all
 * samples.
 */
static bool count_common(const struct comparison *s, const struct profile *p,
			 struct progress *progress, double *common, double of[N_SIDES])
{
	/* All terms of a filter are to hold. */
	char *both = xasprintf("%s %s", s->run[SIDE_BEFORE].at[0], s->run[SIDE_AFTER].at[0]);
	struct profile_counts counts;
	double sum = 0;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < s->has->n_events; i += LENS_MAX_COLUMNS)
		sum += count_passing(p, &counts, progress, both, i,
				     s->has->n_events - i < LENS_MAX_COLUMNS ? s->has->n_events - i
									     : LENS_MAX_COLUMNS);
	free(both);
	if (!(sum > 0) || progress_cancelled(progress))
		return false;
	*common = sum;
	for (int side = 0; side < N_SIDES; side++) {
		of[side] = 0;
		for (uint32_t i = 0; i < s->has->n_events; i++)
			of[side] += s->has->samples[side][i];
	}
	return true;
}

/* What a profile's events count; a recording may be of the CPU and of the heap. */
static const char *counted(const struct profile *p, uint32_t n_events)
{
	bool kind[2] = { false, false };

	for (uint32_t i = 0; i < n_events; i++)
		kind[profile_event(p, (event_id){ i })->is_heap] = true;
	if (kind[true])
		return kind[false] ? "samples and allocations" : "allocations";
	return "samples";
}

char *comparison_overlap(const struct comparison *s, const struct profile *p,
			 struct progress *progress)
{
	char n[FMT_SIZE], part[N_SIDES][FMT_SIZE];
	double common, of[N_SIDES];

	if (!count_common(s, p, progress, &common, of))
		return NULL;
	for (int side = 0; side < N_SIDES; side++)
		fmt_percent(part[side], (int64_t)common, (int64_t)of[side]);
	return xasprintf("the sides overlap: %s %s are on both, %s %% of %s and %s %% of %s",
			 fmt_count(n, (int64_t)common), counted(p, s->has->n_events),
			 part[SIDE_BEFORE], s->name[SIDE_BEFORE], part[SIDE_AFTER],
			 s->name[SIDE_AFTER]);
}

static bool is_called(const struct comparison *s, const struct profile *p, string_id id,
		      const char *name)
{
	const char *text = profile_string(p, id, NULL);
	char *loose;
	bool same = strcmp(text, name) == 0;

	if (same || !s->names.loose)
		return same;
	loose = name_rules_loose(text);
	same = strcmp(loose, name) == 0;
	free(loose);
	return same;
}

bool comparison_have_name(const struct comparison *s, const struct profile *p, const char *name)
{
	struct profile_counts counts;
	bool found = false;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_functions && !found; i++)
		found = is_called(s, p, profile_function(p, (function_id){ i })->name, name);
	for (uint32_t i = 0; i < counts.n_modules && !found; i++)
		found = is_called(s, p, profile_module(p, (module_id){ i })->name, name);
	for (uint32_t i = 0; i < counts.n_threads && !found; i++)
		found = is_called(s, p, profile_thread(p, (thread_id){ i })->name, name);
	return found;
}

static const char *event_name(const struct profile *p, uint32_t event)
{
	return profile_string(p, profile_event(p, (event_id){ event })->name, NULL);
}

/* The events of a side as a list for people; the caller frees. */
static char *list_events(const struct presence *has, enum side side, const struct profile *p)
{
	char *list = xstrdup("");

	for (uint32_t i = 0; i < has->n_events; i++) {
		char *longer;

		if (has->n[side][i] == 0)
			continue;
		longer = xasprintf("%s%s%s", list, *list ? ", " : "", event_name(p, i));
		free(list);
		list = longer;
	}
	return list;
}

/* The event that outranks all others among those that pass, or ID_NONE. */
static uint32_t busiest(const struct presence *has, const struct profile *p, enum side side,
			bool common)
{
	uint32_t best = ID_NONE;
	int64_t most = 0;

	for (uint32_t i = 0; i < has->n_events; i++) {
		int64_t n = has->n[side][i], other = has->n[!side][i];

		if (common && other < n)
			n = other;
		if (n <= 0 || !lens_event_outranks(p, i, (uint64_t)n, best, (uint64_t)most))
			continue;
		most = n;
		best = i;
	}
	return best;
}

static int nothing_in_common(const struct presence *has, const struct profile *p,
			     const struct comparison *s, struct err *e)
{
	char *before = list_events(has, SIDE_BEFORE, p), *after = list_events(has, SIDE_AFTER, p);
	int rc = err_set(e, -ENOENT,
			 "there is no common metric: %s has %s, %s has %s; --metric samples "
			 "compares numbers of samples",
			 s->name[SIDE_BEFORE], before, s->name[SIDE_AFTER], after);

	free(before);
	free(after);
	return rc;
}

/* Events that the sides say themselves are theirs: "event:" in both filters. */
static bool says_event(const struct comparison *s)
{
	return strstr(s->run[SIDE_BEFORE].at[0], "event:") &&
	       strstr(s->run[SIDE_AFTER].at[0], "event:");
}

/* Is a weight of the one as much as the same of the other: time, or the same event? Cycles are no instructions. */
static bool same_amounts(const struct event *a, const struct event *b)
{
	return a == b || (a->unit == UNIT_NS && b->unit == UNIT_NS);
}

/* What each side's busiest event is compared by, where no event is on both, or each side says its own. */
static int pair_events(const struct presence *has, const struct profile *p,
		       const struct comparison *s, const struct comparison_choice *choice,
		       struct metric m[N_SIDES], struct err *e)
{
	const struct event *a, *b;

	for (int side = 0; side < N_SIDES; side++)
		m[side].event.v = busiest(has, p, (enum side)side, false);
	if (m[0].event.v == ID_NONE || m[1].event.v == ID_NONE)
		return nothing_in_common(has, p, s, e);
	a = profile_event(p, m[0].event);
	b = profile_event(p, m[1].event);
	if (a->is_heap || b->is_heap)
		return nothing_in_common(has, p, s, e);
	m[0].measure = m[1].measure = MEASURE_WEIGHT;
	if (!strcmp(choice->metric, "samples") || (a->is_counted != b->is_counted) ||
	    (!*choice->metric && says_event(s) && !same_amounts(a, b)))
		m[0].measure = m[1].measure = MEASURE_SAMPLES;
	else if (*choice->metric && metric_find_measure(p, choice->metric, &m[0], e))
		return -ENOENT;
	else if (a->unit != b->unit || (!a->is_counted && !same_amounts(a, b)))
		return nothing_in_common(has, p, s, e);
	return 0;
}

static int check_chosen(const struct presence *has, const struct profile *p,
			const struct comparison *s, uint32_t event, struct err *e)
{
	for (int side = 0; side < N_SIDES; side++)
		if (has->n[side][event] == 0) {
			char *list = list_events(has, (enum side)side, p);

			err_set(e, -ENOENT, "there is nothing of \"%s\" in %s; it has %s",
				event_name(p, event), s->name[side], list);
			free(list);
			return -ENOENT;
		}
	return 0;
}

static int choose(const struct presence *has, const struct profile *p, const struct comparison *s,
		  const struct comparison_choice *choice, struct metric m[N_SIDES], struct err *e)
{
	uint32_t both = busiest(has, p, SIDE_BEFORE, true);

	if (*choice->event) {
		if (metric_find(p, choice->event, choice->metric, &m[0], e) ||
		    check_chosen(has, p, s, m[0].event.v, e))
			return -ENOENT;
	} else if (both == ID_NONE || says_event(s)) {
		return pair_events(has, p, s, choice, m, e);
	} else {
		m[0] = (struct metric){ .event = { both } };
		if (metric_is_heap(p, m[0]))
			m[0] = (struct metric){ m[0].event, MEASURE_PEAK, lens_sums_heaps(p) };
		/* Of a recording of CPU and heap it may be of the other kind. */
		if (*choice->metric && (metric_find_measure(p, choice->metric, &m[0], e) ||
					check_chosen(has, p, s, m[0].event.v, e)))
			return -ENOENT;
	}
	m[1] = m[0];
	return 0;
}

static int check_sides(const struct presence *has, const struct comparison *s, struct err *e)
{
	for (int side = 0; side < N_SIDES; side++) {
		int64_t n = 0;

		for (uint32_t i = 0; i < has->n_events; i++)
			n += has->n[side][i] != 0;
		if (n == 0)
			return err_set(e, -ENOENT, "there is nothing in %s to compare",
				       s->name[side]);
	}
	return 0;
}

/* Do allocations stand for more than themselves? */
static bool is_sampled(const struct profile *p)
{
	struct profile_counts counts;
	struct heap_state heap;
	bool exact;

	profile_counts_read(p, &counts);
	heap_state_init(&heap, p, &counts);
	exact = heap.exact;
	heap_state_done(&heap);
	return !exact;
}

/* Is the variance of sums more than a matter of their size? */
static bool varies(const struct profile *p, struct metric m)
{
	const struct event *event = profile_event(p, m.event);

	if (event->is_heap)
		return is_sampled(p);
	return event->has_weight && !event->is_counted && m.measure != MEASURE_SAMPLES;
}

static void add_column(struct lens *l, struct metric m, struct filter *f, bool squares)
{
	l->column[l->n_columns++] =
		(struct lens_column){ .metric = m, .filter = f, .squares = squares };
}

static int find_reference(const struct profile *p, const struct presence *has,
			  const struct comparison *s, const char *name, event_id *out,
			  struct err *e)
{
	struct metric m;

	if (!name)
		return 0;
	if (metric_find(p, name, "", &m, e))
		return -ENOENT;
	*out = m.event;
	return check_chosen(has, p, s, m.event.v, e);
}

/* "in:" of all modules of the kernel, as text; NULL: there are none. The caller frees. */
static char *in_kernel(const struct profile *p)
{
	struct profile_counts counts;
	char *text = NULL;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_modules; i++) {
		const struct module *m = profile_module(p, (module_id){ i });
		const char *name = profile_string(p, m->name, NULL);
		char *longer;

		/* One that is spelled like nothing else in the kernel is of somebody's making. */
		if (m->family != FAMILY_KERNEL || strpbrk(name, "\"\\"))
			continue;
		longer = xasprintf("%s%s\\\\Q%s\\\\E", text ? text : "in:\"^(?:", text ? "|" : "",
				   name);
		free(text);
		text = longer;
	}
	if (text) {
		char *whole = xasprintf("%s)$\"", text);

		free(text);
		text = whole;
	}
	return text;
}

/* What one run a side spent in the kernel, which differs from run to run more than all else. */
static void add_system(const struct comparison *s, const struct profile *p,
		       const struct metric m[N_SIDES], struct lens *l)
{
	char *kernel = NULL;

	if (s->run[SIDE_BEFORE].n == 1 && s->run[SIDE_AFTER].n == 1 &&
	    !profile_event(p, m[SIDE_BEFORE].event)->is_heap)
		kernel = in_kernel(p);
	l->sides.system = kernel;
	for (int side = 0; kernel && side < N_SIDES; side++) {
		char *both = xasprintf("%s %s", s->run[side].at[0], kernel);

		add_column(l, m[side], filter_of(both), false);
		free(both);
	}
	free(kernel);
}

/* Other columns, which take the place of what there was. */
static void fill_lens(const struct comparison *s, const struct profile *p,
		      const struct metric m[N_SIDES], const struct lens_sides *sides,
		      struct lens *l)
{
	for (uint32_t i = 0; i < l->n_columns; i++)
		filter_free(l->column[i].filter);
	l->n_columns = 0;
	l->beside = false;
	l->sides = *sides;
	lens_set_names(l, name_rules_say(&s->names) ? &s->names : NULL);
	add_column(l, m[SIDE_BEFORE], NULL, false);
	for (int side = 0; side < N_SIDES; side++) {
		l->sides.n_runs[side] = (uint32_t)s->run[side].n;
		for (size_t i = 0; i < s->run[side].n; i++)
			add_column(l, m[side], filter_of(s->run[side].at[i]), false);
		l->sides.squares |= varies(p, m[side]);
	}
	for (int side = 0; l->sides.squares && side < N_SIDES; side++)
		add_column(l, m[side], filter_of_side(s, (enum side)side), true);
	add_system(s, p, m, l);
}

/* What was before is of its own time: levels are of then, and nothing of it fades. */
static void set_times(struct lens *l, const struct comparison_choice *choice)
{
	l->half_life_ns = choice->half_life_ns;
	l->now_ns = choice->now_ns;
	for (uint32_t i = SIDES_FIRST; i < l->n_columns; i++) {
		if (i >= lens_side(l, SIDE_AFTER) && i != lens_squares(l, SIDE_BEFORE) &&
		    (!l->sides.system || i != lens_system(l, SIDE_BEFORE)))
			continue;
		l->column[i].level_ns = choice->level_ns;
		l->column[i].stays = true;
	}
}

/* Of one run a side the samples were counted: nobody has to do it again. */
static void note_samples(const struct presence *has, const struct comparison *s,
			 const struct metric m[N_SIDES], struct lens_sides *sides)
{
	sides->samples_known = s->run[SIDE_BEFORE].n == 1 && s->run[SIDE_AFTER].n == 1;
	sides->version = has->version;
	for (int side = 0; side < N_SIDES; side++)
		sides->samples[side] = has->samples[side][m[side].event.v];
}

static int find_lens(const struct presence *has, const struct comparison *s,
		     const struct profile *p, const struct comparison_choice *choice,
		     struct lens *l, struct err *e)
{
	struct lens_sides sides = {
		.reference = { ID_NONE },
		.normalise = choice->normalise,
		.automatic = choice->automatic,
		.shown = l->sides.shown,
		.moments = choice->level_ns > 0,
		.history = s->history,
	};
	struct metric m[N_SIDES] = { 0 };
	int rc = check_sides(has, s, e);

	if (!rc)
		rc = choose(has, p, s, choice, m, e);
	if (!rc)
		rc = find_reference(p, has, s, choice->reference, &sides.reference, e);
	if (rc)
		return rc;
	note_samples(has, s, m, &sides);
	fill_lens(s, p, m, &sides, l);
	set_times(l, choice);
	return 0;
}

int comparison_lens(const struct comparison *s, const struct profile *p,
		    const struct comparison_choice *choice, struct lens *l, struct err *e)
{
	struct profile_counts counts;
	struct presence *has;
	int rc;

	profile_counts_read(p, &counts);
	if (s->has && s->has->version == counts.version)
		return find_lens(s->has, s, p, choice, l, e);
	has = presence_new(s, p, &counts, NULL);
	rc = find_lens(has, s, p, choice, l, e);
	presence_free(has);
	return rc;
}
