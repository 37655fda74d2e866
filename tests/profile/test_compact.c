/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old samples that became fewer rows: every answer is what it was, and memory does not grow. */
#include "config.h"

#include "profile/builder.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_SEEDS 40
#define SECOND  INT64_C(1000000000)

/* What builder_end() finds too many of; times of profiles by lot are below 1000. */
static void fold_now(struct profile *p, int64_t keep_ns, uint64_t most)
{
	build_folding(p,
		      &(struct build_folding){ .keep_ns = keep_ns, .n_rows = 1, .n_folded = most });
	builder_begin(p);
	cr_assert_eq(builder_end(p), 0);
}

static uint64_t n_rows(const struct profile *p)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	return counts.n_samples;
}

/* Columns of weights, of counts, and of the squares of weights. */
static void four_columns(struct lens *l, const struct profile *p, const char *filter)
{
	made_lens(l, p, filter);
	l->n_columns = 4;
	l->column[1].metric.event.v = 1;
	l->column[2].metric.measure = MEASURE_SAMPLES;
	l->column[3].squares = true;
}

static void expect_same(const struct profile *p, const struct profile *q, const char *filter)
{
	struct lens l, m;
	struct analysis *a, *b;

	four_columns(&l, p, filter);
	four_columns(&m, q, filter);
	a = made_analysis(p, &l);
	b = made_analysis(q, &m);
	cr_expect_eq(a->weights.n_samples, b->weights.n_samples, "%s", filter);
	for (int c = 0; c < 4; c++) {
		cr_expect_eq(a->weights.total[c], b->weights.total[c], "%s, column %d: %ld, %ld",
			     filter, c, (long)a->weights.total[c], (long)b->weights.total[c]);
		cr_expect_eq(a->weights.whole[c], b->weights.whole[c], "%s", filter);
	}
	cr_assert_eq(a->tree->n_nodes, b->tree->n_nodes, "%s", filter);
	cr_expect_arr_eq(a->tree->self, b->tree->self,
			 (size_t)a->tree->n_nodes * 4 * sizeof(*a->tree->self), "%s", filter);
	cr_assert_eq(a->table.n_rows, b->table.n_rows, "%s", filter);
	cr_expect_arr_eq(a->table.n_samples, b->table.n_samples,
			 a->table.n_rows * sizeof(*a->table.n_samples), "%s", filter);
	analysis_free(a);
	analysis_free(b);
	lens_done(&l);
	lens_done(&m);
}

/* Times are kept where something is counted from them; everything else does not ask for times. */
Test(fold, changes_no_answer)
{
	static const char *const filters[] = {
		"",
		"fn:a",
		"!module:x",
		"thread:t1",
		"cpu:1-2",
		"leaf:b",
		"event:cycles",
		"!event:cycles",
		"focus:a",
		"merge:b recursion:all",
		"pid:1",
		"time:0.0000002,0.0000006",
		"time:0.0000006,",
		"time:0,0.0000002",
	};
	uint64_t n_less = 0;

	for (unsigned seed = 1; seed <= N_SEEDS; seed++) {
		struct profile *p = made_profile_of_one_capture(seed, 300),
			       *q = p ? made_profile_of_one_capture(seed, 300) : NULL;
		int64_t begin;

		if (!p)
			continue;
		begin = capture_begin(profile_capture(q, (capture_id){ 0 }));
		profile_fences(q, (int64_t[]){ begin + 200, begin + 600 });
		fold_now(q, 100, UINT32_MAX);
		n_less += n_rows(p) - n_rows(q);
		for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
			expect_same(p, q, filters[i]);
		/* What was folded is folded again. */
		fold_now(q, 1, UINT32_MAX);
		for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
			expect_same(p, q, filters[i]);
		profile_free(p);
		profile_free(q);
	}
	cr_assert_gt(n_less, 100u);
}

/* An analysis is of what was there when it was made, and may be asked more of. */
Test(fold, leaves_alone_what_is_held)
{
	struct profile *p = made_profile("a;b 3 t=1 event=cycles\na;b 4 t=2 event=cycles\n"
					 "a;c 5 t=900 event=cycles\n");
	struct sample_columns before, held;
	struct profile_counts counts, now;

	profile_hold(p, &counts);
	profile_samples_of(p, &counts, &before);
	fold_now(p, 100, UINT32_MAX);
	profile_counts_read(p, &now);
	cr_expect_eq(now.n_samples, 2);
	cr_expect_eq(now.n_taken, 3);
	cr_expect_neq(now.generation, counts.generation);
	profile_samples_of(p, &counts, &held);
	cr_expect_eq(held.stack, before.stack);
	cr_expect_eq(held.weight[1], 4, "it can still be read");
	profile_hold_also(p, &counts);
	profile_release(p, &counts);
	cr_expect_eq(held.weight[0], 3);
	profile_release(p, &counts);
	profile_samples_of(p, &now, &held);
	cr_expect_eq(held.weight[0], 7);
	cr_expect_eq(held.count[0], 2);
	cr_expect_float_eq(held.square[0], 25, 1e-9);
	cr_expect_eq(held.n_folded, 1);
	profile_free(p);
}

