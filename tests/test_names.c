/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that mean the same function, and names that must not. */
#include "config.h"

#include "names.h"

#include "analysis.h"
#include "err.h"
#include "made_profile.h"

#include <criterion/criterion.h>
#include <errno.h>
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
		char *loose = names_loose(names[i].name), *again = names_loose(loose);

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
	l.names = &r;
	a = made_analysis(p, &l);
	text = made_tree_text(a);
	cr_expect_str_eq(text, "m 31 0\n  [x] 16 16\n  f 15 15\n");
	free(text);
	analysis_free(a);
	lens_done(&l);
	name_rules_done(&r);
	profile_free(p);
}
