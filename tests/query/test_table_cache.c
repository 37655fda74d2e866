/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of src/query/tree/table_cache: while a recording goes on, gets names late and is folded, every table that was made from the
 * last one is that which all samples make anew.
 */
#include "config.h"

#include "query/tree/table_cache.h"

#include "profile/builder.h"
#include "query/analysis.h"
#include "query/core/analysis_cache.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define N_STEPS    60
#define N_ADDRESS  40
#define DEPTH_MOST 12

/* A recording that goes on by lot. */
struct tale {
	struct profile *p;
	unsigned state;
	event_id event[2];
	module_id module[2];
	bool named[N_ADDRESS];
	int64_t now;
};

static void begin(struct tale *t, unsigned seed)
{
	*t = (struct tale){ .p = profile_new(), .state = seed };
	builder_begin(t->p);
	build_capture(t->p, "x", "perf.data");
	t->event[0] = build_event(t->p, "cpu-clock", UNIT_NS, true);
	t->event[1] = build_event(t->p, "faults", UNIT_COUNT, false);
	t->module[0] = build_module(t->p, "/bin/x", "", FAMILY_PROGRAM);
	t->module[1] = build_module(t->p, "/lib/y", "", FAMILY_LIBRARY);
	cr_assert_eq(builder_end(t->p), 0);
}

static location_id address(struct tale *t, unsigned i)
{
	return build_location(t->p, t->module[i % 2], 16 + i);
}

static function_id function(struct tale *t, unsigned i)
{
	char name[16];

	/* Some names are those of several. */
	snprintf(name, sizeof(name), "f%u", i % 17);
	return build_function(t->p, build_cstring(t->p, name), t->module[i / 17 % 2], 0,
			      build_cstring(t->p, ""), 0);
}

static void name_one(struct tale *t)
{
	unsigned i = made_number(&t->state, N_ADDRESS), n = made_number(&t->state, 3);
	struct frame run[3] = { { 0 } };

	if (t->named[i])
		return;
	t->named[i] = true;
	for (unsigned k = 0; k <= n; k++)
		run[k].function = function(t, made_number(&t->state, 34)).v;
	build_location_function(t->p, address(t, i), (function_id){ run[0].function });
	if (n > 0)
		build_location_inlines(t->p, address(t, i), run, n + 1);
}

static void add_sample(struct tale *t, bool empty)
{
	unsigned depth = made_number(&t->state, DEPTH_MOST);
	struct sample s = { .thread = { ID_NONE },
			    .event = t->event[made_number(&t->state, 4) == 0],
			    .cpu = CPU_NONE,
			    .weight = empty ? 0 : 1 + (int64_t)made_number(&t->state, 5),
			    .time_ns = t->now++ };

	for (unsigned k = 0; k < depth; k++) {
		unsigned i = made_number(&t->state, N_ADDRESS);

		s.stack = build_stack(t->p, s.stack,
				      i % 3 == 0 ? build_symbol_location(t->p, function(t, i))
						 : address(t, i));
	}
	cr_assert_eq(build_sample(t->p, &s), 0);
}

/* Weights of nothing come seldom. */
static void go_on(struct tale *t)
{
	unsigned n = made_number(&t->state, 30), kind = made_number(&t->state, 20);

	builder_begin(t->p);
	for (unsigned i = 0; i < n; i++)
		add_sample(t, kind == 0 && i == 0);
	if (kind % 4 == 1)
		name_one(t);
	build_folding(t->p, &(struct build_folding){ .keep_ns = 200,
						     .n_rows = kind == 7 ? 1 : 1 << 20,
						     .n_folded = 50 });
	cr_assert_eq(builder_end(t->p), 0);
}

