/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Weights of allocations against a replay of the same events, block by block. */
#include "config.h"

#include "query/core/heap_aggregate.h"

#include "base/err.h"
#include "base/task.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"
#include "query/core/analysis_cache.h"
#include "query/core/filter.h"
#include "query/core/heap_pass.h"
#include "query/core/heap_sums_cache.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "tests/support/made_profile.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A filter, as text and as the replay knows it. */
static const struct choice {
	const char *filter;
	int thread;     /* -1: any */
	int stack_with; /* some frame of this stack's number; -1: any */
	int64_t from_ns, to_ns;
	bool outside;     /* not within these times */
	uint64_t least;   /* bytes of a block */
	int64_t brief_ns; /* it lived shorter; 0: however long */
	int temporary;    /* 1: it was, -1: it was not; 0: either */
} choices[] = {
	{ "", -1, -1, 0, INT64_MAX, false, 0, 0, 0 },
	{ "thread:worker", 1, -1, 0, INT64_MAX, false, 0, 0, 0 },
	{ "fn:f3", -1, 3, 0, INT64_MAX, false, 0, 0, 0 },
	{ "time:0.005,0.021", -1, -1, 5000000, 21000000, false, 0, 0, 0 },
	{ "!time:0.005,0.021", -1, -1, 5000000, 21000000, true, 0, 0, 0 },
	{ "thread:main fn:f0 time:0.01,", 0, 0, 10000000, INT64_MAX, false, 0, 0, 0 },
	{ "size:100,", -1, -1, 0, INT64_MAX, false, 100, 0, 0 },
	{ "lifetime:,300us", -1, -1, 0, INT64_MAX, false, 0, 300000, 0 },
	{ "time:0.005,0.021 size:100, fn:f3 !block:temporary", -1, 3, 5000000, 21000000, false, 100,
	  0, -1 },
};

/* Deeds before a time, as the profile's ticks know it: the tests' distances are above theirs. */
static uint32_t deeds_before(const struct story *s, int64_t since_ns)
{
	uint32_t from = 0, to = STORY_DEEDS;

	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (s->deed[middle].time_ns - s->deed[0].time_ns < since_ns)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* By what it is itself, whoever frees it. */
static bool is_such(const struct story *s, const struct choice *c, const struct block *b)
{
	/* Times are known by ticks: what happened within a stamp was at its first. */
	if (c->brief_ns > 0 && (b->died == UINT32_MAX ||
				s->deed[b->died].time_ns - s->deed[b->born].time_ns >= c->brief_ns))
		return false;
	return b->size >= c->least && (c->temporary == 0 || b->temporary == (c->temporary > 0));
}

static bool chosen(const struct story *s, const struct choice *c, const struct block *b)
{
	uint32_t with = (uint32_t)c->stack_with;
	bool within;

	if (c->thread >= 0 && b->thread != (uint32_t)c->thread)
		return false;
	if (c->stack_with >= 0 && (b->stack < with || b->stack / 3 != with / 3))
		return false;
	within = b->born >= deeds_before(s, c->from_ns) &&
		 (c->to_ns == INT64_MAX || b->born < deeds_before(s, c->to_ns));
	return within != c->outside;
}

/* The number of deeds after which most bytes are there. */
static uint32_t replay_peak(const struct story *s, const struct choice *c, bool mapped)
{
	int64_t live = 0, most = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < STORY_DEEDS; i++) {
		const struct block *b = &s->block[s->deed[i].block];

		if (b->mapped != mapped || !is_such(s, c, b) || !chosen(s, c, b))
			continue;
		live += s->deed[i].frees ? -(int64_t)b->size : (int64_t)b->size;
		if (live <= most)
			continue;
		most = live;
		at = i + 1;
	}
	return at;
}

