/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that mean the same function, and names that must not. */
#include "config.h"

#include "query/core/name_rules.h"

#include "base/err.h"
#include "query/analysis.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "query/diff/module_pairs.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off: one line a name */
static const struct {
	const char *name, *loose;
} names[] = {
	{ "main", "main" },
	{ "", "" },
	{ "parse.cold", "parse" },
	{ "parse.isra.0", "parse" },
	{ "parse.isra.0.constprop.12.cold", "parse" },
	{ "parse.part.3", "parse" },
	{ "parse(int) [clone .cold]", "parse(int)" },
	{ "f.llvm.1234567890", "f" },
	{ "f.lto_priv.0", "f" },
	{ "a.cold_start", "a.cold_start" },
	{ "core::f::h0123456789abcdef", "core::f" },
	{ "core::f::h0123", "core::f::h0123" },
	{ "core::h0123456789abcdef::g", "core::h0123456789abcdef::g" },
	{ "A::f()::{lambda(int)#2}::operator()(int)", "A::f()::{lambda(int)}::operator()(int)" },
	{ "f()::$_12::operator()", "f()::$_::operator()" },
	{ "f::{lambda at x.cc:12}::operator()", "f::{lambda at x.cc}::operator()" },
	{ "std::vector<Rec, std::allocator<Rec> >::push_back(Rec&&)",
	  "std::vector<…>::push_back(Rec&&)" },
	{ "f<g<(a->b)>>(int)", "f<…>(int)" },
	{ "operator<", "operator<" },
	{ "A::operator<<", "A::operator<<" },
	{ "operator<< <int>(A)", "operator<< <…>(A)" },
	{ "operator->", "operator->" },
	{ "a<b", "a<b" },
	{ "0x7f12ab", "0x7f12ab" },
	{ "[libc.so.6+0x1234]", "[libc.so.6+0x]" },
	{ "<T as Trait>::f", "<T as Trait>::f" },
	{ "LazyCompile:~render /a.js:12", "LazyCompile:~render /a.js:12" },
};
/* clang-format on */

Test(names, lose_what_builds_differ_in)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *loose = name_rules_loose(names[i].name), *again = name_rules_loose(loose);

		cr_expect_str_eq(loose, names[i].loose, "%s: %s", names[i].name, loose);
		cr_expect_str_eq(again, loose, "twice is as once");
		free(loose);
		free(again);
	}
}

Test(names, are_renamed_as_given)
{
	static const char *const wrong[] = { "", "=", "a=", "=b", "ab" };
	struct name_rules r = { .loose = true };
	struct err e = ERR_INIT;
	char *name;

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		cr_expect_eq(name_rules_add(&r, wrong[i], &e), -EINVAL);
		err_clear(&e);
	}
	cr_assert_eq(name_rules_add(&r, "parse_old=parse", &e), 0);
	name = name_rules_apply(&r, "parse_old.cold");
	cr_expect_str_eq(name, "parse");
	free(name);
	name = name_rules_apply(&r, "parse_older");
	cr_expect_str_eq(name, "parse_older");
	free(name);
	name_rules_done(&r);
}

Test(names, of_what_has_none_follow_its_module)
{
	static const struct {
		const char *name, *applied;
	} made[] = {
		{ "[perf-7.map]", "[perf-PID.map]" },
		{ "[perf-7.map]+0x1", "[perf-7.map]+0x1" },
		{ "[perf-70.map]", "[perf-70.map]" },
		{ "perf-7.map", "perf-7.map" },
		{ "[", "[" },
		{ "", "" },
	};
	struct name_rules r = { 0 };

	name_rules_pair(&r, "perf-7.map", "perf-PID.map");
	for (size_t i = 0; i < sizeof(made) / sizeof(*made); i++) {
		char *name = name_rules_apply(&r, made[i].name);

		cr_expect_str_eq(name, made[i].applied);
		free(name);
	}
	name_rules_done(&r);
}

