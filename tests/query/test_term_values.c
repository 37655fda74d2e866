/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/filter_term.h"
#include "query/term_values.h"

#include "base/mem.h"
#include "profile/profile.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define SHOP \
	"main@shop;work@shop#/src/work.c;memcpy@libc.so 1 pid=1 tid=1 name=shop cpu=3\n" \
	"main@shop;work@shop#/src/work.c 1 pid=1 tid=11 name=io cpu=1\n" \
	"main@shop;work@shop#/src/work.c 1 pid=1 tid=11 name=io cpu=1\n" \
	"main@shop;walk@shop;walk@shop;walk@shop 1 pid=1 tid=12 name=io cpu=1\n" \
	"query@db 1 pid=7 tid=7 name=db cpu=2 event=misses\n" \
	"query@db 1 pid=7 tid=7 name=db cpu=2\n"

/* A kind, what is typed of its value, and the values that begin so. */
static const struct {
	const char *kind, *begin, *values;
} cases[] = {
	{ "tid", "", "11(io) 7(db) 1(shop) 12(io)" },
	{ "tid", "1", "11(io) 1(shop) 12(io)" },
	{ "tid", "9", "" },
	{ "pid", "", "1(shop) 7(db)" },
	{ "thread", "", "io db shop" },
	{ "comm", "i", "io" },
	{ "process", "", "shop db" },
	{ "cpu", "", "1 2 3" },
	{ "event", "", "samples misses" },
	{ "fn", "", "main work query memcpy walk" },
	{ "leaf", "", "query work memcpy walk main" },
	{ "focus", "w", "work walk" },
	{ "file", "/", "/src/work.c" },
	{ "module", "", "shop db libc.so" },
	{ "in", "", "shop db libc.so" },
	{ "capture", "", "1(made)" },
	{ "recursion", "", "direct all" },
	{ "recursion", "a", "all" },
	{ "block", "t", "temporary" },
	{ "label", "", "" },
	{ "cgroup", "", "" },
	{ "time", "", "" },
	{ "nonsense", "", "" },
};

/* "text(beside) text …"; the caller frees. */
static char *values_text(const struct term_values *v)
{
	char *out = xstrdup(""), *longer;

	for (size_t i = 0; i < v->n; i++) {
		bool beside = *v->at[i].beside;

		longer = xasprintf("%s%s%s%s%s%s", out, i ? " " : "", v->at[i].text,
				   beside ? "(" : "", v->at[i].beside, beside ? ")" : "");
		free(out);
		out = longer;
	}
	return out;
}

Test(term_values, most_samples_first)
{
	struct profile *p = made_profile(SHOP);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct term_values v;
		char *text;

		term_values_init(&v, p, cases[i].kind, cases[i].begin);
		text = values_text(&v);
		cr_expect_str_eq(text, cases[i].values, "%s:%s: %s", cases[i].kind, cases[i].begin,
				 text);
		free(text);
		term_values_done(&v);
	}
	profile_free(p);
}

Test(term_values, that_have_a_text_anywhere)
{
	struct profile *p = made_profile(SHOP);
	struct term_values v;
	char *text;

	term_values_init_with(&v, p, "fn", "OR");
	text = values_text(&v);
	cr_expect_str_eq(text, "work", "%s", text);
	free(text);
	term_values_done(&v);
	profile_free(p);
}

/* Of each kind there is a list, or there is none on purpose. */
Test(term_values, all_kinds_are_considered)
{
	static const char *const without =
		" time depth alive freed stack-calls stack-bytes stack-leaked "
		"stack-leaked-percent stack-first stack-last stack-span focus-path merge-path ";

	for (size_t i = 0; term_kind_name(i); i++) {
		char *name = xasprintf(" %s ", term_kind_name(i));

		cr_expect_neq(term_values_has(term_kind_name(i)), strstr(without, name) != NULL,
			      "%s", name);
		free(name);
	}
}
