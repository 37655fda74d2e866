/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Conditions of --fail-if: understood or refused, and what becomes of them. */
#include "config.h"

#include "query/diff/condition.h"

#include "base/err.h"
#include "query/diff/comparison.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off: one line a case */
static const struct {
	const char *text, *metric;
} good[] = {
	{ "total > +5%", "" },
	{ " self(a|b(c)) >= -3 % ", "" },
	{ "leaked>+1MB", "leaked" },
	{ "freed-by > +1MB", "freed-by" },
	{ "peak <= 512MiB", "peak" },
	{ "total(x > y) < 2s", "" },
	{ "samples(^f$) > .5", "samples" },
	{ "wall > +1.5ms", "wall" },
	{ "self(operator->) > +1", "" },
	{ "total > 1e3", "" },
};
static const char *const refused[] = {
	"",          "total",     "> 5",           "self > 5",    "self( > 5",     "total(x > 5",
	"total ! 5", "total > x", "total > 5 5",   "total > 5%",  "total > +5 %%", "total > +",
	"total = 5", "Total > 5", "total > 1e999", "self(() > 5", "total > +-5",
};
/* clang-format on */

Test(condition, is_understood_or_refused)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct err e = ERR_INIT;
		struct condition *c;

		cr_assert_eq(condition_parse(good[i].text, &c, &e), 0, "%s: %s", good[i].text,
			     err_text(&e));
		cr_expect_str_eq(condition_text(c), good[i].text);
		cr_expect_str_eq(condition_metric(c), good[i].metric, "%s", good[i].text);
		condition_free(c);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
		struct err e = ERR_INIT;
		struct condition *c;

		cr_expect_eq(condition_parse(refused[i], &c, &e), -EINVAL, "%s", refused[i]);
		cr_expect_gt(strlen(err_text(&e)), 20, "%s", refused[i]);
		err_clear(&e);
	}
}

/*
 * big: 10000 → 11000, as nearly all of the program is, which the machine may do; small: 10 → 12, within; gone: 400 → 0; new: 0 → 300; the whole of that: 10410 →
 * 11312, which the machine may do, too. In event "time" big is 1 s → 2 s.
 */
/* clang-format off: one line a case */
static const struct {
	const char *text;
	bool any;
	size_t n_sentences; /* 0: it does not fail */
	size_t n_doubts;    /* it would fail if one run a side told */
	uint32_t n_matching;
} cases[] = {
	{ "total > +8%", false, 0, 1, 1 },           { "total > +8%", true, 1, 0, 1 },
	{ "total > +8.7%", true, 0, 0, 1 },          { "total > +902", true, 0, 0, 1 },
	{ "total >= +902", true, 1, 0, 1 },          { "total > 11311", false, 1, 0, 1 },
	{ "total > 11312", false, 0, 0, 1 },         { "total < 11312", false, 0, 0, 1 },
	{ "total < +1000", true, 1, 0, 1 },          { "total < +1000", false, 0, 1, 1 },
	{ "self(big) > +9%", true, 1, 0, 1 },        { "self(big) > +9%", false, 0, 1, 1 },
	{ "self(small) > +10%", false, 0, 0, 1 },    { "self(small) > +10%", true, 1, 0, 1 },
	{ "self(small) > 11", false, 1, 0, 1 },      { "self(gone) < -50%", false, 1, 0, 1 },
	{ "self(gone) < -100%", false, 0, 0, 1 },    { "self(gone) <= -100%", false, 1, 0, 1 },
	{ "self(new) > +1000000%", false, 1, 0, 1 }, { "self(new) > +299", false, 1, 0, 1 },
	{ "self(.) > +5%", false, 1, 1, 4 },         { "self(.) > +5%", true, 3, 0, 4 },
	{ "total(big|new) > +1", false, 1, 1, 2 },   { "self(nothing) > 0", false, 0, 0, 0 },
	{ "total <= -1%", false, 0, 0, 1 },
};
/* clang-format on */

static struct diff *compare(const struct profile *p, const char *event, struct analysis **a)
{
	const struct comparison_choice choice = { .event = event, .metric = "" };
	struct comparison s = { 0 };
	struct err e = ERR_INIT;
	struct lens l;

	cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", &e), 0);
	cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", &e), 0);
	made_lens(&l, p, "");
	cr_assert_eq(comparison_lens(&s, p, &choice, &l, &e), 0, "%s", err_text(&e));
	*a = made_analysis(p, &l);
	lens_done(&l);
	comparison_done(&s);
	return (*a)->diff;
}

