/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Tests of src/query/live/recent: the last minute against a slow count of it, at every moment of a recording; and each slot of a
 * stretch of time against an analysis of that time alone, for all rows that trees and tables may have.
 */
#include "config.h"

#include "base/mem.h"
#include "profile/builder.h"
#include "query/activity.h"
#include "query/analysis.h"
#include "query/core/analysis_cache.h"
#include "query/core/filter.h"
#include "tests/support/made_profile.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define S         INT64_C(1000000000)
#define N_SAMPLES 20000

/* One sample every 10 ms or so, of three functions in turns that change; neighbours may be out of order. */
static int64_t time_of(uint32_t i)
{
	return 7 * S + (int64_t)(i ^ 5) * 10000000;
}

static uint32_t function_of(uint32_t i)
{
	return i % 7 < 3 ? 0 : i / 1000 % 2 + 1;
}

static void put_samples(struct profile *p, uint32_t from, uint32_t to)
{
	static const char *const names[] = { "a", "b", "c" };
	event_id e;
	module_id m;

	builder_begin(p);
	if (from == 0)
		build_capture(p, "x", "perf.data");
	e = build_event(p, "cpu-clock", UNIT_NS, true);
	m = build_module(p, "/bin/x", "", FAMILY_PROGRAM);
	for (uint32_t i = from; i < to; i++) {
		function_id f = build_function(p, build_cstring(p, names[function_of(i)]), m, 0,
					       build_cstring(p, ""), 0);
		struct sample s = { .thread = { ID_NONE },
				    .event = e,
				    .cpu = CPU_NONE,
				    .weight = 1 + i % 3,
				    .time_ns = time_of(i) };

		s.stack = build_stack(p, (stack_id){ 0 }, build_symbol_location(p, f));
		cr_assert_eq(build_sample(p, &s), 0);
	}
	builder_end(p);
}

/* What did a function by itself? */
static void count(uint32_t n, uint32_t function, int64_t out[RECENT_SLOTS])
{
	int64_t begin = INT64_MAX, end = 0, from;

	for (uint32_t i = 0; i < n; i++) {
		begin = time_of(i) < begin ? time_of(i) : begin;
		end = time_of(i) > end ? time_of(i) : end;
	}
	from = begin + ((end - begin) / (5 * S) - 12) * 5 * S;
	memset(out, 0, RECENT_SLOTS * sizeof(*out));
	for (uint32_t i = 0; i < n; i++)
		if (function_of(i) == function && time_of(i) >= from && time_of(i) < from + 60 * S)
			out[(time_of(i) - from) / (5 * S)] += 1 + i % 3;
}

/* Where no tree is wanted yet there is what functions have of their own, and all of it when one is. */
static void check_without_tree(const struct profile *p, const struct lens *lens,
			       const struct analysis *with)
{
	struct analysis *a;

	cr_assert_eq(analysis_new_parts(p, lens, ANALYSIS_LATER, NULL, &a), 0);
	cr_assert_not_null(a->recent);
	cr_assert_neq(a->recent, with->recent);
	for (int tree = 0; tree < 2; tree++) {
		for (uint32_t i = 0; i < a->keys.n; i++) {
			uint32_t id = a->keys.key[i].id;
			struct recent_line got = recent_self(a->recent, &id, 1),
					   want = recent_self(with->recent, &id, 1);

			cr_expect_arr_eq(got.slot, want.slot, sizeof(want.slot));
			got = recent_total(a->recent, id);
			want = recent_total(with->recent, id);
			cr_expect(!tree || memcmp(got.slot, want.slot, sizeof(want.slot)) == 0);
		}
		analysis_tree(a);
	}
	analysis_free(a);
}

Test(recent, the_last_minute_at_any_moment)
{
	static const uint32_t moments[] = { 1, 700, 5999, 6000, 6001, 13333, N_SAMPLES };
	struct recent_kept *kept = recent_kept_new();
	const struct analysis_cache cache = { .recent = kept };
	struct profile *p = profile_new();
	uint32_t at = 0;

	for (size_t k = 0; k < sizeof(moments) / sizeof(moments[0]); k++) {
		struct analysis *a;
		struct lens lens;

		put_samples(p, at, moments[k]);
		at = moments[k];
		lens_init(&lens, p);
		lens.recent_ns = 60 * S;
		lens.cache = &cache;
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		cr_assert_not_null(a->recent);
		for (uint32_t i = 0; i < a->keys.n; i++) {
			const char *label = a->keys.key[i].label;
			int64_t want[RECENT_SLOTS];
			struct recent_line got;

			if (strlen(label) != 1 || !strchr("abc", *label))
				continue;
			count(at, (uint32_t)(*label - 'a'), want);
			got = recent_self(a->recent, &a->keys.key[i].id, 1);
			cr_expect_arr_eq(got.slot, want, sizeof(want), "%s after %u samples", label,
					 at);
		}
		check_without_tree(p, &lens, a);
		analysis_free(a);
		lens_done(&lens);
	}
	recent_kept_free(kept);
	profile_free(p);
}

