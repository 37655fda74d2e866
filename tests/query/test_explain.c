/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Planted changes are the reasons that are given, and nothing else is. */
#include "config.h"

#include "query/diff/explain.h"

#include "base/err.h"
#include "query/diff/comparison.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stacks with how often they are there before and after; as many samples of one each. */
struct stack {
	const char *frames;
	unsigned before, after;
};

#define MOST_STACKS 8

/* clang-format off: one line a stack */
static const struct {
	const char *what;
	struct stack stacks[MOST_STACKS];
	const char *reasons; /* a line each, without intervals; then what they leave */
} cases[] = {
	{ "nothing", { { "m;a", 1000, 1000 }, { "m;b", 500, 500 } }, "" },
	{ "noise", { { "m;a", 1000, 1030 }, { "m;b", 500, 490 } }, "" },
	{ "one function",
	  { { "m;a;x", 1000, 1500 }, { "m;a", 300, 300 }, { "m;b", 500, 500 } },
	  "x, called by m > a, grew from 1,000 to 1,500: +500 (+50.0 %), in itself\n"
	  "together +500 of +500: nothing is left\n" },
	{ "one that calls several",
	  { { "m;a;x", 300, 500 },
	    { "m;a;y", 300, 500 },
	    { "m;a;z", 300, 500 },
	    { "m;b", 500, 500 } },
	  "a, called by m, grew from 900 to 1,500: +600 (+66.7 %), in what it calls\n"
	  "together +600 of +600: nothing is left\n" },
	{ "up here, down there",
	  { { "m;a", 1000, 1600 }, { "m;b", 1000, 500 }, { "m;c", 900, 920 } },
	  "a, called by m, grew from 1,000 to 1,600: +600 (+60.0 %), in itself\n"
	  "b, called by m, shrank from 1,000 to 500: -500 (-50.0 %), in itself\n"
	  "together +100 of +120; the other +20 is in smaller changes and noise\n" },
	{ "new and gone",
	  { { "m;a", 1000, 1000 }, { "m;old", 300, 0 }, { "m;new", 0, 500 } },
	  "new, called by m, is new: +500\nold, called by m, is gone: -300\n"
	  "together +200 of +200: nothing is left\n" },
	{ "a subtree is new as a whole",
	  { { "m;a", 1000, 1000 },
	    { "m;match;run;x", 0, 400 },
	    { "m;match;run;run;x", 0, 300 },
	    { "m;match;run;run;run;y", 0, 300 } },
	  "match, called by m, is new: +1,000\ntogether +1,000 of +1,000: nothing is left\n" },
	{ "two subtrees are new",
	  { { "m;a", 1000, 1000 }, { "m;one;x", 0, 400 }, { "m;two;x", 0, 300 } },
	  "one, called by m, is new: +400\ntwo, called by m, is new: +300\n"
	  "together +700 of +700: nothing is left\n" },
	{ "a function at each depth of a recursion",
	  { { "m;r;x", 300, 400 },
	    { "m;r;r;x", 300, 450 },
	    { "m;r;r;r;x", 300, 450 },
	    { "m;r;y", 900, 900 } },
	  "x, called by m > r (recursive), grew from 900 to 1,300: +400 (+44.4 %), in itself\n"
	  "together +400 of +400: nothing is left\n" },
	{ "a recursion itself",
	  { { "m;r", 500, 700 },
	    { "m;r;r", 500, 700 },
	    { "m;r;r;r", 500, 700 },
	    { "m;y", 900, 900 } },
	  "r (recursive), called by m, grew from 1,500 to 2,100: +600 (+40.0 %), in itself\n"
	  "together +600 of +600: nothing is left\n" },
	{ "the same in two threads",
	  { { "=one;m@p;f@p;x@p", 400, 900 },
	    { "=two;m@p;f@p;x@p", 300, 700 },
	    { "=two;m@p;b@p", 500, 500 } },
	  "x (p), called by m > f, in thread one, grew from 400 to 900: +500 (+125.0 %), in itself\n"
	  "x (p), called by m > f, in thread two, grew from 300 to 700: +400 (+133.3 %), in itself\n"
	  "together +900 of +900: nothing is left\n" },
	{ "the same callers further up",
	  { { "one;a;b;c;x", 400, 900 }, { "two;a;b;c;x", 300, 700 }, { "two;y", 500, 500 } },
	  "x, called by b > c, below one, grew from 400 to 900: +500 (+125.0 %), in itself\n"
	  "x, called by b > c, below two, grew from 300 to 700: +400 (+133.3 %), in itself\n"
	  "together +900 of +900: nothing is left\n" },
	{ "moved",
	  { { "m;a", 1000, 1000 }, { "m;a;f@x", 400, 0 }, { "m;b;f@y", 0, 400 } },
	  "f (x), called by m > a, 400 before, is now f (y), called by m > b, 400: 0\n"
	  "together 0 of 0: nothing is left\n" },
	{ "moved and grew",
	  { { "m;a", 1000, 1000 }, { "m;a;f@x", 400, 0 }, { "m;b;f@y", 0, 900 } },
	  "f (x), called by m > a, 400 before, is now f (y), called by m > b, 900: +500\n"
	  "together +500 of +500: nothing is left\n" },
	{ "gone twice, new once",
	  { { "m;a", 1000, 1000 },
	    { "m;a;f@x", 500, 0 },
	    { "n;c", 1000, 1000 },
	    { "n;c;f@z", 300, 0 },
	    { "o;b;f@y", 0, 900 } },
	  "f (x), called by m > a, 500 before, is now f (y), called by o > b, 900: +400\n"
	  "f (z), called by n > c, is gone: -300\ntogether +100 of +100: nothing is left\n" },
	{ "what many lose to one",
	  { { "m;a;f", 400, 0 }, { "m;c;f", 300, 0 }, { "m;b;f", 0, 900 } },
	  "f, called by m > a, 400 before, is now f, called by m > b, 900: +500\n"
	  "c, called by m, is gone: -300\ntogether +200 of +200: nothing is left\n" },
	{ "one function on a machine that was slower",
	  { { "m;a;x", 2620, 3780 }, { "m;a;y", 2780, 2900 }, { "m;a;z", 2940, 3040 } },
	  "x, called by m > a, grew from 2,620 to 3,780: +1,160 (+44.3 %), in itself\n"
	  "together +1,160 of +1,380; the other +220 is in smaller changes and noise\n" },
	{ "within what changed",
	  { { "m;a", 100, 900 }, { "m;a;x", 900, 300 } },
	  "a, called by m, excluding the other rows, grew from 100 to 900: +800 (+800.0 %), in itself\n"
	  "x, called by m > a, shrank from 900 to 300: -600 (-66.7 %), in itself\n"
	  "together +200 of +200: nothing is left\n" },
	{ "a recursion that goes deeper, and took as long",
	  { { "m;r", 500, 300 },
	    { "m;r;r", 500, 400 },
	    { "m;r;r;r", 0, 300 },
	    { "m;r;x", 400, 0 },
	    { "m;r;r;r;x", 0, 400 },
	    { "m;y", 900, 900 } },
	  "" },
	{ "a recursion of two that goes deeper, with more below",
	  { { "m;p;q", 500, 300 },
	    { "m;p;q;p", 500, 400 },
	    { "m;p;q;p;q", 0, 300 },
	    { "m;p;q;p;q;p;x", 0, 400 },
	    { "m;y", 900, 900 } },
	  "x, called by m > p (recursive), is new: +400\n"
	  "together +400 of +400: nothing is left\n" },
	{ "an interpreter's one function is below itself",
	  { { "m;eval;one;eval;two;eval;x", 500, 500 },
	    { "m;eval;one;eval;y", 500, 900 },
	    { "m;eval;z", 500, 500 } },
	  "y, called by one > eval, grew from 500 to 900: +400 (+80.0 %), in itself\n"
	  "together +400 of +400: nothing is left\n" },
	{ "a second call of what calls several",
	  { { "m;s;t;x", 300, 610 },
	    { "m;s;t;t;x", 200, 400 },
	    { "m;s;t;y", 100, 210 },
	    { "m;sort", 1000, 1000 } },
	  "s, called by m, grew from 600 to 1,220: +620 (+103.3 %), in what it calls\n"
	  "together +620 of +620: nothing is left\n" },
	{ "split in two",
	  { { "m;w", 1000, 20 },
	    { "m;w;one", 0, 520 },
	    { "m;w;two", 0, 450 },
	    { "m;y", 900, 900 } },
	  "w, called by m: 980 of its own code is now in one and two, which it calls: -10\n"
	  "together -10 of -10: nothing is left\n" },
	{ "inlined",
	  { { "m;w", 100, 610 }, { "m;w;one", 500, 0 }, { "m;y", 900, 900 } },
	  "w, called by m: one is now its own code (inlined?), 510 more: +10\n"
	  "together +10 of +10: nothing is left\n" },
	{ "renamed",
	  { { "m;work", 500, 0 }, { "m;labour", 0, 510 }, { "m;y", 900, 900 } },
	  "work, called by m, 500 before, is now labour (renamed?), 510: +10\n"
	  "together +10 of +10: nothing is left\n" },
	{ "renamed, and interrupted",
	  { { "m;work", 500, 0 },
	    { "m;labour", 0, 500 },
	    { "m;labour;irq", 0, 10 },
	    { "m;y", 900, 900 } },
	  "work, called by m, 500 before, is now labour (renamed?), 510: +10\n"
	  "together +10 of +10: nothing is left\n" },
	{ "more than its caller lost",
	  { { "m;w", 60, 0 }, { "m;w;old", 440, 0 }, { "m;w;new", 0, 500 }, { "m;y", 900, 900 } },
	  "new, called by m > w, is new: +500\nold, called by m > w, is gone: -440\n"
	  "w, called by m, in itself, shrank from 60 to 0: -60\n"
	  "together 0 of 0: nothing is left\n" },
	{ "another size is another function",
	  { { "m;work", 500, 0 }, { "m;labour", 0, 900 }, { "m;y", 900, 900 } },
	  "labour, called by m, is new: +900\nwork, called by m, is gone: -500\n"
	  "together +400 of +400: nothing is left\n" },
	{ "a clone",
	  { { "m;step.constprop.0", 500, 0 }, { "m;step", 0, 560 }, { "m;y", 900, 900 } },
	  "step.constprop.0, called by m, 500 before, is now step, 560: +60\n"
	  "together +60 of +60: nothing is left\n" },
	{ "a little in many places",
	  { { "m;a;f", 100, 140 },
	    { "m;b;f", 100, 140 },
	    { "m;c;f", 100, 140 },
	    { "m;d;f", 100, 140 },
	    { "m;a", 1000, 960 },
	    { "m;b", 1000, 960 },
	    { "m;c", 1000, 960 },
	    { "m;d", 1000, 960 } },
	  "f, wherever it is called, grew from 400 to 560: +160 (+40.0 %), in itself\n"
	  "together +160 of 0; the other -160 is in smaller changes and noise\n" },
};
/* clang-format on */