static int64_t replay(const struct story *s, const struct choice *c, bool mapped, enum measure m,
		      int64_t cursor_ns, int stack)
{
	uint32_t at = m == MEASURE_LIVE && cursor_ns != INT64_MAX ? deeds_before(s, cursor_ns)
		      : m == MEASURE_GROWN && c->to_ns < INT64_MAX && !c->outside
			      ? deeds_before(s, c->to_ns)
		      : m == MEASURE_PEAK ? replay_peak(s, c, mapped)
					  : STORY_DEEDS;
	int64_t sum = 0;

	for (uint32_t i = 0; i < s->n_blocks; i++) {
		const struct block *b = &s->block[i];
		bool there = b->born < at && (b->died == UINT32_MAX || b->died >= at);
		struct block its_free = *b;
		int64_t size = (int64_t)b->size;

		if (!is_such(s, c, b))
			continue;
		if (m == MEASURE_FREED_BY) {
			if (b->died == UINT32_MAX || b->who_knows)
				continue;
			its_free.stack = b->by_stack;
			its_free.thread = b->by_thread;
			its_free.born = b->died;
			b = &its_free;
		}
		if (b->mapped != mapped || !chosen(s, c, b) || (int)b->stack != stack)
			continue;
		if (m == MEASURE_WEIGHT)
			sum += size;
		else if (m == MEASURE_SAMPLES)
			sum++;
		else if (m == MEASURE_FREED_BY)
			sum += size;
		else if (m == MEASURE_FREED)
			sum += b->died != UINT32_MAX ? size : 0;
		else if (m == MEASURE_TEMPORARY)
			sum += b->temporary;
		else
			sum += there ? size : 0;
	}
	return sum;
}

static void compare(const struct story *s, const struct choice *c, int64_t cursor_ns)
{
	struct profile_counts counts;
	struct weights w;
	struct lens l;

	profile_counts_read(s->p, &counts);
	for (int mapped = 0; mapped < 2; mapped++) {
		made_lens(&l, s->p, c->filter);
		l.cursor_ns = cursor_ns;
		l.n_columns = MEASURE_TEMPORARY + 1;
		for (uint32_t m = 0; m < l.n_columns; m++)
			l.column[m].metric = (struct metric){ s->event[mapped], (enum measure)m,
							      false };
		cr_assert_eq(aggregate(s->p, &counts, &l, NULL, &w), 0);
		for (uint32_t m = 0; m < l.n_columns; m++) {
			int64_t total = 0;

			for (int i = 0; i < STORY_STACKS; i++) {
				int64_t want = replay(s, c, mapped, (enum measure)m, cursor_ns, i);

				total += want;
				cr_assert_eq(w.stack[s->stack[i].v * l.n_columns + m], want,
					     "\"%s\" measure %u stack %d mapped %d", c->filter, m,
					     i, mapped);
			}
			cr_assert_eq(w.total[m], total);
			if (measure_is_level((enum measure)m) && m != MEASURE_LEAKED)
				continue;
			/* Of that, shares are told: the lens' filter changes nothing. */
			for (int i = 0; i < STORY_STACKS; i++)
				total -= replay(s, &choices[0], mapped, (enum measure)m, cursor_ns,
						i);
			cr_assert_eq(w.whole[m], w.total[m] - total, "\"%s\" measure %u", c->filter,
				     m);
		}
		weights_done(&w);
		lens_done(&l);
	}
}

/*
 * What is asked together decides how blocks are added up: without frees, and with a level first, those that are in no level
 * are added up by where they were handed out.
 */
static void compare_together(const struct story *s, const struct choice *c, int64_t cursor_ns)
{
	static const enum measure asked[] = { MEASURE_PEAK,      MEASURE_WEIGHT, MEASURE_SAMPLES,
					      MEASURE_TEMPORARY, MEASURE_LIVE,   MEASURE_FREED,
					      MEASURE_FREED_BY };
	enum { N = sizeof(asked) / sizeof(*asked) };
	struct weights w[2];
	struct profile_counts counts;
	struct lens l;

	profile_counts_read(s->p, &counts);
	made_lens(&l, s->p, c->filter);
	l.cursor_ns = cursor_ns;
	for (uint32_t m = 0; m < N; m++)
		l.column[m].metric = (struct metric){ s->event[0], asked[m], false };
	for (uint32_t k = 0; k < 2; k++) {
		l.n_columns = N - 1 + k;
		cr_assert_eq(aggregate(s->p, &counts, &l, NULL, &w[k]), 0);
		for (uint32_t i = 0; i < STORY_STACKS * (N - 1); i++)
			cr_assert_eq(
				w[k].stack[s->stack[i / (N - 1)].v * l.n_columns + i % (N - 1)],
				replay(s, c, 0, asked[i % (N - 1)], cursor_ns, (int)(i / (N - 1))),
				"\"%s\" measure %u", c->filter, asked[i % (N - 1)]);
	}
	cr_assert_arr_eq(w[0].slice, w[1].slice, sizeof(w[0].slice));
	for (uint32_t k = 0; k < 2; k++)
		weights_done(&w[k]);
	lens_done(&l);
}