/* What "a" did by itself over the last minute. */
static struct recent_line line_of_a(const struct profile *p, const struct lens *lens,
				    const struct recent **of)
{
	struct analysis *a = made_analysis(p, lens);
	struct recent_line line = { { 0 } };

	for (uint32_t i = 0; i < a->keys.n; i++)
		if (strcmp(a->keys.key[i].label, "a") == 0)
			line = recent_self(a->recent, &a->keys.key[i].id, 1);
	*of = a->recent;
	analysis_free(a);
	return line;
}

Test(recent, is_kept_while_nothing_else_is_asked)
{
	/* Which question it is: the same as before, or another. */
	static const struct {
		const char *filter;
		enum measure measure;
		uint32_t until;
		bool again;
	} cases[] = {
		{ "", MEASURE_WEIGHT, 7100, false },        { "", MEASURE_WEIGHT, 7101, true },
		{ "time:1,2", MEASURE_WEIGHT, 7102, true }, { "fn:b", MEASURE_WEIGHT, 7103, false },
		{ "", MEASURE_WEIGHT, 7104, false },        { "", MEASURE_SAMPLES, 7105, false },
		{ "", MEASURE_SAMPLES, 7106, true },        { "", MEASURE_SAMPLES, 8000, false },
	};
	struct recent_kept *kept = recent_kept_new();
	const struct analysis_cache cache = { .recent = kept };
	struct profile *p = profile_new();
	const struct recent *before = NULL;
	uint32_t at = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct recent *of, *alone;
		struct recent_line got, want;
		struct lens lens;

		put_samples(p, at, cases[i].until);
		at = cases[i].until;
		made_lens(&lens, p, cases[i].filter);
		lens.column[0].metric.measure = cases[i].measure;
		lens.recent_ns = 60 * S;
		want = line_of_a(p, &lens, &alone);
		lens.cache = &cache;
		got = line_of_a(p, &lens, &of);
		cr_expect_arr_eq(got.slot, want.slot, sizeof(want.slot), "case %zu", i);
		cr_expect_eq(of == before, cases[i].again, "case %zu", i);
		before = of;
		lens_done(&lens);
	}
	recent_kept_free(kept);
	profile_free(p);
}

/* That of threads stays while that of functions becomes another, and is of all analyses that are of the same slots. */
Test(recent, of_threads_is_kept_beside_others)
{
	static const struct {
		uint32_t until;
		bool again;
	} cases[] = { { 7100, false }, { 7101, true }, { 7199, true }, { 8000, false } };
	struct over_time_wish wish = { OVER_THREADS, { 0, INT64_MAX, 64, 0 } };
	struct recent_kept *kept = recent_kept_new();
	const struct analysis_cache cache = { .recent = kept };
	struct profile *p = profile_new();
	const struct recent *before = NULL;
	uint32_t at = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct over_time *over;
		struct analysis *a;
		struct lens lens;

		put_samples(p, at, cases[i].until);
		at = cases[i].until;
		made_lens(&lens, p, i % 2 ? "time:1,2" : "");
		lens.recent_ns = 60 * S;
		lens.cache = &cache;
		a = made_analysis(p, &lens);
		cr_assert_eq(over_time_new(a, &wish, &cache, NULL, &over), 0);
		cr_expect_neq(over->activity->recent, a->recent);
		cr_expect_eq(over->activity->recent == before, cases[i].again, "case %zu", i);
		before = over->activity->recent;
		over_time_free(over);
		analysis_free(a);
		lens_done(&lens);
	}
	recent_kept_free(kept);
	profile_free(p);
}

/* A recording through a lens, and the same of one slot of its last stretch of time. */
struct look {
	struct analysis *all, *slot;
	uint32_t k;
	const char *what;
};

/* Column 0 of the node that has the path in the slot; 0 where there is none. */
static int64_t node_of(const struct look *l, uint32_t key, uint64_t path)
{
	const struct calltree *t = l->slot->tree;
	uint32_t node = calltree_find(t, key, path);

	return node == KEY_NONE ? 0 : t->total[(size_t)node * t->n_columns];
}

