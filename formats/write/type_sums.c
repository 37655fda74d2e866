/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An event of samples is two types, how many samples and what they weigh; where rows are sums or counts already, one. An event of a
 * heap is five.
 */
#include "config.h"

#include "formats/write/type_sums.h"

#include "base/hash.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "query/core/sample_scan.h"

#include <stdlib.h>
#include <string.h>

#define NO_TYPE UINT32_MAX

/* Which types an event is. */
struct event_types {
	uint32_t count, weight; /* or NO_TYPE */
	uint32_t heap;          /* the first of N_HEAP_TYPES, or NO_TYPE */
	int64_t scale;          /* of its weights */
};

#define N_HEAP_TYPES 5

/* Sums. */

static bool same_sum(const void *things, uint32_t value, const void *key)
{
	const struct type_sum *s = (const struct type_sum *)things + value, *k = key;

	return s->stack == k->stack && s->thread == k->thread;
}

static int64_t *values_of(struct type_sums *s, uint32_t stack, uint32_t thread)
{
	struct type_sum key = { stack, thread };
	uint64_t hash = hash_pair(stack, thread);
	uint32_t i = map_find(&s->by_key, hash, same_sum, s->sums.at, &key);

	if (i == MAP_NONE) {
		i = (uint32_t)s->sums.n;
		map_add(&s->by_key, hash, i);
		vec_push(&s->sums, key);
		for (size_t k = 0; k < s->types.n; k++)
			vec_push(&s->values, 0);
	}
	return &s->values.at[(size_t)i * s->types.n];
}

static void add(int64_t *to, int64_t value)
{
	if (__builtin_add_overflow(*to, value, to))
		*to = value < 0 ? INT64_MIN : INT64_MAX;
}

/* Types. */

static uint32_t add_type(struct type_sums *s, char *name, enum unit unit)
{
	vec_push(&s->types, ((struct sum_type){ name, unit }));
	return (uint32_t)s->types.n - 1;
}

static uint32_t count_events(const struct analysis *a)
{
	uint32_t n = 0;

	for (uint16_t i = 0; i < a->counts.n_events; i++)
		n += !profile_event(a->profile, (event_id){ i })->is_heap;
	return n;
}

static struct event_types types_of(struct type_sums *s, const struct analysis *a, uint16_t event)
{
	const struct event *e = profile_event(a->profile, (event_id){ event });
	const char *name = profile_string(a->profile, e->name, NULL);
	bool counted = e->is_counted || e->is_summed;
	struct event_types t = { NO_TYPE, NO_TYPE, NO_TYPE, e->scale };
	bool shown = a->lens.column[0].metric.event.v == event;

	if (!counted)
		t.count = add_type(
			s, count_events(a) > 1 ? xasprintf("%s:samples", name) : xstrdup("samples"),
			UNIT_COUNT);
	if (e->has_weight)
		t.weight = add_type(s, xstrdup(name), e->unit);
	if (shown)
		s->shown = t.weight != NO_TYPE && a->lens.column[0].metric.measure == MEASURE_WEIGHT
				   ? t.weight
			   : t.count != NO_TYPE ? t.count
						: t.weight;
	return t;
}

/* pprof's words for what Go and tcmalloc have, and one that they have not. */
static const struct heap_type {
	const char *name;
	enum unit unit;
	enum measure measure;
	bool blocks; /* it counts these where the measure has bytes */
} heap_types[N_HEAP_TYPES] = { { "alloc_objects", UNIT_COUNT, MEASURE_SAMPLES, false },
			       { "alloc_space", UNIT_BYTES, MEASURE_WEIGHT, false },
			       { "inuse_objects", UNIT_COUNT, MEASURE_LEAKED, true },
			       { "inuse_space", UNIT_BYTES, MEASURE_LEAKED, false },
			       { "peak_space", UNIT_BYTES, MEASURE_PEAK, false } };

static struct event_types heap_types_of(struct type_sums *s, const struct analysis *a,
					uint16_t event)
{
	struct metric m = a->lens.column[0].metric;
	string_id id = profile_event(a->profile, (event_id){ event })->name;
	const char *name = profile_string(a->profile, id, NULL);
	bool plain = strcmp(name, "malloc") == 0;
	struct event_types t = { NO_TYPE, NO_TYPE, (uint32_t)s->types.n, 1 };

	for (size_t i = 0; i < N_HEAP_TYPES; i++) {
		const struct heap_type *h = &heap_types[i];
		uint32_t type = add_type(
			s, plain ? xstrdup(h->name) : xasprintf("%s:%s", name, h->name), h->unit);

		if (m.event.v == event && m.measure == h->measure && !h->blocks)
			s->shown = type;
	}
	return t;
}

/*
 * Of a heap that was read from such types, their sums are there as events, too: these are written. True: the one
 * recording has them.
 */
static bool has_heap_sums(const struct analysis *a)
{
	for (uint16_t i = 0; i < a->counts.n_events && a->counts.n_captures == 1; i++) {
		const struct event *e = profile_event(a->profile, (event_id){ i });

		if (e->is_summed &&
		    strcmp(profile_string(a->profile, e->name, NULL), "inuse_space") == 0)
			return true;
	}
	return false;
}