/* What is drawn over time goes on beside what a filter of times lets pass. */
Test(heap_weigh, slices_do_not_know_of_times)
{
	static const char *const filters[][2] = { { "", "time:0.005,0.021" },
						  { "", "!time:0.005,0.021" },
						  { "fn:f3 size:100,",
						    "fn:f3 size:100, time:0.01,0.03" } };
	struct story *s = story_new(3);
	struct profile_counts counts;

	profile_counts_read(s->p, &counts);
	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++)
		for (unsigned m = 0; m <= MEASURE_TEMPORARY; m++) {
			struct weights w[2];

			for (int k = 0; k < 2; k++) {
				struct lens l;

				made_lens(&l, s->p, filters[i][k]);
				l.column[0].metric = (struct metric){ s->event[0], (enum measure)m,
								      false };
				cr_assert_eq(aggregate(s->p, &counts, &l, NULL, &w[k]), 0);
				lens_done(&l);
			}
			cr_expect_arr_eq(w[0].slice, w[1].slice, sizeof(w[0].slice),
					 "\"%s\" measure %u", filters[i][1], m);
			for (int k = 0; k < 2; k++)
				weights_done(&w[k]);
		}
	story_free(s);
}

Test(heap_weigh, weights_are_those_of_a_replay)
{
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct story *s = story_new(seed);
		unsigned lot = seed;

		for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
			compare(s, &choices[i], INT64_MAX);
			compare(s, &choices[i], 0);
			/* Anywhere, also behind the end. */
			for (int k = 0; k < 4; k++)
				compare(s, &choices[i], made_number(&lot, 42000) * INT64_C(1000));
			compare_together(s, &choices[i], INT64_MAX);
			compare_together(s, &choices[i], made_number(&lot, 42000) * INT64_C(1000));
		}
		story_free(s);
	}
}

/* N blocks of a size, each recorded by chance, as a recorder that samples by bytes does it. */
Test(heap_weigh, sampled_blocks_stand_for_all)
{
	static const uint64_t sizes[] = { 8, 100, 1000, 4096, 100000 };
	const double mean = 2000;
	const unsigned n = 200000;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct profile *p = profile_new();
		double exact = n, error;
		unsigned state = 7, n_kept = 0;
		struct profile_counts counts;
		struct heap_origin o = { .thread = ID_NONE };
		struct weights w;
		struct lens l;
		origin_id from;
		track_id t;

		builder_begin(p);
		t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), mean,
				     50000);
		o.event = (uint16_t)build_heap_event(p, "malloc").v;
		from = build_heap_origin(p, &o);
		for (unsigned j = 0; j < n; j++) {
			double lot = (double)made_number(&state, 1u << 20) / (1u << 20);

			build_moment(p, t, j);
			if (sizes[i] < 50000 && lot >= -expm1(-(double)sizes[i] / mean))
				continue;
			build_allocation(p, t, sizes[i], from);
			n_kept++;
		}
		builder_end(p);
		made_lens(&l, p, "");
		l.n_columns = 2;
		l.column[0].metric.event.v = l.column[1].metric.event.v = o.event;
		l.column[1].metric.measure = MEASURE_SAMPLES;
		profile_counts_read(p, &counts);
		cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
		error = 5 * exact / sqrt(n_kept);
		cr_assert_float_eq((double)w.total[1] / (double)w.scale[1], exact, error);
		cr_assert_float_eq((double)w.total[0], exact * (double)sizes[i],
				   error * (double)sizes[i]);
		weights_done(&w);
		lens_done(&l);
		profile_free(p);
	}
}