/* What was two minutes long and is one row is not one moment on screens. */
Test(fold, spreads_over_the_time_that_it_was)
{
	struct profile *p = made_profile("a 100 t=0\n"), *q;
	struct weights w;
	struct lens l;
	size_t n = 0;

	profile_free(p);
	p = profile_new();
	builder_begin(p);
	build_capture(p, "x", "made");
	build_event(p, "e", UNIT_COUNT, false);
	for (int i = 0; i < 1200; i++)
		build_sample(p, &(struct sample){ .thread = { ID_NONE },
						  .cpu = CPU_NONE,
						  .weight = 1,
						  .time_ns = i * SECOND / 10 });
	builder_end(p);
	q = p;
	fold_now(q, SECOND, 4);
	cr_assert_leq(n_rows(q), 11u + 11u);
	made_lens(&l, q, "");
	{
		struct analysis *a = made_analysis(q, &l);

		w = a->weights;
		for (size_t i = 0; i < WEIGH_N_SLICES; i++)
			n += w.slice[i] > 0;
		cr_expect_gt(n, (size_t)WEIGH_N_SLICES / 2, "%zu", n);
		cr_expect_eq(w.total[0], 1200);
		analysis_free(a);
	}
	lens_done(&l);
	profile_free(q);
}

#define BURSTS UINT32_MAX

/*
 * One sample in a hundredth of a second for ten minutes, of n_stacks stacks by lot; 0: each of its own; BURSTS: each other one of 4000,
 * and between them one stack in each second. Folded on the way.
 */
static struct profile *made_even(uint32_t n_stacks)
{
	enum { N = 60000, BATCH = 2500 };
	struct profile *p = profile_new();
	unsigned state = 3;

	build_folding(p, &(struct build_folding){
				 .keep_ns = 60 * SECOND, .n_rows = 4096, .n_folded = 2048 });
	builder_begin(p);
	build_capture(p, "x", "made");
	build_event(p, "e", UNIT_COUNT, false);
	for (uint32_t i = 0; i < N; i++) {
		uint32_t lot = made_number(&state, n_stacks == BURSTS ? 4000 : n_stacks + 1);
		uint32_t of = n_stacks == 0 ? i : lot;
		char name[32];

		if (n_stacks == BURSTS)
			of = i % 2 ? lot : 4000 + i / 100;
		snprintf(name, sizeof(name), "f%u", of);
		build_sample(p, &(struct sample){
					.stack = build_stack(
						p, (stack_id){ 0 },
						build_comm_location(p, build_cstring(p, name))),
					.thread = { ID_NONE },
					.cpu = CPU_NONE,
					.weight = 1,
					.time_ns = i * (SECOND / 100) });
		if (i % BATCH != BATCH - 1)
			continue;
		cr_assert_eq(builder_end(p), 0);
		builder_begin(p);
	}
	builder_end(p);
	return p;
}

