/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/filter.h"
#include "query/core/filter_term.h"

#include "base/err.h"
#include "query/core/regex.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* What is typed and how it is kept, or a part of the sentence that refuses it. */
static const struct {
	const char *in, *out, *error;
} cases[] = {
	{ "", "", NULL },
	{ "  \t\n", "", NULL },
	{ "parse", "fn:parse", NULL },
	{ "!cgroup:^/a/b$", "!cgroup:^/a/b$", NULL },
	{ "!parse", "!fn:parse", NULL },
	{ "fn:parse  module:libc\tleaf:x", "fn:parse module:libc leaf:x", NULL },
	{ "std::vector", "fn:std::vector", NULL },
	{ "thread::spawn", "fn:thread::spawn", NULL },
	{ "thread:\":x\"", "thread:\":x\"", NULL },
	{ "\"operator new\"", "fn:\"operator new\"", NULL },
	{ "!\"a b\"", "!fn:\"a b\"", NULL },
	{ "fn:\"plain\"", "fn:plain", NULL },
	{ "fn:\"a \\\"b\\\" \\\\d\"", "fn:\"a \\\"b\\\" \\\\d\"", NULL },
	{ "fn:\"\\d x\"", "fn:\"\\\\d x\"", NULL },
	{ "fn:\\d", "fn:\\d", NULL },
	{ "fn:a\"b", "fn:a\"b", NULL },
	{ "fn:\"\\\"b\"", "fn:\"\\\"b\"", NULL },
	{ "!!x", "!fn:!x", NULL },
	{ "a.b:c", "fn:a.b:c", NULL },
	{ "pid:1", "pid:1", NULL },
	{ "pid:007,2", "pid:7,2", NULL },
	{ "!tid:1,2,3", "!tid:1,2,3", NULL },
	{ "cpu:0-3,7", "cpu:0-3,7", NULL },
	{ "cpu:5-5", "cpu:5", NULL },
	{ "time:1.5,20", "time:1.5,20", NULL },
	{ "time:300ms,2s", "time:0.3,2", NULL },
	{ "time:,1m", "time:,60", NULL },
	{ "time:1h,", "time:3600,", NULL },
	{ "time:1ns,1us", "time:0.000000001,0.000001", NULL },
	{ "time:.5,", "time:0.5,", NULL },
	{ "time:0,", "time:0,", NULL },
	{ "time:0,5", "time:,5", NULL },
	{ "time:1.0000000019,2", "time:1.000000001,2", NULL },
	{ "!time:1,2", "!time:1,2", NULL },
	{ "alive:1.5", "alive:1.5,", NULL },
	{ "alive:1.5,2", "alive:1.5,2", NULL },
	{ "recursion:direct recursion:all", "recursion:direct recursion:all", NULL },
	{ "focus-path:main;a", "focus-path:main;a", NULL },
	{ "focus-path:\"main;a b\"", "focus-path:\"main;a b\"", NULL },
	{ "focus-path:a\\;b;c\\\\", "focus-path:a\\;b;c\\\\", NULL },
	{ "focus-path:;a;", "focus-path:;a;", NULL },
	{ "focus:a merge:b collapse:c", "focus:a merge:b collapse:c", NULL },
	{ "comm:x process:y event:cycles file:\\.c$", "comm:x process:y event:cycles file:\\.c$",
	  NULL },

	{ "!is:idle is:\"idle\"", "!is:idle is:idle", NULL },
	{ "is:busy", NULL,
	  "\"is:busy\" wants idle, kernel, lock, futex, alloc, copy, fault, unnamed or tracer" },
	{ "is:", NULL, "\"is:\" wants idle," },
	{ "modul:x", NULL,
	  "unknown kind of filter term \"modul:\"; a function is fn:, and kinds are fn, module" },
	{ "fn:", NULL, "\"fn:\" has no expression" },
	{ "!", NULL, "no expression" },
	{ "fn:(", NULL, "bad regular expression \"(\"" },
	{ "fn:\"a", NULL, "quote is not closed" },
	{ "fn:\"a\"b", NULL, "blank is missing" },
	{ "!focus:a", NULL, "cannot be negated" },
	{ "pid:", NULL, "wants numbers" },
	{ "pid:x", NULL, "wants numbers" },
	{ "pid:1,", NULL, "wants numbers" },
	{ "pid:-1", NULL, "wants numbers" },
	{ "pid:1-2", NULL, "wants numbers" },
	{ "pid:99999999999", NULL, "wants numbers" },
	{ "cpu:3-1", NULL, "ranges" },
	{ "cpu:3-", NULL, "ranges" },
	{ "time:", NULL, "two times" },
	{ "time:,", NULL, "two times" },
	{ "time:1", NULL, "two times" },
	{ "alive:1x", NULL, "two times" },
	{ "time:1,2,3", NULL, "two times" },
	{ "time:1x,2", NULL, "two times" },
	{ "time:-1,2", NULL, "two times" },
	{ "time:1e5,", NULL, "two times" },
	{ "time:99999999999999999999,", NULL, "two times" },
	{ "time:9999999999h,", NULL, "two times" },
	{ "time:.,1", NULL, "two times" },
	{ "time:2,1", NULL, "ends before it begins" },
	{ "recursion:", NULL, "neither direct nor all" },
	{ "recursion:every", NULL, "neither direct nor all" },
	{ "focus-path:", NULL, "no frames" },
};

