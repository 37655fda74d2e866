/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/err.h"
#include "base/task.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/tree/search.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One sample under so many frames of so many functions. */
static struct profile *deep_profile(uint32_t depth, uint32_t n_functions)
{
	struct profile *p = profile_new();
	struct sample s = {
		.thread = { ID_NONE }, .cpu = CPU_NONE, .weight = 7, .time_ns = TIME_NONE
	};
	char name[32];

	builder_begin(p);
	s.event = build_event(p, "e", UNIT_COUNT, true);
	for (uint32_t i = 0; i < depth; i++) {
		function_id f;

		snprintf(name, sizeof(name), "f%u", i % n_functions);
		f = build_function(p, build_cstring(p, name), (module_id){ 0 }, 0, (string_id){ 0 },
				   0);
		s.stack = build_stack(p, s.stack, build_symbol_location(p, f));
	}
	build_sample(p, &s);
	builder_end(p);
	return p;
}

static const struct {
	const char *filter;
	uint32_t n_functions, n_nodes;
} deep[] = {
	{ "", 1000, 1000001 },
	{ "recursion:all", 1000000, 1000001 },
	{ "recursion:all", 1000, 1001 },
	{ "recursion:direct", 1, 2 },
	{ "focus:f9$", 1000, 1000001 - 9 },
	{ "merge:f.*[1-9]$", 1000, 100001 },
	{ "collapse:f999", 1000, 1001 },
	{ "fn:f5", 10, 1000001 },
};