/* Whatever distance a trace claims, blocks of many stacks add up to what 63 bits hold, in tables and in trees. */
Test(heap_weigh, hostile_distances_stay_within_numbers)
{
	static const enum measure measures[] = { MEASURE_WEIGHT, MEASURE_SAMPLES, MEASURE_PEAK };

	for (size_t i = 0; i < sizeof(measures) / sizeof(*measures); i++) {
		struct profile *p = profile_new();
		struct heap_origin o = { .thread = ID_NONE };
		location_id l_of[2];
		struct lens l;
		track_id t;

		builder_begin(p);
		t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1),
				     (double)SAMPLE_BYTES_MOST, 0);
		o.event = (uint16_t)build_heap_event(p, "malloc").v;
		for (int f = 0; f < 2; f++)
			l_of[f] = build_symbol_location(
				p, build_function(p, build_cstring(p, f ? "f" : "g"),
						  (module_id){ 0 }, 0, (string_id){ 0 }, 0));
		for (unsigned j = 0; j < 5000; j++) {
			if (j < 64)
				o.stack = build_stack(p, (stack_id){ o.stack }, l_of[j % 2]).v;
			build_moment(p, t, j);
			build_allocation(p, t, 1 + j % 3, build_heap_origin(p, &o));
		}
		builder_end(p);
		made_lens(&l, p, "");
		l.column[0].metric = (struct metric){ { o.event }, measures[i], false };
		for (unsigned tree = 0; tree < 2; tree++) {
			struct analysis *a;
			int64_t sum = 0;

			cr_assert_eq(analysis_new_parts(p, &l, tree ? ANALYSIS_TREE : 0, NULL, &a),
				     0);
			cr_assert_gt(a->weights.total[0], INT64_MAX / 8);
			for (uint32_t r = 0; r < a->table.n_rows; r++) {
				cr_assert_geq(a->table.self[r], 0);
				cr_assert_geq(a->table.total[r], a->table.self[r]);
				cr_assert(!__builtin_add_overflow(sum, a->table.self[r], &sum));
			}
			cr_assert_eq(sum, a->weights.total[0]);
			analysis_free(a);
		}
		lens_done(&l);
		profile_free(p);
	}
}

Test(heap_weigh, what_was_only_counted_is_in_totals_and_never_live)
{
	static const int64_t wanted[] = {
		[MEASURE_WEIGHT] = 5064,  [MEASURE_SAMPLES] = 51, [MEASURE_LIVE] = 64,
		[MEASURE_PEAK] = 64,      [MEASURE_LEAKED] = 64,  [MEASURE_FREED] = 5000,
		[MEASURE_TEMPORARY] = 40, [MEASURE_GROWN] = 64,   [MEASURE_FREED_BY] = 0,
	};
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	struct heap_bulk bulk = { .calls = 50, .bytes = 5000, .temporary = 40 };
	struct profile_counts counts;
	struct weights w;
	struct lens l;
	track_id t;

	builder_begin(p);
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, 0);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	bulk.origin = build_heap_origin(p, &o).v;
	build_moment(p, t, 5);
	build_allocation(p, t, 64, (origin_id){ bulk.origin });
	build_bulk(p, &bulk);
	builder_end(p);
	profile_counts_read(p, &counts);
	made_lens(&l, p, "");
	l.n_columns = MEASURE_TEMPORARY + 1;
	for (uint32_t m = 0; m < l.n_columns; m++)
		l.column[m].metric = (struct metric){ { o.event }, (enum measure)m, false };
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	for (uint32_t m = 0; m < l.n_columns; m++)
		cr_assert_eq(w.total[m], wanted[m], "measure %u", m);
	cr_assert_eq(w.n_samples, 51);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