Test(filter, text_is_understood_or_refused)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err e = ERR_INIT;
		struct filter *f = NULL;
		int rc = filter_parse(cases[i].in, &f, &e);
		char *text;

		if (cases[i].error) {
			cr_assert_eq(rc, -EINVAL, "%s", cases[i].in);
			cr_assert_null(f);
			cr_assert(strstr(err_text(&e), cases[i].error), "%s: %s", cases[i].in,
				  err_text(&e));
			err_clear(&e);
			continue;
		}
		cr_assert_eq(rc, 0, "%s: %s", cases[i].in, err_text(&e));
		text = filter_text(f);
		cr_assert_str_eq(text, cases[i].out, "%s became %s", cases[i].in, text);
		free(text);
		filter_free(f);
	}
}

/* Text of any kind of bytes that is accepted is kept such that it reads the same again. */
Test(filter, canonical_text_reads_the_same)
{
	static const char *const parts[] = {
		"fn:", "thread:", "time:", "pid:",       "focus-path:", "cpu:",     "leaf:",
		"!",   "\"",      "\\",    "a",          "B",           " ",        "1",
		",",   ";",       "-",     ".",          ":",           "\xc3\xa9", "\t",
		"(",   ")",       "0.5s",  "recursion:", "all",         "merge:",
	};
	unsigned seed = 1, n_good = 0;

	for (int i = 0; i < 200000; i++) {
		char in[128] = "", *text, *again;
		struct filter *f, *g;

		for (unsigned n = 1 + made_number(&seed, 9); n > 0; n--)
			strcat(in, parts[made_number(&seed, sizeof(parts) / sizeof(*parts))]);
		if (filter_parse(in, &f, NULL) < 0)
			continue;
		text = filter_text(f);
		cr_assert_eq(filter_parse(text, &g, NULL), 0, "<%s> became <%s>", in, text);
		again = filter_text(g);
		cr_assert_str_eq(text, again, "<%s>", in);
		cr_assert_eq(filter_n_terms(f), filter_n_terms(g));
		n_good += filter_n_terms(f) > 0;
		free(text);
		free(again);
		filter_free(f);
		filter_free(g);
	}
	cr_assert_gt(n_good, 10000, "the parts make filters often enough: %u", n_good);
}

Test(filter, terms_are_added_and_taken_away)
{
	struct filter *f, *copy;
	struct err e = ERR_INIT;

	cr_assert_eq(filter_parse("a b", &f, NULL), 0);
	cr_assert_eq(filter_add(f, "c pid:x", &e), -EINVAL);
	err_clear(&e);
	cr_assert_eq(filter_n_terms(f), 2, "a refusal changes nothing");
	cr_assert_eq(filter_add(f, "c", NULL), 0);
	cr_assert_str_eq(filter_term(f, 2), "fn:c");
	copy = filter_copy(f);
	cr_assert(filter_pop(f) && filter_pop(f) && filter_pop(f));
	cr_assert_not(filter_pop(f));
	cr_assert_eq(filter_n_terms(copy), 3);
	filter_free(copy);
	filter_free(f);
	filter_free(NULL);
}

static const struct {
	const char *pattern, *name;
	bool matches;
} matches[] = {
	{ "parse", "Parser", true },
	{ "Parse", "parser", false },
	{ "Parse", "xParser", true },
	{ "\\S+\\(", "f(", true },
	{ "\\Sx", "AX", true },
	{ "\\p{Lu}x", "QX", true },
	{ "^a$", "a\n", false },
	{ "(a)\\1", "aa", true },
	{ "\xc3\xa9", "\xc3\x89tage", true },
	{ "b",
	  "\xff"
	  "b",
	  true },
	{ "^x",
	  "\xff"
	  "x",
	  false },
	{ "a.b",
	  "a\xff"
	  "b",
	  false },
	{ "", "anything", true },
};

Test(regex, matches_anywhere_smart_case)
{
	for (size_t i = 0; i < sizeof(matches) / sizeof(*matches); i++) {
		struct regex *r = regex_new(matches[i].pattern, NULL);

		cr_assert_not_null(r);
		cr_assert_eq(regex_matches(r, matches[i].name, strlen(matches[i].name)),
			     matches[i].matches, "%s in %s", matches[i].pattern, matches[i].name);
		regex_free(r);
	}
}

