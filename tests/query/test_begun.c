/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions of which no more is known than where they begin: rows of their own in one build, the module's row where there may be several. */
#include "config.h"

#include "profile/builder.h"
#include "query/core/name_rules.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>

#define APART "[lib.so+0x20] 8 8\n[lib.so+0x10] 4 4\n"
#define ONE   "[lib.so] 12 12\n"

/* What each of two captures maps; NULL: there is no second one. */
static const struct {
	const char *what;
	const char *path, *build_id;
	const char *path2, *build_id2;
	bool same_capture, loose;
	const char *tree;
} cases[] = {
	{ "one build", "/lib.so", "ab", NULL, NULL, false, false, APART },
	{ "one recording without build-ids", "/lib.so", "", NULL, NULL, false, false, APART },
	{ "the same build before and after", "/lib.so", "ab", "/lib.so", "ab", false, false,
	  APART },
	{ "and of another place", "/lib.so", "ab", "/x/lib.so", "ab", false, false, APART },
	{ "another build", "/lib.so", "ab", "/lib.so", "cd", false, false, ONE },
	{ "one that is not known", "/lib.so", "ab", "/lib.so", "", false, false, ONE },
	{ "neither is known", "/lib.so", "", "/lib.so", "", false, false, ONE },
	{ "two builds in one recording", "/lib.so", "ab", "/x/lib.so", "cd", true, false, ONE },
	{ "two places, of unknown builds", "/lib.so", "", "/x/lib.so", "", true, false, ONE },
	{ "names that may differ a little", "/lib.so", "ab", "/lib.so", "ab", false, true, APART },
};

static void add_sample(struct profile *p, module_id m, unsigned begin, int64_t weight)
{
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	char name[32];
	function_id f;

	snprintf(name, sizeof(name), "[lib.so+0x%x]", begin);
	f = build_function(p, build_cstring(p, name), m, FUNCTION_UNRESOLVED | FUNCTION_BEGIN,
			   (string_id){ 0 }, 0);
	s.event = build_event(p, "cycles", UNIT_COUNT, true);
	s.stack = build_stack(p, s.stack, build_symbol_location(p, f));
	s.weight = weight;
	cr_assert_eq(build_sample(p, &s), 0);
}

static struct profile *make(const char *path, const char *build_id, const char *path2,
			    const char *build_id2, bool same_capture)
{
	struct profile *p = profile_new();
	unsigned n = path2 ? 2 : 1;

	builder_begin(p);
	for (unsigned i = 0; i < 2; i++) {
		module_id m = i < n && i == 1 ? build_module(p, path2, build_id2, FAMILY_LIBRARY)
					      : build_module(p, path, build_id, FAMILY_LIBRARY);

		if (i == 0 || (n == 2 && !same_capture))
			build_capture(p, "x", "perf.data");
		add_sample(p, m, 0x10, 2);
		add_sample(p, m, 0x20, 4);
	}
	cr_assert_eq(builder_end(p), 0);
	return p;
}

static void expect_tree(const struct profile *p, struct lens *l, const char *want, const char *what)
{
	struct analysis *a = made_analysis(p, l);
	char *text = made_tree_text(a);

	cr_expect_str_eq(text, want, "%s: %s", what, text);
	free(text);
	analysis_free(a);
}

Test(begun, are_rows_of_their_own_in_one_build)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = make(cases[i].path, cases[i].build_id, cases[i].path2,
					 cases[i].build_id2, cases[i].same_capture);
		struct name_rules r = { .loose = true };
		struct lens l;

		made_lens(&l, p, "");
		lens_set_names(&l, cases[i].loose ? &r : NULL);
		expect_tree(p, &l, cases[i].tree, cases[i].what);
		l.grouping = GROUP_MODULE;
		expect_tree(p, &l, "lib.so 12 12\n", cases[i].what);
		lens_done(&l);
		profile_free(p);
	}
}

/* A filter that was made of the module's one row means all of them. */
Test(begun, go_by_their_module_s_name_too)
{
	static const struct {
		const char *filter, *tree;
	} filters[] = {
		{ "fn:^\\[lib\\.so\\]$", APART },
		{ "fn:0x20", "[lib.so+0x20] 8 8\n" },
		{ "!fn:0x20", "[lib.so+0x10] 4 4\n" },
		{ "module:lib", APART },
	};
	struct profile *p = make("/lib.so", "ab", NULL, NULL, false);

	for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
		struct lens l;

		made_lens(&l, p, filters[i].filter);
		expect_tree(p, &l, filters[i].tree, filters[i].filter);
		lens_done(&l);
	}
	profile_free(p);
}
