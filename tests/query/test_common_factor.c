/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What most functions did: of tables whose truth is known. */
#include "config.h"

#include "query/diff/common_factor.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a function, samples before and after. */
struct counted {
	double before, after;
};

/* Each stands for so many functions: a dozen must agree for anything to be concluded. */
#define COPIES 4

/* Variances are those of counts, or 0: then they are exact. */
static void find(const struct counted *c, size_t n, bool exact, struct common_factor *out)
{
	struct run_rows rows = { .n_runs = { 1, 1 } };

	for (size_t i = 0; i < COPIES * n; i++) {
		double x[] = { c[i / COPIES].before, c[i / COPIES].after };
		double variance[] = { exact ? 0 : x[0], exact ? 0 : x[1] };

		run_rows_add(&rows, (uint32_t)i, x, variance);
	}
	common_factor_find(&rows, out);
	run_rows_done(&rows);
}

#define N_ROWS 6

static const struct {
	const char *what;
	struct counted rows[N_ROWS];
	double ratio; /* after over before; 0: none is known */
	bool differs;
} cases[] = {
	{ "nothing changed",
	  { { 500, 500 }, { 900, 900 }, { 4000, 4000 }, { 70, 70 }, { 300, 300 } },
	  1,
	  false },
	{ "a machine that is slower by half",
	  { { 500, 750 }, { 900, 1350 }, { 4000, 6000 }, { 70, 105 }, { 300, 450 } },
	  1.5,
	  true },
	{ "and one function grew",
	  { { 500, 750 }, { 900, 1350 }, { 4000, 9000 }, { 70, 105 }, { 300, 450 } },
	  1.5,
	  true },
	{ "the one function that has most samples of all grew",
	  { { 500, 500 }, { 400, 400 }, { 9000, 18000 }, { 350, 350 }, { 300, 300 } },
	  1,
	  false },
	{ "two of five changed",
	  { { 500, 1000 }, { 900, 900 }, { 4000, 1000 }, { 700, 700 }, { 300, 300 } },
	  1,
	  false },
	{ "each changed otherwise",
	  { { 5000, 1000 }, { 5000, 2500 }, { 5000, 9000 }, { 5000, 20000 }, { 5000, 50000 } },
	  0,
	  false },
	{ "eight functions are too few", { { 500, 750 }, { 900, 1350 } }, 1.5, false },
	{ "few samples say nothing",
	  { { 10, 15 }, { 12, 18 }, { 14, 21 }, { 19, 30 }, { 0, 100 } },
	  0,
	  false },
	{ "what is new or gone says nothing",
	  { { 500, 500 }, { 900, 900 }, { 700, 700 }, { 0, 4000 }, { 4000, 0 } },
	  1,
	  false },
};

static size_t count(const struct counted *c)
{
	size_t n = 0;

	while (n < N_ROWS && (c[n].before > 0 || c[n].after > 0))
		n++;
	return n;
}

Test(typical, is_what_most_functions_did)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct common_factor t;

		find(cases[i].rows, count(cases[i].rows), false, &t);
		cr_assert_eq(t.agreed, cases[i].ratio > 0, "%s", cases[i].what);
		cr_expect_eq(t.differs, cases[i].differs, "%s", cases[i].what);
		if (!t.agreed)
			continue;
		cr_expect_float_eq(t.ratio, cases[i].ratio, 1e-6, "%s: %g", cases[i].what, t.ratio);
		cr_expect_float_eq(t.run[1] / t.run[0], t.ratio, 1e-6, "%s", cases[i].what);
		cr_expect(t.low <= t.ratio && t.ratio <= t.high, "%s", cases[i].what);
	}
}

Test(typical, is_the_same_from_either_side)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct counted back[N_ROWS];
		struct common_factor t, r;

		for (size_t k = 0; k < N_ROWS; k++)
			back[k] = (struct counted){ cases[i].rows[k].after,
						    cases[i].rows[k].before };
		find(cases[i].rows, count(cases[i].rows), false, &t);
		find(back, count(cases[i].rows), false, &r);
		cr_expect_eq(t.known, r.known);
		cr_expect_eq(t.differs, r.differs);
		if (t.known)
			cr_expect_float_eq(t.ratio * r.ratio, 1, 1e-9, "%s", cases[i].what);
	}
}