/* A program that does the same all the time, by any number of stacks, looks like that however old it is. */
Test(fold, keeps_even_what_was_even)
{
	enum { PARTS = 16 };
	static const uint32_t n_stacks[] = { 40, 4000, 0, BURSTS };

	for (size_t k = 0; k < sizeof(n_stacks) / sizeof(n_stacks[0]); k++) {
		struct profile *p = made_even(n_stacks[k]);
		int64_t part[PARTS] = { 0 };
		struct analysis *a;
		struct lens l;

		made_lens(&l, p, "");
		a = made_analysis(p, &l);
		for (size_t i = 0; i < WEIGH_N_SLICES; i++)
			part[i * PARTS / WEIGH_N_SLICES] += a->weights.slice[i];
		for (int i = 0; i < PARTS; i++)
			cr_expect(part[i] > 60000 / PARTS * 9 / 10 &&
					  part[i] < 60000 / PARTS * 11 / 10,
				  "%u stacks, part %d: %ld", n_stacks[k], i, (long)part[i]);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

/* Three million samples at two thousand a second: nearly half an hour. Rows are never more than those of some minutes. */
Test(fold, half_an_hour_takes_no_more_than_minutes, .timeout = 240)
{
	enum { N = 3000000, BATCH = 1000, STACKS = 500, RATE = 2000 };
	static const struct build_folding folding = { .keep_ns = 70 * SECOND,
						      .n_rows = 1u << 16,
						      .n_folded = 1u << 14 };
	struct profile *p = profile_new();
	stack_id stack[STACKS];
	uint64_t most = 0;
	unsigned state = 1;
	struct lens l;
	struct analysis *a;
	event_id e;

	build_folding(p, &folding);
	builder_begin(p);
	build_capture(p, "x", "made");
	e = build_event(p, "cpu-clock", UNIT_NS, true);
	for (int i = 0; i < STACKS; i++) {
		char name[32];

		snprintf(name, sizeof(name), "f%d", i);
		stack[i] = build_stack(p, (stack_id){ 0 },
				       build_comm_location(p, build_cstring(p, name)));
	}
	for (int i = 0; i < N; i++) {
		struct sample s = { .stack = stack[made_number(&state, STACKS)],
				    .thread = { ID_NONE },
				    .event = e,
				    .cpu = (uint16_t)made_number(&state, 2),
				    .weight = 1000000,
				    .time_ns = i * (SECOND / RATE) };

		cr_assert_eq(build_sample(p, &s), 0);
		if (i % BATCH != BATCH - 1)
			continue;
		cr_assert_eq(builder_end(p), 0);
		most = n_rows(p) > most ? n_rows(p) : most;
		builder_begin(p);
	}
	builder_end(p);
	cr_expect_leq(most, 9u * ((1u << 16) + 71u * RATE) / 8, "%lu rows", (unsigned long)most);
	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	cr_expect_eq(a->weights.total[0], (int64_t)N * 1000000);
	cr_expect_eq(a->weights.n_samples, (uint64_t)N);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

/* A sample that is a half-life old is half of one. */
Test(fold, what_fades_counts_less)
{
	struct profile *p = made_profile("a 8 t=0\nb 8 t=1000\nc 8 t=2000\n");
	struct analysis *a;
	struct lens l;

	made_lens(&l, p, "");
	l.half_life_ns = 1000;
	a = made_analysis(p, &l);
	cr_expect_eq(a->weights.total[0], 2 + 4 + 8);
	cr_expect_eq(a->weights.sample_scale, 1000);
	cr_expect_eq(a->weights.n_samples, 250u + 500u + 1000u);
	analysis_free(a);
	/* Of all of them when nothing came since; what is said of earlier is no time yet. */
	l.now_ns = 3000;
	a = made_analysis(p, &l);
	cr_expect_eq(a->weights.n_samples, 125u + 250u + 500u);
	analysis_free(a);
	l.now_ns = 1000;
	l.column[0].metric.measure = MEASURE_SAMPLES;
	a = made_analysis(p, &l);
	cr_expect_eq(a->weights.total[0], 1750);
	cr_expect_eq(a->weights.scale[0], 1000);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

/* Of a side that fades what is left of its samples is compared with what is left of its time; the other one stays as it was. */
Test(fold, a_side_that_fades_is_a_rate)
{
	const struct comparison_choice choice = { .event = "",
						  .metric = "",
						  .normalise = NORMALISE_TIME,
						  .half_life_ns = 500,
						  .now_ns = 4000 };
	struct profile *p = made_profile("a 1000 t=0\n");
	struct comparison sides = { 0 };
	const struct diff *d;
	struct analysis *a;
	double after = 0;
	struct lens l;

	for (int t = 10; t < 4000; t += 10) {
		char line[32];

		snprintf(line, sizeof(line), "a 1000 t=%d\n", t);
		made_profile_add(p, line);
		after += t < 2000 ? 0 : 1000 * exp2((t - 4000) / 500.0);
	}
	cr_assert_eq(comparison_add(&sides, SIDE_BEFORE, "time:0ns,2000ns", NULL), 0);
	cr_assert_eq(comparison_add(&sides, SIDE_AFTER, "time:2000ns,", NULL), 0);
	made_lens(&l, p, "");
	cr_assert_eq(comparison_lens(&sides, p, &choice, &l, NULL), 0);
	a = made_analysis(p, &l);
	d = a->diff;
	cr_expect_eq(d->normalise, NORMALISE_TIME);
	cr_expect_eq(diff_of_run(d, a->weights.total, 0), 200000, "nothing of it fades");
	cr_expect_float_eq(diff_of_run(d, a->weights.total, 1), after, 200);
	/* The same went on all the time. */
	cr_expect_float_eq(d->whole.after / d->whole.before, 1, 0.01, "%g",
			   d->whole.after / d->whole.before);
	analysis_free(a);
	lens_done(&l);
	comparison_done(&sides);
	profile_free(p);
}
