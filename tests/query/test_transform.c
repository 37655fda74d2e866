/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/tree/calltree.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Samples, transforms, the tree that they give: label, total, self. */
static const struct {
	const char *what, *in, *filter, *tree;
} cases[] = {
	{ "two stacks share their outer frames", "a;b 3\na;c 1\na 2\n", "",
	  "a 6 2\n  b 3 3\n  c 1 1\n" },
	{ "siblings go by weight, then by name", "a;z 1\na;c 1\na;b 1\na;y 2\n", "",
	  "a 5 0\n  y 2 2\n  b 1 1\n  c 1 1\n  z 1 1\n" },
	{ "places in one function are one frame", "a;?1@m 1\na;?2@m 2\na;?3@n 4\n", "",
	  "a 7 0\n  [n] 4 4\n  [m] 3 3\n" },
	{ "a made-up name is the same row as one that was looked for", "?1@m 1\n[m]@m 2\n", "",
	  "[m] 3 3\n" },
	{ "inlined functions are frames", "a;b@m>c@m>d@m 2\na;b@m 1\n", "",
	  "a 3 0\n  b 3 1\n    c 2 0\n      d 2 2\n" },
	{ "frames that nobody paid for are left out", "a;b 0\na;c 1\nd 0\n", "",
	  "a 1 0\n  c 1 1\n" },

	{ "focus starts stacks at a function", "a;b;c 1\nx;b;d 2\na;c 4\n", "focus:^b$",
	  "b 3 0\n  d 2 2\n  c 1 1\n" },
	{ "focus takes the outermost match", "a;b;c;b;d 1\n", "focus:^b$",
	  "b 1 0\n  c 1 0\n    b 1 0\n      d 1 1\n" },
	{ "focus on a leaf keeps what ends there", "a;b 3\nb 4\nb;c 1\n", "focus:b",
	  "b 8 7\n  c 1 1\n" },
	{ "focus on nothing leaves nothing", "a;b 3\n", "focus:zzz", "" },
	{ "focus sees unnamed frames", "a;?1@lib;b 3\n", "focus:lib", "[lib] 3 0\n  b 3 3\n" },
	{ "focus leaves threads' names alone", "=b;a;b 3\n", "focus:^b$", "b 3 3\n" },

	{ "merge gives a frame's cost to its caller", "a;b;c 1\na;b 2\na 4\n", "merge:^b$",
	  "a 7 6\n  c 1 1\n" },
	{ "merged roots leave their callees as roots", "a;b 1\na 2\n", "merge:^a$", "b 1 1\n" },
	{ "merge joins what was apart", "a;x;c 1\na;y;c 2\n", "merge:^[xy]$", "a 3 0\n  c 3 3\n" },
	{ "merge takes every occurrence", "a;b;c;b;d 1\n", "merge:^b$",
	  "a 1 0\n  c 1 0\n    d 1 1\n" },

	{ "collapse folds what is below", "a;b;c;d 1\na;b;e 2\na;f 4\n", "collapse:^b$",
	  "a 7 0\n  f 4 4\n  b 3 3\n" },
	{ "collapse folds further matches into the outermost", "a;b;c;b 1\n", "collapse:^b$",
	  "a 1 0\n  b 1 1\n" },

	{ "direct recursion is one frame", "a;b;b;b;c 1\na;b 2\n", "recursion:direct",
	  "a 3 0\n  b 3 2\n    c 1 1\n" },
	{ "direct recursion is not indirect", "a;b;c;b;c 1\n", "recursion:direct",
	  "a 1 0\n  b 1 0\n    c 1 0\n      b 1 0\n        c 1 1\n" },
	{ "all recursion is from the outermost to the innermost", "a;b;c;b;d 1\na;b;c 2\n",
	  "recursion:all", "a 3 0\n  b 3 0\n    c 2 2\n    d 1 1\n" },
	{ "all recursion, mutual", "a;b;a;b;a;c 1\n", "recursion:all", "a 1 0\n  c 1 1\n" },
	{ "all recursion after a cut counts what was cut as gone", "a;b;a;c;b;c 1\n",
	  "recursion:all", "a 1 0\n  c 1 1\n" },
	{ "all recursion in sibling branches is apart", "a;b;a;c 1\na;b;c;b 2\na;d;b 4\n",
	  "recursion:all", "a 7 0\n  d 4 0\n    b 4 4\n  b 2 2\n  c 1 1\n" },
	{ "equal names in two modules are no recursion", "a@m;a@n 1\n", "recursion:direct",
	  "a 1 0\n  a 1 1\n" },
	{ "two places of one function are", "?1@m;?2@m 1\n", "recursion:direct", "[m] 1 1\n" },

	{ "a path is followed by names", "a;b;c 1\na;b 2\na;x;b 4\nb;a;b 8\n", "focus-path:a;b",
	  "b 3 2\n  c 1 1\n" },
	{ "a path begins at threads' names", "=t;a;b 1\n=u;a;b 2\n", "focus-path:t;a",
	  "a 1 0\n  b 1 1\n" },
	{ "a path through unnamed frames", "a;?1@m;b 1\n", "focus-path:a;[m]",
	  "[m] 1 0\n  b 1 1\n" },
	{ "a path's names are exact", "ab;c 1\na;c 2\nA;c 4\n", "focus-path:a",
	  "a 2 0\n  c 2 2\n" },
	{ "a path may have ; in its names", "a 1\n", "focus-path:a\\;b", "" },

	{ "merge-path merges one node, not others of its name", "a;b;c 1\na;b 2\nx;b;c 4\n",
	  "merge-path:a;b", "x 4 0\n  b 4 0\n    c 4 4\na 3 2\n  c 1 1\n" },
	{ "merge-path of a root leaves its callees as roots", "a;b 1\na 2\nb 4\n", "merge-path:a",
	  "b 5 5\n" },
	{ "merge-path of what is not there", "a;b 1\n", "merge-path:a;c", "a 1 0\n  b 1 1\n" },
	{ "focus-module keeps frames of a module", "a@m;f@lib;b@m;g@lib 1\na@m;c@m 2\n",
	  "focus-module:lib", "f 1 0\n  g 1 1\n" },
	{ "focus-module gives what it leaves out to its callers", "f@lib;b@m 1\nf@lib 2\n",
	  "focus-module:^lib$", "f 3 3\n" },
	{ "collapse-module makes one frame of a run", "a@m;f@lib;g@lib;b@m;f@lib 1\na@m;g@lib 2\n",
	  "collapse-module:lib", "a 3 0\n  [lib] 3 2\n    b 1 0\n      [lib] 1 1\n" },
	{ "collapse-module leaves other modules", "a@m;b@m;f@lib 1\n", "collapse-module:^lib$",
	  "a 1 0\n  b 1 0\n    [lib] 1 1\n" },
	{ "collapse-module keeps neighbours of two modules apart", "f@la;g@la;h@lb;i@lb 1\n",
	  "collapse-module:^l", "[la] 1 0\n  [lb] 1 1\n" },
	{ "transforms see what the ones before have made", "a;x;a;b 1\n",
	  "merge:x recursion:direct", "a 1 0\n  b 1 1\n" },
	{ "and not what comes after", "a;x;a;b 1\n", "recursion:direct merge:x",
	  "a 1 0\n  a 1 0\n    b 1 1\n" },
	{ "merge, then focus on what has become a root", "r;a;b 1\n", "merge:^r$ focus-path:a;b",
	  "b 1 1\n" },
	{ "what a processor does when it is idle, and what interrupts do meanwhile",
	  "s;do_idle;pv_native_safe_halt 1\ns;do_idle;pv_native_safe_halt;do_softirq 2\n"
	  "s;do_idle;intel_idle_irq.constprop.0 4\ng_idle_dispatch;my_default_idle 8\n",
	  "is:idle",
	  "s 5 0\n  do_idle 5 0\n    intel_idle_irq.constprop.0 4 4\n    pv_native_safe_halt 1 1\n" },
	{ "filters and transforms", "a;b;c 1\na;b;d 2\na;e 4\n", "fn:^[cd]$ focus:b !leaf:^c$",
	  "b 2 0\n  d 2 2\n" },
};