/* What is shown of such a heap is what was in use, or else a number of all that was allocated. */
static void show_heap_sums(struct type_sums *s, const struct analysis *a)
{
	const char *name = "inuse_space";

	if (!metric_is_heap(a->profile, a->lens.column[0].metric))
		return;
	for (size_t i = 0; i < N_HEAP_TYPES; i++)
		if (heap_types[i].measure == a->lens.column[0].metric.measure &&
		    !heap_types[i].blocks && heap_types[i].measure != MEASURE_PEAK)
			name = heap_types[i].name;
	for (size_t i = 0; i < s->types.n; i++)
		if (strcmp(s->types.at[i].name, name) == 0)
			s->shown = (uint32_t)i;
}

/* Samples. */

static void add_row(struct type_sums *s, const struct event_types *types,
		    const struct sample_scan *r, uint64_t i)
{
	const struct sample_rows *rows = &r->rows;
	const struct event_types *t = &types[sample_rows_event(rows, i)];
	int64_t weight = rows->weight ? rows->weight[i] : t->scale;
	int64_t *values = values_of(s, rows->stack[i], sample_rows_thread(rows, i));

	if (t->count != NO_TYPE)
		add(&values[t->count], (int64_t)sample_scan_count(r, i));
	if (t->weight != NO_TYPE)
		add(&values[t->weight], weight);
}

static int add_samples(struct type_sums *s, const struct analysis *a,
		       const struct event_types *types)
{
	struct sample_scan *r;
	int rc = sample_scan_new(a->profile, &a->counts, &a->lens, NULL, &r);

	if (rc)
		return rc;
	while ((rc = sample_scan_next(r, NULL)) > 0) {
		const bool *passes = sample_scan_lens(r);

		for (uint64_t i = 0; i < r->n; i++)
			if (!passes || passes[i])
				add_row(s, types, r, i);
	}
	sample_scan_free(r);
	return rc;
}

/* Fractions, of folded stacks, are rounded only when they have been added up. */
static void unscale(struct type_sums *s, const struct event_types *types, uint32_t n_events)
{
	for (uint32_t e = 0; e < n_events; e++) {
		int64_t scale = types[e].scale;

		for (size_t i = 0; i < s->sums.n && scale > 1 && types[e].weight != NO_TYPE; i++) {
			int64_t *v = &s->values.at[i * s->types.n + types[e].weight];

			*v = *v / scale + (*v % scale >= (scale + 1) / 2);
		}
	}
}

/* Heaps. */

static int add_heap(struct type_sums *s, const struct analysis *a, uint16_t event, uint32_t first)
{
	struct lens l = { .filter = a->lens.filter,
			  .n_columns = N_HEAP_TYPES,
			  .inlines = a->lens.inlines,
			  .cursor_ns = a->lens.cursor_ns };
	struct weights sums;
	int rc;

	for (uint32_t i = 0; i < N_HEAP_TYPES; i++) {
		l.column[i].metric = (struct metric){ { event }, heap_types[i].measure, false };
		l.column[i].blocks = heap_types[i].blocks;
	}
	rc = aggregate(a->profile, &a->counts, &l, NULL, &sums);
	for (uint32_t stack = 0; rc == 0 && stack < sums.n_stacks; stack++)
		for (uint32_t i = 0; i < N_HEAP_TYPES; i++) {
			int64_t v = sums.stack[(size_t)stack * N_HEAP_TYPES + i];

			if (v != 0)
				add(&values_of(s, stack, ID_NONE)[first + i], v / sums.scale[i]);
		}
	weights_done(&sums);
	return rc;
}

int type_sums_make(struct type_sums *s, const struct analysis *a)
{
	struct event_types *types = xcalloc(a->counts.n_events + 1u, sizeof(*types));
	bool heap_sums = has_heap_sums(a);
	int rc;

	*s = (struct type_sums){ 0 };
	for (uint16_t i = 0; i < a->counts.n_events; i++) {
		types[i] = (struct event_types){ NO_TYPE, NO_TYPE, NO_TYPE, 1 };
		if (!profile_event(a->profile, (event_id){ i })->is_heap)
			types[i] = types_of(s, a, i);
		else if (!heap_sums)
			types[i] = heap_types_of(s, a, i);
	}
	if (heap_sums)
		show_heap_sums(s, a);
	rc = add_samples(s, a, types);
	unscale(s, types, a->counts.n_events);
	for (uint16_t i = 0; i < a->counts.n_events && rc == 0; i++)
		if (types[i].heap != NO_TYPE)
			rc = add_heap(s, a, i, types[i].heap);
	free(types);
	return rc;
}

void type_sums_done(struct type_sums *s)
{
	for (size_t i = 0; i < s->types.n; i++)
		free(s->types.at[i].name);
	vec_done(&s->types);
	vec_done(&s->sums);
	vec_done(&s->values);
	map_done(&s->by_key);
}