Test(regex, hostile_expressions_end)
{
	static const char *const hostile[] = { "(a+)+$", "(a|aa)+$", "(a*)*[bc]", "((a+)*)*[cd]",
					       "(.*)*(.*)*[xy]$" };
	char name[4096];
	struct timespec from, to;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '!';
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
		struct regex *r = regex_new(hostile[i], NULL);

		for (int n = 0; n < 100000; n++)
			cr_assert_not(regex_matches(r, name, sizeof(name)));
		cr_assert(regex_gave_up(r), "%s", hostile[i]);
		regex_free(r);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	cr_assert_lt(to.tv_sec - from.tv_sec, 10);
	cr_assert_null(regex_new("((((a{9999}){9999}){9999}){9999}", NULL));
}

Test(regex, filters_say_that_they_gave_up)
{
	struct filter *f = NULL;
	const struct term *terms;
	char name[4096];
	size_t n;

	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '!';
	cr_assert_eq(filter_parse("time:1,2 fn:b !fn:(a+)+$", &f, NULL), 0);
	cr_expect_null(filter_gave_up(NULL));
	terms = filter_terms(f, &n);
	cr_assert_eq(n, 3);
	cr_expect_not(regex_matches(terms[1].regex, name, sizeof(name)));
	cr_expect_null(filter_gave_up(f), "an expression that does not match is no trouble");
	cr_expect_not(regex_matches(terms[2].regex, name, sizeof(name)));
	cr_expect_str_eq(filter_gave_up(f), "!fn:(a+)+$");
	filter_free(f);
}

static const char *const names[] = {
	"main",
	"Main",
	"operator()",
	"std::vector<int, std::allocator<int> >::push_back(int&&)",
	"f \"quoted\" \\ {x} [y] ^$ | * + ? . - #",
	"\xc3\xa9t\xc3\xa9",
	"a\nb",
	"{closure#0}",
	"::x",
	"",
};

Test(filter, exact_names_match_only_themselves)
{
	size_t n = sizeof(names) / sizeof(*names);

	for (size_t i = 0; i < n; i++) {
		char *exact = filter_exact(names[i]), *quoted = filter_quote(exact), term[512];
		struct regex *r = regex_new(exact, NULL);
		struct filter *f;

		cr_assert_not_null(r, "%s", exact);
		for (size_t j = 0; j < n; j++)
			cr_assert_eq(regex_matches(r, names[j], strlen(names[j])), i == j,
				     "%s in %s", exact, names[j]);
		snprintf(term, sizeof(term), "fn:%s", quoted);
		cr_assert_eq(filter_parse(term, &f, NULL), 0, "%s", term);
		cr_assert_eq(filter_n_terms(f), 1, "%s", term);
		filter_free(f);
		regex_free(r);
		free(quoted);
		free(exact);
	}
}

/* Terms are taken as terms: the same text within another one's quotes, or as its end, is none. */
Test(filter, takes_whole_terms)
{
	static const struct {
		const char *all, *part, *rest; /* rest NULL: it is not there */
	} takes[] = {
		{ "fn:a leaf:b", "leaf:b", "fn:a" },
		{ "fn:\"x leaf:b y\" leaf:b", "leaf:b", "fn:\"x leaf:b y\"" },
		{ "leaf:b fn:\"x leaf:b y\"", "leaf:b", "fn:\"x leaf:b y\"" },
		{ "fn:\"x leaf:b y\"", "leaf:b", NULL },
		{ "fn:a fn:b fn:a", "fn:a", "fn:a fn:b" },
		{ "fn:a fn:b fn:c", "fn:b fn:c", "fn:a" },
		{ "fn:a fn:b fn:c", "fn:a fn:c", NULL },
		{ "!fn:a", "fn:a", NULL },
		{ "fn:a", "fn:a fn:a", NULL },
		{ "fn:a", "", NULL },
	};

	for (size_t i = 0; i < sizeof(takes) / sizeof(*takes); i++) {
		struct filter *f = NULL;
		char *text;

		cr_assert_eq(filter_parse(takes[i].all, &f, NULL), 0);
		cr_expect_eq(filter_has(f, takes[i].part), takes[i].rest != NULL, "%zu", i);
		cr_expect_eq(filter_take(f, takes[i].part), takes[i].rest != NULL, "%zu", i);
		text = filter_text(f);
		cr_expect_str_eq(text, takes[i].rest ? takes[i].rest : takes[i].all, "%zu", i);
		free(text);
		filter_free(f);
	}
	cr_expect_not(filter_has(NULL, "fn:a"));
}