static void expect_same(const struct analysis *a, const struct analysis *b, const char *what)
{
	const struct table *x = &a->table, *y = &b->table;

	cr_assert_eq(x->n_rows, y->n_rows, "%s", what);
	cr_expect_arr_eq(x->key, y->key, x->n_rows * sizeof(*x->key), "%s", what);
	cr_expect_arr_eq(x->self, y->self, x->n_rows * sizeof(*x->self), "%s", what);
	cr_expect_arr_eq(x->total, y->total, x->n_rows * sizeof(*x->total), "%s", what);
	cr_expect_arr_eq(x->n_samples, y->n_samples, x->n_rows * sizeof(*x->n_samples), "%s", what);
	cr_expect_arr_eq(x->inlined, y->inlined, a->keys.n * sizeof(*x->inlined), "%s", what);
}

/* The tree that is made later is that of a table that was made anew. */
static void expect_same_tree(struct analysis *a, struct analysis *b, const char *what)
{
	const struct calltree *x = analysis_tree(a), *y = analysis_tree(b);

	cr_assert_eq(x->n_nodes, y->n_nodes, "%s", what);
	cr_expect_arr_eq(x->self, y->self, x->n_nodes * sizeof(*x->self), "%s", what);
	cr_expect_arr_eq(x->total, y->total, x->n_nodes * sizeof(*x->total), "%s", what);
	cr_expect_arr_eq(x->path, y->path, x->n_nodes * sizeof(*x->path), "%s", what);
}

/* What the lens shows, from what was kept and anew. Was anything kept of use? */
static bool check(struct tale *t, struct lens *lens, struct table_cache *kept, const char *what)
{
	const struct analysis_cache cache = { .table = kept };
	struct analysis *a, *b;
	bool used;

	lens->cache = &cache;
	cr_assert_eq(analysis_new_parts(t->p, lens, ANALYSIS_LATER, NULL, &a), 0);
	lens->cache = NULL;
	cr_assert_eq(analysis_new_parts(t->p, lens, ANALYSIS_LATER, NULL, &b), 0);
	used = !a->weights.stack;
	cr_assert_not_null(b->weights.stack);
	expect_same(a, b, what);
	expect_same_tree(a, b, what);
	analysis_free(a);
	analysis_free(b);
	return used;
}

Test(table_kept, each_table_is_that_of_all_samples)
{
	unsigned n_used = 0;

	for (unsigned seed = 1; seed <= 20; seed++) {
		struct table_cache *kept = table_cache_new();
		struct tale t;

		begin(&t, seed);
		for (unsigned step = 0; step < N_STEPS; step++) {
			struct lens lens;
			char what[64];

			go_on(&t);
			lens_init(&lens, t.p);
			lens.column[0].metric.event = t.event[seed % 2];
			lens.inlines = seed % 3 != 0;
			/* Another question now and then. */
			lens.grouping = step % 20 == 19 ? GROUP_MODULE : GROUP_FUNCTION;
			snprintf(what, sizeof(what), "seed %u, step %u", seed, step);
			n_used += check(&t, &lens, kept, what);
			lens_done(&lens);
		}
		table_cache_free(kept);
		profile_free(t.p);
	}
	/* Not after a name, a fold, another question or a sample of no weight. */
	cr_expect_gt(n_used, 20 * N_STEPS / 2, "%u of %u", n_used, 20 * N_STEPS);
}

/* What is filtered, fades, or has several columns does not add up. */
Test(table_kept, other_lenses_are_looked_at_anew)
{
	struct table_cache *kept = table_cache_new();
	struct tale t;

	begin(&t, 5);
	for (unsigned step = 0; step < 12; step++) {
		struct lens lens;

		go_on(&t);
		made_lens(&lens, t.p, step % 4 == 0 ? "fn:f3" : "");
		if (step % 4 == 1)
			lens.half_life_ns = 100;
		if (step % 4 == 2) {
			lens.n_columns = 2;
			lens.column[1].metric.event = t.event[1];
		}
		cr_expect(step % 4 == 3 || !check(&t, &lens, kept, "another lens"));
		lens_done(&lens);
	}
	table_cache_free(kept);
	profile_free(t.p);
}