static const struct {
	const char *measure, *name; /* NULL: there is no such measure */
} measures[] = {
	{ "", "malloc bytes" },      { "bytes", "malloc bytes" },
	{ "calls", "malloc calls" }, { "live", "malloc live" },
	{ "peak", "malloc peak" },   { "leaked", "malloc leaked" },
	{ "freed", "malloc freed" }, { "period", NULL },
	{ "samples", NULL },         { "temporary", "malloc temporary" },
	{ "grown", "malloc grown" }, { "freed-by", NULL }, /* of no recording with free stacks */
};

Test(heap_weigh, measures_have_names)
{
	struct profile *p = profile_new();

	builder_begin(p);
	build_heap_event(p, "malloc");
	builder_end(p);
	for (size_t i = 0; i < sizeof(measures) / sizeof(*measures); i++) {
		struct metric m;
		struct err e;
		char *name;
		int rc = metric_find(p, "mal", measures[i].measure, &m, &e);

		cr_assert_eq(rc == 0, measures[i].name != NULL, "%s", measures[i].measure);
		if (rc < 0)
			continue;
		name = metric_name(p, m);
		cr_assert_str_eq(name, measures[i].name);
		free(name);
	}
	profile_free(p);
}

/* So many that several threads share the pass: each block is 8 bytes more than the last, every third stays. */
/* m goes through the measures of an event that has allocations, and past one that has none. */
Test(heap_weigh, an_event_without_allocations_is_passed_over)
{
	struct story *s = story_new(13);
	struct metric m = { s->event[0], MEASURE_TEMPORARY, false };
	event_id empty;

	builder_begin(s->p);
	empty = build_heap_event(s->p, "brk");
	builder_end(s->p);
	m = metric_next(s->p, m, NULL);
	cr_expect_eq(m.event.v, s->event[1].v);
	m.measure = MEASURE_TEMPORARY;
	m = metric_next(s->p, m, NULL);
	cr_expect_eq(m.event.v, s->event[0].v);
	cr_expect_eq(m.measure, MEASURE_WEIGHT);
	cr_expect_eq(
		metric_next(s->p, (struct metric){ empty, MEASURE_TEMPORARY, false }, NULL).event.v,
		s->event[0].v);
	story_free(s);
}

Test(heap_weigh, many_are_weighed_by_several_threads)
{
	enum { MANY = 600000 };
	static const enum measure asked[] = { MEASURE_SAMPLES, MEASURE_WEIGHT, MEASURE_LEAKED,
					      MEASURE_PEAK,    MEASURE_FREED,  MEASURE_TEMPORARY };
	int64_t expected[6] = { MANY };
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	struct profile_counts counts;
	struct weights w;
	struct lens l;
	track_id track;
	origin_id who;

	builder_begin(p);
	track = build_heap_track(p, build_process(p, build_capture(p, "x", "heap"), 1), 0, 0);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	o.stack = build_stack(p, (stack_id){ 0 }, build_comm_location(p, build_cstring(p, "x"))).v;
	o.track = (uint16_t)track.v;
	who = build_heap_origin(p, &o);
	for (uint32_t i = 0; i < MANY; i++) {
		int64_t size = i % 1000 * 8;
		allocation_id a;

		build_moment(p, track, i * 2000);
		a = build_allocation(p, track, (uint64_t)size, who);
		expected[1] += size;
		expected[i % 3 ? 4 : 2] += size;
		expected[3] = i % 3 ? expected[3] : expected[2];
		expected[5] += i % 3 == 1;
		if (i % 3 == 0)
			continue;
		expected[3] = expected[2] + size > expected[3] ? expected[2] + size : expected[3];
		build_moment(p, track, i * 2000 + 500);
		build_release(p, a, track, i % 3 == 1, (origin_id){ ID_NONE });
	}
	builder_end(p);
	profile_counts_read(p, &counts);
	made_lens(&l, p, "");
	l.n_columns = 6;
	/* With what was leaked first, what is in no level is added up by where it was handed out. */
	for (int first = 0; first < 4; first += 2) {
		for (int i = 0; i < 6; i++)
			l.column[i].metric =
				(struct metric){ { o.event }, asked[(first + i) % 6], false };
		cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
		for (int i = 0; i < 6; i++) {
			cr_expect_eq(w.total[i], expected[(first + i) % 6], "column %d: %lld", i,
				     (long long)w.total[i]);
			cr_expect_eq(w.whole[i], expected[(first + i) % 6]);
		}
		cr_expect_eq(w.samples[o.stack], first ? MANY / 3 : MANY);
		if (first)
			cr_expect_eq(w.slice[WEIGH_N_SLICES - 1], expected[2]);
		weights_done(&w);
	}
	lens_done(&l);
	profile_free(p);
}