Test(transform, stacks_before_and_after)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = made_profile(cases[i].in);
		struct analysis *a;
		struct lens l;
		char *tree;

		made_lens(&l, p, cases[i].filter);
		a = made_analysis(p, &l);
		tree = made_tree_text(a);
		cr_assert_str_eq(tree, cases[i].tree, "%s: %s of\n%s", cases[i].what,
				 cases[i].filter, cases[i].in);
		free(tree);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

/* Stacks that focus drops are no part of totals, threads and counts either. */
Test(transform, focus_leaves_out_everywhere)
{
	static const struct {
		const char *filter;
		long long total, samples, threads;
	} left[] = {
		{ "", 15, 4, 2 },
		{ "focus:^b$", 5, 2, 1 },
		{ "focus:^b$ focus:^c$", 1, 1, 1 },
		{ "focus:^b$ !leaf:^c$", 4, 1, 1 },
		{ "focus:lib", 8, 1, 1 },
		{ "focus-module:lib", 8, 1, 1 },
		{ "focus:nothing", 0, 0, 0 },
		{ "merge:^b$", 15, 4, 2 },
	};
	struct profile *p = made_profile("a;b;c 1 pid=1 tid=1\nb 4 pid=1 tid=1\n"
					 "c 2 pid=1 tid=2\na;?1@lib 8 pid=1 tid=2\n");

	for (size_t i = 0; i < sizeof(left) / sizeof(*left); i++) {
		struct analysis *a;
		struct lens l;

		made_lens(&l, p, left[i].filter);
		a = made_analysis(p, &l);
		cr_expect_eq(a->weights.total[0], left[i].total, "%s", left[i].filter);
		cr_expect_eq(a->weights.whole[0], 15, "%s", left[i].filter);
		cr_expect_eq((long long)a->weights.n_samples, left[i].samples, "%s",
			     left[i].filter);
		cr_expect_eq((long long)a->weights.n_threads, left[i].threads, "%s",
			     left[i].filter);
		analysis_free(a);
		lens_done(&l);
	}
	profile_free(p);
}