static void check_tree(const struct look *l)
{
	const struct analysis *a = l->all;

	for (uint32_t i = 1; i < a->tree->n_nodes; i++) {
		uint32_t key = a->tree->key[i];
		struct recent_line got = recent_node(a->recent, a->tree->path[i]);

		cr_assert_eq(got.slot[l->k], node_of(l, key, a->tree->path[i]),
			     "%s: slot %u of %s, a node", l->what, l->k, a->keys.key[key].label);
	}
}

/* What ends in the first of a chain of keys that call one another, in the slot. */
static int64_t chain_of(const struct look *l, const uint32_t *key, uint32_t n)
{
	struct inverted *v = analysis_inverted(l->slot);
	uint32_t node = inverted_root(v, key[0]);

	for (uint32_t i = 1; i < n && node != KEY_NONE; i++) {
		uint32_t child, end;

		inverted_expand(v, node);
		child = inverted_node(v, node)->first_child;
		end = child + inverted_node(v, node)->n_children;
		while (child < end && inverted_node(v, child)->key != key[i])
			child++;
		node = child < end ? child : KEY_NONE;
	}
	return node == KEY_NONE ? 0 : inverted_self(v, node)[0];
}

#define CHAIN_MOST 4

/* The node of callers and those below it; key: of the chain so far, [n] before it. */
static void check_callers(const struct look *l, uint32_t node, uint32_t key[CHAIN_MOST], uint32_t n)
{
	struct inverted *v = analysis_inverted(l->all);
	uint32_t id[CHAIN_MOST], first, n_children;
	struct recent_line got;

	key[n++] = inverted_node(v, node)->key;
	for (uint32_t i = 0; i < n; i++)
		id[i] = l->all->keys.key[key[i]].id;
	got = recent_self(l->all->recent, id, n);
	cr_assert_eq(got.slot[l->k], chain_of(l, key, n), "%s: slot %u of %s, a chain of %u",
		     l->what, l->k, l->all->keys.key[key[0]].label, n);
	if (n == CHAIN_MOST)
		return;
	inverted_expand(v, node);
	first = inverted_node(v, node)->first_child;
	n_children = inverted_node(v, node)->n_children;
	for (uint32_t i = 0; i < n_children; i++)
		check_callers(l, first + i, key, n);
}

static int64_t row_of(const struct butterfly_row *row, uint32_t n, uint32_t key)
{
	for (uint32_t i = 0; i < n; i++)
		if (row[i].key == key)
			return row[i].total[0];
	return 0;
}

static void check_butterfly(const struct look *l, uint32_t key)
{
	const struct key *k = l->all->keys.key;
	const struct recent *r = l->all->recent;
	struct butterfly all, slot;

	butterfly_init(&all, l->all->tree, &l->all->keys, key);
	butterfly_init(&slot, l->slot->tree, &l->slot->keys, key);
	cr_assert_eq(recent_total(r, k[key].id).slot[l->k], slot.total[0], "%s", l->what);
	for (uint32_t i = 0; i < all.n_callers; i++) {
		uint32_t other = all.callers[i].key, id = other == KEY_NONE ? ID_NONE : k[other].id;

		cr_assert_eq(recent_caller(r, k[key].id, id).slot[l->k],
			     row_of(slot.callers, slot.n_callers, other), "%s: a caller", l->what);
	}
	for (uint32_t i = 0; i < all.n_callees; i++) {
		uint32_t other = all.callees[i].key;

		cr_assert_eq(recent_callee(r, k[key].id, k[other].id).slot[l->k],
			     row_of(slot.callees, slot.n_callees, other), "%s: a callee", l->what);
	}
	butterfly_done(&all);
	butterfly_done(&slot);
}

/* What a task's row weighs; 0 where there is none. */
static int64_t task_of(const struct activity *act, const struct activity_row *of)
{
	int64_t weight = 0;

	for (uint32_t i = 0; i < act->n_rows; i++) {
		const struct activity_row *row = &act->row[i];

		if (row->process == of->process &&
		    (of->is_process ? !activity_is_sum(row) : row->thread == of->thread))
			weight += row->weight;
	}
	return weight;
}