/* By each stack's innermost function, which is of that stack alone. */
static double change_of(const struct diff *d, int stack)
{
	const struct analysis *a = d->analysis;
	char name[16];

	snprintf(name, sizeof(name), "f%d", stack);
	for (uint32_t i = 0; i < a->table.n_rows; i++)
		if (strcmp(a->table_keys->key[a->table.key[i]].label, name) == 0)
			return diff_change(&d->row_self[i]);
	return 0;
}

/* What differs between two threads of a heap, stack by stack: a subtraction of what a replay has of either. */
Test(heap_weigh, differences_are_those_of_two_replays)
{
	static const char *const words[] = {
		[MEASURE_WEIGHT] = "bytes",        [MEASURE_SAMPLES] = "calls",
		[MEASURE_LIVE] = "live",           [MEASURE_PEAK] = "peak",
		[MEASURE_LEAKED] = "leaked",       [MEASURE_FREED] = "freed",
		[MEASURE_TEMPORARY] = "temporary", [MEASURE_GROWN] = "grown",
		[MEASURE_FREED_BY] = "freed-by"
	};
	const struct choice before = { "", 0, -1, 0, INT64_MAX, false, 0, 0, 0 },
			    after = { "", 1, -1, 0, INT64_MAX, false, 0, 0, 0 };

	for (unsigned seed = 1; seed <= 6; seed++) {
		struct story *s = story_new(seed);
		struct comparison sides = { 0 };

		cr_assert_eq(comparison_add(&sides, SIDE_BEFORE, "thread:main", NULL), 0);
		cr_assert_eq(comparison_add(&sides, SIDE_AFTER, "thread:worker", NULL), 0);
		for (int m = MEASURE_WEIGHT; m <= MEASURE_TEMPORARY; m++) {
			const struct comparison_choice choice = { .event = "malloc",
								  .metric = words[m] };
			int64_t whole = 0;
			struct analysis *a;
			struct lens l;

			made_lens(&l, s->p, "");
			cr_assert_eq(comparison_lens(&sides, s->p, &choice, &l, NULL), 0);
			cr_assert_eq(analysis_new(s->p, &l, NULL, &a), 0);
			for (int i = 0; i < STORY_STACKS; i++) {
				int64_t want =
					replay(s, &after, false, (enum measure)m, INT64_MAX, i) -
					replay(s, &before, false, (enum measure)m, INT64_MAX, i);

				whole += want;
				cr_assert_eq(change_of(a->diff, i), (double)want,
					     "%s of f%d, seed %u", words[m], i, seed);
			}
			cr_assert_eq(diff_change(&a->diff->whole), (double)whole);
			analysis_free(a);
			lens_done(&l);
		}
		comparison_done(&sides);
		story_free(s);
	}
}

/* Two sides of a story, by filters; the lens' own filter may speak of times, too. */
static void lens_of_sides(struct lens *l, const struct story *s, const char *const *filter,
			  const struct metric *metric, int64_t cursor_ns)
{
	struct lens side;

	made_lens(l, s->p, filter[0]);
	l->cursor_ns = cursor_ns;
	l->n_columns = 3;
	l->sides = (struct lens_sides){ .n_runs = { 1, 1 }, .reference = { ID_NONE } };
	for (int c = 0; c < 3; c++)
		l->column[c].metric = *metric;
	for (int c = 1; c < 3; c++) {
		made_lens(&side, s->p, filter[c]);
		l->column[c].filter = side.filter;
		side.filter = NULL;
		lens_done(&side);
	}
}