/* Samples of one unit each, as many as the weights say. */
static struct profile *many_samples(void)
{
	static const struct {
		const char *name;
		unsigned n[2];
	} functions[] = { { "big", { 10000, 11000 } },
			  { "small", { 10, 12 } },
			  { "gone", { 400, 0 } },
			  { "new", { 0, 300 } } };
	char *text = xcalloc(30000, 16), *at = text;
	struct profile *p;

	for (int side = 0; side < 2; side++) {
		at = stpcpy(at, side ? "capture\n" : "");
		for (size_t f = 0; f < 4; f++)
			for (unsigned i = 0; i < functions[f].n[side]; i++)
				at = stpcpy(stpcpy(at, functions[f].name), " 1\n");
		at = stpcpy(at, side ? "big 2000000000 event=ns:time\n"
				     : "big 1000000000 event=ns:time\n");
	}
	p = made_profile(text);
	free(text);
	return p;
}

Test(condition, fails_on_what_changed_beyond_noise)
{
	struct profile *p = many_samples();
	struct analysis *a;
	struct diff *d = compare(p, "samples", &a);

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct err e = ERR_INIT;
		struct condition *c;
		struct verdict v;

		cr_assert_eq(condition_parse(cases[i].text, &c, &e), 0, "%s", err_text(&e));
		cr_assert_eq(condition_judge(c, d, cases[i].any, &v, &e), 0, "%s", err_text(&e));
		cr_expect_eq(v.sentences.n, cases[i].n_sentences, "%s: %zu", cases[i].text,
			     v.sentences.n);
		cr_expect_eq(v.doubts.n, cases[i].n_doubts, "%s: %zu", cases[i].text, v.doubts.n);
		cr_expect_eq(v.failed, cases[i].n_sentences > 0, "%s", cases[i].text);
		cr_expect_eq(v.n_matching, cases[i].n_matching, "%s", cases[i].text);
		verdict_done(&v);
		condition_free(c);
	}
	analysis_free(a);
	profile_free(p);
}

/* What all of a program is below is the whole under another name: a condition says the same of both, and so do rows and header. */
Test(condition, a_function_that_is_everything_is_judged_as_the_whole)
{
	static const char *const pairs[][2] = { { "total > +5%", "total(^main$) > +5%" },
						{ "total > +20%", "total(^main$) > +20%" } };
	char *text = xcalloc(60000, 24), *at = text;
	struct profile *p;
	struct analysis *a;
	struct diff *d;

	for (int side = 0; side < 2; side++) {
		at = stpcpy(at, side ? "capture\n" : "");
		for (int i = 0; i < 12000 + 1000 * side; i++)
			at += sprintf(at, "main;f%d 1\n", i % 40);
	}
	p = made_profile(text);
	d = compare(p, "samples", &a);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		struct noise_delta *n = &d->row_total[i];

		if (strcmp(a->table_keys->key[a->table.key[i]].label, "main") != 0)
			continue;
		cr_expect_eq(diff_verdict(&d->total, n), diff_whole_verdict(d));
		cr_expect_eq(n->half, d->whole.half);
		cr_expect_eq(n->p, d->whole.p);
	}
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct verdict v[2];

		for (int k = 0; k < 2; k++) {
			struct err e = ERR_INIT;
			struct condition *c;

			cr_assert_eq(condition_parse(pairs[i][k], &c, &e), 0);
			cr_assert_eq(condition_judge(c, d, false, &v[k], &e), 0);
			condition_free(c);
		}
		cr_expect_eq(v[0].failed, v[1].failed, "%s", pairs[i][0]);
		cr_expect_eq(v[0].doubts.n, v[1].doubts.n, "%s", pairs[i][0]);
		verdict_done(&v[0]);
		verdict_done(&v[1]);
	}
	analysis_free(a);
	profile_free(p);
	free(text);
}

Test(condition, units_are_those_of_the_metric)
{
	static const struct {
		const char *text;
		bool fits, fails;
	} units[] = { { "total > 1MB", false, false },
		      { "total > 1500ms", true, true },
		      { "total > 3 s", true, false },
		      { "total > +0.01 m", true, true },
		      { "total > 1999999999", true, true } };
	struct profile *p = many_samples();
	struct analysis *a;
	struct diff *d = compare(p, "time", &a);

	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
		struct err e = ERR_INIT;
		struct condition *c;
		struct verdict v;

		cr_assert_eq(condition_parse(units[i].text, &c, &e), 0, "%s", err_text(&e));
		cr_expect_eq(condition_judge(c, d, true, &v, &e) == 0, units[i].fits, "%s",
			     units[i].text);
		cr_expect_eq(v.failed, units[i].fails, "%s", units[i].text);
		verdict_done(&v);
		condition_free(c);
		err_clear(&e);
	}
	analysis_free(a);
	profile_free(p);
}