Test(calltree, a_million_frames_deep)
{
	for (size_t i = 0; i < sizeof(deep) / sizeof(*deep); i++) {
		struct profile *p = deep_profile(1000000, deep[i].n_functions);
		struct analysis *a;
		struct inverted *v;
		struct lens l;

		made_lens(&l, p, deep[i].filter);
		a = made_analysis(p, &l);
		cr_assert_eq(a->tree->n_nodes, deep[i].n_nodes, "%s: %u", deep[i].filter,
			     a->tree->n_nodes);
		cr_assert_eq(a->tree->max_depth, deep[i].n_nodes - 1);
		cr_assert_eq(a->tree->total[0], 7);
		v = analysis_inverted(a);
		for (uint32_t n = 0; n < 100 && n < inverted_n_roots(v); n++)
			inverted_expand(v, n);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

Test(calltree, a_node_with_many_children_is_sorted)
{
	struct profile *p = profile_new();
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	struct analysis *a;
	struct lens l;
	char name[32];

	builder_begin(p);
	s.event = build_event(p, "e", UNIT_COUNT, true);
	for (uint32_t i = 0; i < 200000; i++) {
		function_id f;

		snprintf(name, sizeof(name), "f%06u", i * 7919 % 200000);
		f = build_function(p, build_cstring(p, name), (module_id){ 0 }, 0, (string_id){ 0 },
				   0);
		s.stack = build_stack(p, (stack_id){ 0 }, build_symbol_location(p, f));
		s.weight = 1 + i % 3;
		build_sample(p, &s);
	}
	builder_end(p);
	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	cr_assert_eq(a->tree->n_nodes, 200001);
	for (uint32_t i = 2; i < a->tree->n_nodes; i++) {
		int64_t before = a->tree->total[i - 1], here = a->tree->total[i];

		cr_assert_geq(before, here);
		if (before == here)
			cr_assert_lt(strcmp(a->keys.key[a->tree->key[i - 1]].label,
					    a->keys.key[a->tree->key[i]].label),
				     0);
	}
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

/* Differences: the larger change first, whichever its sign; what cancels out above stays. */
Test(calltree, weights_may_be_negative)
{
	struct profile *p = made_profile("a;b 5\na;c -5\nd -7\ne 6\nf 3\nf -3\n");
	struct analysis *a;
	struct lens l;
	char *tree;

	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	tree = made_tree_text(a);
	cr_assert_str_eq(tree, "d -7 -7\ne 6 6\na 0 0\n  b 5 5\n  c -5 -5\n");
	cr_assert_eq(a->tree->total[0], -1);
	free(tree);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

Test(calltree, nothing_is_an_answer_too)
{
	static const char *const inputs[] = { "", "- 5\n", "a 0\n" };

	for (size_t i = 0; i < 3; i++) {
		struct profile *p = made_profile(inputs[i]);
		struct analysis *a;
		struct lens l;

		made_lens(&l, p, "recursion:all focus:a");
		a = made_analysis(p, &l);
		cr_assert_eq(a->tree->n_nodes, 1);
		cr_assert_eq(a->table.n_rows, 0);
		cr_assert_eq(inverted_n_roots(analysis_inverted(a)), 0);
		cr_assert_eq(calltree_first(a->tree, 0), KEY_NONE);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

Test(calltree, nodes_are_found_again_in_another_tree)
{
	struct profile *p = made_profile("a;b;c 1\na;d 2\n");
	struct analysis *before, *after;
	struct lens l;

	made_lens(&l, p, "");
	before = made_analysis(p, &l);
	made_profile_add(p, "x;y 50\na;d;e 9\n0;b 1\n");
	after = made_analysis(p, &l);
	for (uint32_t i = 1; i < before->tree->n_nodes; i++) {
		uint32_t id = before->keys.key[before->tree->key[i]].id;
		uint32_t key = after->keys.of_function[id];
		uint32_t there = calltree_find(after->tree, key, before->tree->path[i]);

		cr_assert_neq(there, KEY_NONE);
		cr_assert_str_eq(before->keys.key[before->tree->key[i]].label,
				 after->keys.key[after->tree->key[there]].label);
	}
	cr_assert_eq(calltree_find(before->tree, before->tree->key[1], 12345), KEY_NONE);
	cr_assert_eq(calltree_find(before->tree, KEY_NONE, before->tree->path[1]), KEY_NONE);
	cr_assert_eq(calltree_hottest(after->tree, KEY_NONE - 1), KEY_NONE);
	cr_assert_eq(after->tree->total[calltree_hottest(
			     after->tree, after->tree->key[calltree_first(after->tree, 0)])],
		     50);
	analysis_free(before);
	analysis_free(after);
	lens_done(&l);
	profile_free(p);
}

/* A cyclic call graph: callers, callees and the inverted tree of something that calls itself. */
Test(calltree, recursion_counts_once)
{
	struct profile *p = made_profile("=t;a;b;a;c 3\n=t;a 2\n=t;b;a;a 4\n");
	struct analysis *a;
	struct butterfly b;
	struct inverted *v;
	struct lens l;
	uint32_t key, root;

	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	key = a->table.key[0];
	cr_assert_str_eq(a->keys.key[key].label, "a");
	cr_assert_eq(a->table.self[0], 6);
	cr_assert_eq(a->table.total[0], 9);
	butterfly_init(&b, a->tree, &a->keys, key);
	cr_assert_eq(b.n_callers, 2);
	cr_assert_str_eq(a->keys.key[b.callers[0].key].label, "t");
	cr_assert_eq(b.callers[0].total[0], 5);
	cr_assert_eq(b.callers[1].total[0], 4);
	cr_assert_eq(b.n_callees, 2);
	cr_assert_str_eq(a->keys.key[b.callees[0].key].label, "a", "it is among its own callees");
	cr_assert_eq(b.callees[0].total[0], 4);
	butterfly_done(&b);

	v = analysis_inverted(a);
	root = inverted_root(v, key);
	cr_assert_eq(root, 0);
	cr_assert_eq(inverted_self(v, root)[0], 6);
	cr_assert_eq(inverted_total(v, root)[0], 9);
	inverted_expand(v, root);
	cr_assert_eq(inverted_node(v, root)->n_children, 3, "t, b and a itself");
	for (uint32_t i = 0; i < 3; i++) {
		static const struct {
			const char *caller;
			int64_t total;
		} want[] = {
			{ "b", 7 }, { "t", 5 }, { "a", 4 } /* the samples in which it calls a */
		};
		uint32_t child = inverted_node(v, root)->first_child + i;

		cr_expect_str_eq(a->keys.key[inverted_node(v, child)->key].label, want[i].caller);
		cr_expect_eq(inverted_total(v, child)[0], want[i].total, "%s", want[i].caller);
	}
	cr_assert_eq(inverted_root(v, a->tree->key[1]), KEY_NONE, "threads' names are no roots");
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

Test(calltree, cancelling_is_heard_and_leaves_nothing)
{
	struct profile *p = made_profile_by_lot(3, 100);
	struct progress progress = { 0 };
	struct analysis *a = NULL;
	struct lens l;

	progress_cancel(&progress);
	made_lens(&l, p, "fn:a focus:b");
	for (int g = 0; g < N_GROUPINGS; g++) {
		l.grouping = (enum grouping)g;
		cr_assert_eq(analysis_new(p, &l, &progress, &a), -ECANCELED);
		cr_assert_null(a);
	}
	lens_done(&l);
	profile_free(p);
}

static const struct {
	enum table_order order;
	bool reverse;
	const char *labels;
} orders[] = {
	{ ORDER_SELF, false, "bcda" },   { ORDER_SELF, true, "adbc" },
	{ ORDER_TOTAL, false, "abcd" },  { ORDER_TOTAL, true, "dbca" },
	{ ORDER_LABEL, false, "abcd" },  { ORDER_LABEL, true, "dcba" },
	{ ORDER_MODULE, false, "dacb" },
};

Test(table, rows_are_sorted)
{
	struct profile *p = made_profile("a@m;b@n 5\na@m;c@m 5\nd@b 1\n");
	struct analysis *a;
	struct lens l;

	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		char got[8] = "";

		table_sort(&a->table, &a->keys, orders[i].order, 0, orders[i].reverse);
		for (uint32_t r = 0; r < a->table.n_rows; r++)
			strcat(got, a->keys.key[a->table.key[r]].label);
		if (orders[i].order == ORDER_MODULE)
			cr_assert_str_eq(got, "dcab", "%s", got);
		else
			cr_assert_str_eq(got, orders[i].labels, "%zu", i);
	}
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

Test(search, bad_expressions_are_refused_and_labels_need_no_tree)
{
	struct profile *p = made_profile("Alpha;beta 1\nbeta 2\n");
	struct err e = ERR_INIT;
	struct analysis *a;
	struct search s;
	struct lens l;

	made_lens(&l, p, "");
	a = made_analysis(p, &l);
	cr_assert_eq(search_init(&s, "(", &a->keys, a->tree, &e), -EINVAL);
	cr_assert(strstr(err_text(&e), "bad regular expression"), "%s", err_text(&e));
	err_clear(&e);
	cr_assert_eq(search_init(&s, "alpha|beta", &a->keys, NULL, NULL), 0);
	cr_assert_eq(s.n_matching, 2);
	cr_assert_eq(s.total[0], 0, "without a tree there are no totals");
	search_done(&s);
	cr_assert_eq(search_init(&s, "^Alpha$", &a->keys, a->tree, NULL), 0);
	cr_assert_eq(s.n_matching, 1);
	cr_assert_eq(s.total[0], 1);
	search_done(&s);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}