/* Of all time and of the slot, which may have other rows. Which were not in the last stretch, or are but in the slot? */
static void check_tasks(const struct look *l)
{
	struct activity act[2];
	const struct analysis *of[] = { l->all, l->slot };

	for (int i = 0; i < 2; i++)
		cr_assert_eq(activity_of_threads(of[i]->profile, &of[i]->counts, &of[i]->lens,
						 &of[i]->weights, 1, NULL, &act[i]),
			     0);
	cr_assert_not_null(act[0].recent);
	cr_assert_null(act[1].recent);
	for (uint32_t i = 0; i < act[0].n_rows + act[1].n_rows; i++) {
		const struct activity_row *row = i < act[0].n_rows ? &act[0].row[i]
								   : &act[1].row[i - act[0].n_rows];
		struct recent_line got = recent_thread(act[0].recent, row->process,
						       row->is_process ? ID_NONE : row->thread);

		cr_assert_eq(got.slot[l->k], task_of(&act[1], row), "%s: slot %u of %s, a %s",
			     l->what, l->k, row->name, row->is_process ? "process" : "thread");
	}
	activity_done(&act[0]);
	activity_done(&act[1]);
}

/* The slot of the lens' last stretch from one time to another, since the start. */
static struct analysis *analyse_slot(const struct profile *p, const struct lens *lens,
				     int64_t from_ns, int64_t to_ns)
{
	char from[FMT_SIZE], to[FMT_SIZE], *term;
	struct analysis *a;
	struct lens of;

	lens_copy(&of, lens);
	of.recent_ns = 0;
	of.cursor_ns = to_ns;
	if (of.column[0].metric.measure != MEASURE_LIVE) {
		term = xasprintf("time:%s,%s", fmt_exact(from, from_ns, S),
				 fmt_exact(to, to_ns, S));
		if (!of.filter)
			cr_assert_eq(filter_parse("", &of.filter, NULL), 0);
		cr_assert_eq(filter_add(of.filter, term, NULL), 0);
		free(term);
	}
	a = made_analysis(p, &of);
	lens_done(&of);
	return a;
}

/* Every slot that is of the recording, of stretches that begin in it and before it. */
static void check_slots(const struct profile *p, struct lens *lens, int64_t slot_ns,
			const char *what)
{
	struct look l = { .what = what };
	int64_t from;

	lens->recent_ns = slot_ns * RECENT_SLOTS;
	l.all = made_analysis(p, lens);
	if (!l.all->recent) {
		cr_assert_eq(l.all->weights.begin_ns, TIME_NONE, "%s", what);
		analysis_free(l.all);
		return;
	}
	from = ((l.all->weights.end_ns - l.all->weights.begin_ns) / slot_ns - RECENT_SLOTS) *
	       slot_ns;
	for (l.k = 0; l.k < RECENT_SLOTS; l.k++) {
		int64_t begin = from + l.k * slot_ns;
		uint32_t key[CHAIN_MOST];

		if (begin < 0)
			continue;
		l.slot = analyse_slot(p, lens, begin, begin + slot_ns);
		check_tree(&l);
		for (uint32_t i = 0; i < inverted_n_roots(analysis_inverted(l.all)); i++)
			check_callers(&l, i, key, 0);
		for (uint32_t i = 0; i < l.all->keys.n; i++)
			check_butterfly(&l, i);
		check_tasks(&l);
		analysis_free(l.slot);
	}
	analysis_free(l.all);
}

Test(recent, every_row_is_what_its_slots_are)
{
	static const char *const filters[] = { "",          "fn:a",
					       "!module:x", "focus:a",
					       "merge:a",   "recursion:all",
					       "thread:t1", "!time:0.0000001,0.0000005" };
	static const int64_t slots_ns[] = { 41, 97 };

	for (unsigned seed = 0; seed < 12; seed++) {
		struct profile *p = made_profile_by_lot(seed, 200);

		for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
			struct lens lens;

			made_lens(&lens, p, filters[i]);
			lens.grouping = seed % 3 == 0 ? GROUP_MODULE : GROUP_FUNCTION;
			lens.inlines = seed % 4 != 0;
			check_slots(p, &lens, slots_ns[seed % 2], filters[i]);
			lens_done(&lens);
		}
		profile_free(p);
	}
}

Test(recent, heaps)
{
	static const enum measure measures[] = { MEASURE_LIVE, MEASURE_WEIGHT, MEASURE_FREED };

	for (unsigned seed = 1; seed <= 3; seed++) {
		struct story *s = story_new(seed);

		for (size_t i = 0; i < sizeof(measures) / sizeof(measures[0]); i++) {
			struct lens lens;

			made_lens(&lens, s->p, i == 1 ? "fn:f0" : "");
			lens.column[0].metric = (struct metric){ s->event[0], measures[i], false };
			check_slots(s->p, &lens, seed == 1 ? 5000000 : 1000001, "a heap");
			lens_done(&lens);
		}
		story_free(s);
	}
}