static void assert_same_weights(const struct weights *a, const struct weights *b, int step)
{
	size_t n = (size_t)a->n_stacks * a->n_columns;
	struct weights x = *a, y = *b;

	cr_assert_arr_eq(a->stack, b->stack, n * sizeof(*a->stack), "step %d", step);
	cr_assert_arr_eq(a->samples, b->samples, a->n_stacks * sizeof(*a->samples), "step %d",
			 step);
	x.stack = y.stack = NULL;
	x.samples = y.samples = NULL;
	x.passing = y.passing = NULL;
	cr_assert_arr_eq(&x, &y, sizeof(x), "step %d", step);
}

/* A table by threads or events that asks for what is kept, against one that asks for nothing. */
static void assert_same_table(const struct profile *p, const struct profile_counts *counts,
			      const struct lens *kept, enum grouping grouping, int step)
{
	struct lens l = *kept;
	struct table anew, again;
	struct groups keys;
	size_t bytes;

	groups_init(&keys, p, counts, grouping);
	cr_assert_eq(table_of_samples(p, counts, &l, &keys, NULL, &again), 0);
	l.cache = NULL;
	cr_assert_eq(table_of_samples(p, counts, &l, &keys, NULL, &anew), 0);
	bytes = (size_t)anew.n_rows * anew.n_columns * sizeof(*anew.total);
	cr_assert_eq(again.n_rows, anew.n_rows, "step %d", step);
	cr_assert_arr_eq(again.key, anew.key, anew.n_rows * sizeof(*anew.key), "step %d", step);
	cr_assert_arr_eq(again.total, anew.total, bytes, "step %d", step);
	cr_assert_arr_eq(again.n_samples, anew.n_samples, anew.n_rows * sizeof(*anew.n_samples),
			 "step %d", step);
	table_done(&anew);
	table_done(&again);
	groups_done(&keys);
}

Test(heap_weigh, what_is_kept_is_as_made_anew)
{
	static const char *const filters[][3] = {
		{ "", "fn:f1", "!fn:f1" },       { "", "fn:f3", "!fn:f3" },
		{ "fn:f4", "fn:f1", "!fn:f1" },  { "", "", "fn:f2" },
		{ "fn:none", "fn:f1", "fn:f3" }, { "time:2ms,9ms", "fn:f1", "!fn:f1" },
	};
	struct story *s = story_new(11);
	struct heap_sums_cache *kept = heap_sums_cache_new();
	const struct analysis_cache cache = { .heap = kept };
	struct profile_counts counts;
	unsigned lot = 5, at = 0;
	int64_t cursor_ns = INT64_MAX;

	profile_counts_read(s->p, &counts);
	for (int step = 0; step < 400; step++) {
		struct metric m = { s->event[made_number(&lot, 8) == 0],
				    (enum measure)made_number(&lot, MEASURE_TEMPORARY + 1), false };
		struct weights anew, again;
		struct progress stop = { 0 };
		struct lens l;

		if (made_number(&lot, 6) == 0)
			at = made_number(&lot, sizeof(filters) / sizeof(*filters));
		if (made_number(&lot, 9) == 0)
			cursor_ns = made_number(&lot, 20) * 1000000;
		lens_of_sides(&l, s, filters[at], &m, cursor_ns);
		/* What is no comparison keeps peaks alone. */
		if (made_number(&lot, 3) == 0)
			l.sides = (struct lens_sides){ .reference = { ID_NONE } };
		cr_assert_eq(aggregate(s->p, &counts, &l, NULL, &anew), 0);
		l.cache = &cache;
		/* What was cancelled leaves nothing half. */
		progress_cancel(&stop);
		if (made_number(&lot, 4) == 0 && aggregate(s->p, &counts, &l, &stop, &again) <= 0)
			weights_done(&again);
		if (made_number(&lot, 3) == 0)
			assert_same_table(s->p, &counts, &l, GROUP_EVENT, step);
		cr_assert_eq(aggregate(s->p, &counts, &l, NULL, &again), 0);
		if (made_number(&lot, 3) == 0)
			assert_same_table(s->p, &counts, &l, GROUP_THREAD, step);
		assert_same_weights(&anew, &again, step);
		weights_done(&anew);
		weights_done(&again);
		lens_done(&l);
	}
	heap_sums_cache_free(kept);
	story_free(s);
}