Test(names, make_functions_one)
{
	struct profile *p =
		made_profile("m@x;f.cold@x 1\nm@x;f@x 2\nm@x;f@y 4\nm@x;g@x 8\nm@x;?10@x 16\n");
	struct name_rules r = { .loose = true };
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens l;
	char *text;

	cr_assert_eq(name_rules_add(&r, "g=f", &e), 0);
	cr_assert_eq(name_rules_add(&r, "y=x", &e), 0);
	made_lens(&l, p, "");
	lens_set_names(&l, &r);
	a = made_analysis(p, &l);
	text = made_tree_text(a);
	cr_expect_str_eq(text, "m 31 0\n  [x] 16 16\n  f 15 15\n");
	free(text);
	analysis_free(a);
	lens_done(&l);
	name_rules_done(&r);
	profile_free(p);
}

static const struct {
	const char *a, *b;
	bool alike;
} modules[] = {
	{ "app-1.2", "app-1.3", true },
	{ "app-1.9", "app-1.10", true },
	{ "spin", "spin2", true },
	{ "libx.so.1.2", "libx.so.2", true },
	{ "app_v2", "app", true },
	{ "python3.11", "python3.12", true },
	{ "gcc-12-ar", "gcc-13-ar", true },
	{ "spin", "twist", false },
	{ "app-1.2", "app-1.2x", false },
	{ "liba.so.1", "libb.so.1", false },
	{ "app", "", false },
	{ "app-", "app", false },
};

Test(names, of_two_versions_are_alike)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(*modules); i++) {
		cr_expect_eq(module_pairs_alike(modules[i].a, modules[i].b), modules[i].alike,
			     "%s %s", modules[i].a, modules[i].b);
		cr_expect_eq(module_pairs_alike(modules[i].b, modules[i].a), modules[i].alike);
	}
}

/* clang-format off: one line a case */
static const struct {
	const char *what, *profile, *pairs;
} paired[] = {
	{ "a version", "m@a1;f@a1 5\ncapture\nm@a2;f@a2 5\n", "a1=a2 " },
	{ "most of the weight", "m@a1;f@a1 6\ng@a1 5\ncapture\nm@a2;f@a2 6\nh@a2 1\n", "a1=a2 " },
	{ "too little of one side's", "f@a1 6\ng@a1 7\ncapture\nf@a2 6\n", "" },
	{ "too little of the other's", "f@a1 6\ncapture\nf@a2 6\ng@a2 7\n", "" },
	{ "main says nothing", "main@a1 6\ncapture\nmain@a2 6\n", "" },
	{ "other names", "f@a 6\ncapture\nf@b 6\n", "" },
	{ "other names of what runs",
	  "f@a 6 pid=1 tid=1 name=a\ncapture\nf@b 6 pid=2 tid=2 name=b\n", "a=b " },
	{ "what both have is not paired", "f@a1 6\ncapture\nf@a1 6\nf@a2 6\n", "" },
	{ "two that would do", "f@a1 6\ncapture\nf@a2 6\nf@a3 6\n", "" },
	{ "the better of two", "f@a1 6\ncapture\nf@a2 6\nf@a3 6\ng@a3 1\n", "a1=a2 " },
	{ "code that processes generated",
	  "f@perf-7.map 8\ng@m 6\ncapture\nh@perf-8.map 6\nh@perf-9.map 1\ng@m 6\n",
	  "perf-7.map=perf-PID.map perf-8.map=perf-PID.map perf-9.map=perf-PID.map " },
	{ "code that one side's processes generated",
	  "f@perf-7.map 6\ng@m 6\ncapture\nf@jit-8.dump 6\ng@m 6\n", "" },
	{ "two pairs", "f@a1 6\ng@b1 1\ncapture\nf@a2 6\ng@b2 6\n", "a1=a2 b1=b2 " },
};
/* clang-format on */