static char *add(char *at, const struct stack *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		at = stpcpy(stpcpy(at, s->frames), " 1\n");
	return at;
}

static struct profile *make(const struct stack *stacks)
{
	char *text = xcalloc(40000, 16), *at = text;
	struct profile *p;

	for (int side = 0; side < 2; side++) {
		at = stpcpy(at, side ? "capture\n" : "");
		for (size_t i = 0; i < MOST_STACKS && stacks[i].frames; i++)
			at = add(at, &stacks[i], side ? stacks[i].after : stacks[i].before);
	}
	p = made_profile(text);
	free(text);
	return p;
}

/* Appends a sentence without its interval, " ± 31". */
static void append(char *out, const char *sentence)
{
	const char *half = strstr(sentence, " ± "), *rest = half;

	if (half)
		rest += strlen(" ± ") + strspn(half + strlen(" ± "), "0123456789,.");
	sprintf(out + strlen(out), "%.*s%s\n",
		half ? (int)(half - sentence) : (int)strlen(sentence), sentence, half ? rest : "");
}

/* The caller frees. */
static char *reasons_of(const struct profile *p)
{
	const struct comparison_choice choice = { .event = "", .metric = "" };
	struct comparison s = { 0 };
	struct err e = ERR_INIT;
	struct explanation x;
	struct analysis *a;
	struct lens l;
	char *out = xcalloc(1, 4000);

	cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", &e), 0);
	cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", &e), 0);
	made_lens(&l, p, "");
	cr_assert_eq(comparison_lens(&s, p, &choice, &l, &e), 0, "%s", err_text(&e));
	a = made_analysis(p, &l);
	explain(a->diff, 5, &x);
	for (size_t i = 0; i < x.reasons.n; i++)
		append(out, x.reasons.at[i].sentence);
	if (x.reasons.n) {
		char *sum = explain_sum(a->diff, &x);

		append(out, sum);
		free(sum);
	}
	cr_expect(x.accounted >= 0 && x.accounted <= 1);
	explanation_done(&x);
	analysis_free(a);
	lens_done(&l);
	comparison_done(&s);
	return out;
}

Test(explain, finds_what_was_planted)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = make(cases[i].stacks);
		char *got = reasons_of(p);

		cr_expect_str_eq(got, cases[i].reasons, "%s: %s", cases[i].what, got);
		free(got);
		profile_free(p);
	}
}