/* By module and by file, with and without transforms. */
static const struct {
	const char *what, *in, *filter;
	enum grouping grouping;
	const char *tree;
} groupings[] = {
	{ "calls within a module are none", "a@m;b@m;c@n;d@m 1\na@m;c@n 2\n", "", GROUP_MODULE,
	  "m 3 0\n  n 3 2\n    m 1 1\n" },
	{ "functions without a module", "a;b;c@m 1\n", "", GROUP_MODULE,
	  "[no module] 1 0\n  m 1 1\n" },
	{ "threads stay threads", "=m;a@m 1\n", "", GROUP_MODULE, "m 1 0\n  m 1 1\n" },
	{ "marks stay marks", "a@m;[truncated];b@m 1\n", "", GROUP_FUNCTION,
	  "a 1 0\n  [truncated] 1 0\n    b 1 1\n" },
	{ "files by what tells them apart", "a#/src/x.c;b#/src/x.c;c#/w/lib/x.c;d#/w/y.c;e 1\n", "",
	  GROUP_FILE, "/src/x.c 1 0\n  lib/x.c 1 0\n    y.c 1 0\n      [no file] 1 1\n" },
	{ "unnamed frames have a module and no file", "?1@m;a@m#f.c 1\n", "", GROUP_FILE,
	  "[no file] 1 0\n  f.c 1 1\n" },
	{ "transforms speak of functions whatever the grouping", "a@m;b@n;c@m 1\nx@o;c@m 2\n",
	  "focus:^b$", GROUP_MODULE, "n 1 0\n  m 1 1\n" },
	{ "recursion is of functions too", "a@m;b@n;a@m;c@o 1\n", "recursion:all", GROUP_MODULE,
	  "m 1 0\n  o 1 1\n" },
};

Test(transform, groups)
{
	for (size_t i = 0; i < sizeof(groupings) / sizeof(*groupings); i++) {
		struct profile *p = made_profile(groupings[i].in);
		struct analysis *a;
		struct lens l;
		char *tree;

		made_lens(&l, p, groupings[i].filter);
		l.grouping = groupings[i].grouping;
		a = made_analysis(p, &l);
		tree = made_tree_text(a);
		cr_assert_str_eq(tree, groupings[i].tree, "%s", groupings[i].what);
		free(tree);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}

Test(transform, inlined_code_is_a_frame_only_where_wanted)
{
	struct profile *p = made_profile("a@m>b@m>c@m 1\nb@m 2\n");
	struct analysis *a;
	struct lens l;
	char *tree;

	made_lens(&l, p, "");
	l.inlines = false;
	a = made_analysis(p, &l);
	tree = made_tree_text(a);
	cr_assert_str_eq(tree, "b 2 2\na 1 1\n");
	free(tree);
	analysis_free(a);
	l.inlines = true;
	a = made_analysis(p, &l);
	for (uint32_t i = 1; i < a->tree->n_nodes; i++)
		cr_assert_eq(a->tree->inlined[i], a->tree->depth[i] > 1, "node %u", i);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}