/* clang-format off: one line a case */
static const struct {
	const char *name, *unnumbered;
} unnumbered[] = {
	{ "A::f()::{lambda(int)#2}::operator()(int)", "A::f()::{lambda(int)}::operator()(int)" },
	{ "f()::$_3::operator()", "f()::$_::operator()" },
	{ "void g<(lambda at src/x.cc:12:3)>(int)", "void g<(lambda at src/x.cc)>(int)" },
	{ "f::{lambda at x.cc:12}::operator()", "f::{lambda at x.cc}::operator()" },
	{ "f::{type at x.cc:12}::g", "f::{type at x.cc}::g" },
	{ "f()::'lambda12'(int)::operator()(int) const",
	  "f()::'lambda'(int)::operator()(int) const" },
	{ "main.(*T).run.func2.1", "main.(*T).run.func." },
	{ "main.run.func2.g.func3", "main.run.func.g.func" },
	{ "main.run.gowrap2", "main.run.gowrap" },
	{ "main.run-range2", "main.run-range" },
	{ "main.run.func1-range2.3", "main.run.func-range." },
	{ "a::b::{closure#12}", "a::b::{closure}" },
	{ "f(int) [clone .constprop.3]", "f(int) [clone .constprop]" },
	{ "f.llvm.1234", "f.llvm" },
	{ "lib.1.2", "lib.1.2" },
	{ "main.function2", "main.function2" },
	{ "parse.isra.0", "parse.isra" },
	{ "parse.part.0.cold", "parse.part.cold" },
	{ "app::run::h0123456789abcdef", "app::run" },
	{ "x.cc:12:30", "x.cc:12:30" },
	{ "vector<int>::push_back(int&&)", "vector<int>::push_back(int&&)" },
	{ "", "" },
};
/* clang-format on */

Test(names, lose_their_numbers)
{
	for (size_t i = 0; i < sizeof(unnumbered) / sizeof(*unnumbered); i++) {
		char *name = name_rules_unnumbered(unnumbered[i].name);

		cr_expect_str_eq(name, unnumbered[i].unnumbered, "%s: %s", unnumbered[i].name,
				 name);
		cr_expect_eq(name_rules_numbered(unnumbered[i].name),
			     strcmp(name, unnumbered[i].name) != 0, "%s", name);
		free(name);
	}
}

Test(names, of_programs_are_paired_by_their_functions)
{
	for (size_t i = 0; i < sizeof(paired) / sizeof(*paired); i++) {
		struct profile *p = made_profile(paired[i].profile);
		const struct comparison_choice choice = { .event = "", .metric = "" };
		struct comparison s = { 0 };
		struct analysis *a;
		char text[100] = "";
		struct lens l;

		made_lens(&l, p, "");
		cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", NULL), 0);
		cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", NULL), 0);
		cr_assert_eq(comparison_lens(&s, p, &choice, &l, NULL), 0);
		a = made_analysis(p, &l);
		cr_expect_eq(module_pairs_find(a->diff, &s.names), s.names.paired.n);
		for (size_t k = 0; k < s.names.paired.n; k++)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s=%s ",
				 s.names.paired.at[k].from, s.names.paired.at[k].to);
		cr_expect_str_eq(text, paired[i].pairs, "%s: %s", paired[i].what, text);
		analysis_free(a);
		lens_done(&l);
		comparison_done(&s);
		profile_free(p);
	}
}

/* Views go on comparing by rules whose sides are gone. */
Test(names, a_lens_keeps_its_rules)
{
	struct profile *p = made_profile("f 4\nf.cold 1\ncapture\nf 2\nf.cold 1\n");
	const struct comparison_choice choice = { .event = "", .metric = "" };
	struct comparison s = { .names.loose = true };
	struct analysis *a;
	struct lens l, copy;

	made_lens(&l, p, "");
	cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", NULL), 0);
	cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", NULL), 0);
	cr_assert_eq(name_rules_add(&s.names, "g=f", NULL), 0);
	cr_assert_eq(comparison_lens(&s, p, &choice, &l, NULL), 0);
	comparison_done(&s);
	s = (struct comparison){ 0 };
	lens_copy(&copy, &l);
	lens_done(&l);
	a = made_analysis(p, &copy);
	cr_expect_eq(a->table.n_rows, 1);
	analysis_free(a);
	lens_done(&copy);
	profile_free(p);
}