/* Bytes of a heap that are counted without gaps. */
Test(typical, of_what_is_exact)
{
	static const struct counted rows[] = {
		{ 100, 200 }, { 64, 128 }, { 1000, 2000 }, { 48, 96 }, { 512, 512 }
	};
	struct common_factor t;
	char *text;

	find(rows, 5, true, &t);
	cr_assert(t.known && t.differs);
	cr_expect_float_eq(t.ratio, 2, 1e-9);
	cr_expect_eq(t.n_alike, 16);
	text = common_factor_say(&t, true);
	cr_expect_str_eq(
		text,
		"16 of 20 functions grew by about 100.0 % (95 %: +100.0 to +100.0): more work?");
	free(text);
}

/* Functions that a machine is unkind to, each in its own way, are not called alike to the last per cent. */
Test(typical, what_functions_differ_by_is_learned)
{
	struct counted rows[40];
	struct common_factor t;

	for (int i = 0; i < 40; i++)
		rows[i] = (struct counted){ 20000, 20000 * exp(0.06 * ((i * 7) % 9 - 4) / 2.58) };
	find(rows, 40, false, &t);
	cr_assert(t.known);
	cr_expect_float_eq(sqrt(2 * t.spread.square), 0.06, 0.01);
	cr_expect_gt(t.spread.freedom, 20);
	for (int i = 0; i < 40; i++)
		rows[i].after = 20000 + (i % 3 - 1) * 170;
	find(rows, 40, false, &t);
	cr_expect_eq(t.spread.square, 0, "what chance explains is not learned twice: %g",
		     t.spread.square);
}

/* Two runs, one a side, that are alike as far as can be told differ by nothing that is worth a word. */
Test(typical, of_one_run_a_side_differs_where_its_interval_says_so)
{
	uint64_t state = 7;
	unsigned n_differ = 0;

	for (int try = 0; try < 2000; try++) {
		struct counted rows[35];
		struct common_factor t;

		for (int i = 0; i < 35; i++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			rows[i].before = (double)(100000u << (state >> 60));
			rows[i].after =
				rows[i].before *
				exp(0.03 + 0.5 * ((double)(state >> 33 & 1023) / 1023 - 0.5));
		}
		find(rows, 35, false, &t);
		n_differ += t.differs;
		cr_assert(!t.differs || t.low > 1 || t.high < 1, "try %d: %g to %g", try, t.low,
			  t.high);
	}
	cr_expect(n_differ > 0 && n_differ < 2000, "%u", n_differ);
}

/* What is below one caller has one cause, however many functions it is. */
Test(typical, asks_other_branches)
{
	static const struct {
		const char *what;
		double inside,
			outside; /* after over before, of functions of the largest branch and of others */
		uint32_t n_outside;
		bool known;
	} branches[] = {
		{ "one caller is called twice as often", 2, 1, 5, false },
		{ "all is twice as much", 2, 2, 5, true },
		{ "nobody else is there to say it", 2, 2, 2, false },
		{ "nothing changed, and nobody else is there", 1, 1, 0, true },
	};

	for (size_t i = 0; i < sizeof(branches) / sizeof(branches[0]); i++) {
		struct run_rows rows = { .n_runs = { 1, 1 } };
		uint32_t branch[40];
		struct common_factor t;

		for (uint32_t f = 0; f < 20 + branches[i].n_outside; f++) {
			double by = f < 20 ? branches[i].inside : branches[i].outside;
			double x[] = { 1000 + f, (1000 + f) * by };

			branch[f] = f < 20 ? 7 : 100 + f;
			run_rows_add(&rows, f, x, x);
		}
		common_factor_find(&rows, &t);
		cr_assert(t.known, "%s", branches[i].what);
		common_factor_check(&rows, branch, &t);
		cr_expect_eq(t.known, branches[i].known, "%s", branches[i].what);
		cr_expect_eq(t.differs, branches[i].known && branches[i].inside > 1, "%s",
			     branches[i].what);
		run_rows_done(&rows);
	}
}
