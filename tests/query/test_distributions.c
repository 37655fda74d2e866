/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tails of distributions against tables, and against sums of their terms. */
#include "config.h"

#include "query/diff/distributions.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

Test(chance, of_normal_deviates_is_that_of_tables)
{
	cr_expect_float_eq(distributions_normal(0), 1, 1e-12);
	cr_expect_float_eq(distributions_normal(1.959963984540054), 0.05, 1e-12);
	cr_expect_float_eq(distributions_normal(-2.5758293035489), 0.01, 1e-12);
	cr_expect_float_eq(distributions_normal(5), 5.733031437583892e-07, 1e-15);
}

/* Critical values of the tables of Student's distribution, both sides at 5 %. */
static const struct {
	double freedom, t;
} students[] = { { 1, 12.7062 },  { 2, 4.30265 },  { 4, 2.77645 },
		 { 10, 2.22814 }, { 30, 2.04227 }, { 120, 1.97993 } };

Test(chance, of_student_is_that_of_tables)
{
	for (size_t i = 0; i < sizeof(students) / sizeof(*students); i++) {
		cr_expect_float_eq(distributions_student(students[i].t, students[i].freedom), 0.05,
				   1e-5);
		cr_expect_float_eq(distributions_student_95(students[i].freedom), students[i].t,
				   1e-4 * students[i].t);
	}
	for (double freedom = 1.5; freedom < 100; freedom += 0.5)
		cr_expect_float_eq(
			distributions_student(distributions_student_95(freedom), freedom), 0.05,
			1e-5);
	cr_expect_float_eq(distributions_student_95(INFINITY), 1.959964, 1e-6);
	cr_expect_float_eq(distributions_student(2.5758293035489, INFINITY), 0.01, 1e-12);
	cr_expect_float_eq(distributions_student(0, 3), 1, 1e-12);
}

Test(chance, derivatives_of_gamma_are_those_of_tables)
{
	cr_expect_float_eq(distributions_digamma(1), -0.57721566490153, 1e-10);
	cr_expect_float_eq(distributions_digamma(0.5), -1.96351002602142, 1e-10);
	cr_expect_float_eq(distributions_digamma(100), 4.60016185273, 1e-10);
	cr_expect_float_eq(distributions_trigamma(1), M_PI * M_PI / 6, 1e-10);
	cr_expect_float_eq(distributions_trigamma(0.5), M_PI * M_PI / 2, 1e-10);
	cr_expect_float_eq(distributions_trigamma(100), 0.0100501666633, 1e-10);
}

/* The smaller tail, term by term. */
static double binomial_slowly(int k, int n, double share)
{
	double at_most = 0, at_least = 0, tail;

	for (int i = 0; i <= n; i++) {
		double term = exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
				  i * log(share) + (n - i) * log1p(-share));

		at_most += i <= k ? term : 0;
		at_least += i >= k ? term : 0;
	}
	tail = 2 * fmin(at_most, at_least);
	return tail < 1 ? tail : 1;
}

Test(chance, of_dealing_out_is_the_sum_of_its_terms)
{
	static const double shares[] = { 0.5, 0.1, 0.37, 0.99 };

	cr_expect_float_eq(distributions_binomial(2, 10, 0.5), 0.109375, 1e-12);
	cr_expect_float_eq(distributions_binomial(0, 5, 0.5), 0.0625, 1e-12);
	cr_expect_float_eq(distributions_binomial(5, 5, 0.5), 0.0625, 1e-12);
	for (size_t s = 0; s < sizeof(shares) / sizeof(*shares); s++)
		for (int n = 1; n < 200; n += 13)
			for (int k = 0; k <= n; k++)
				cr_expect_float_eq(distributions_binomial(k, n, shares[s]),
						   binomial_slowly(k, n, shares[s]), 1e-9,
						   "%d of %d at %g", k, n, shares[s]);
	/* Large ones end, too. */
	cr_expect_float_eq(distributions_binomial(500, 1000500, 0.0005), 1, 0.05);
	cr_expect_lt(distributions_binomial(0, 1e7, 1e-5), 1e-30);
}

Test(chance, many_at_once_are_believed_by_their_rank)
{
	/* The example of Benjamini and Hochberg (1995), section 3.2: four of fifteen. */
	double p[] = { 0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
		       0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000 };
	double none[] = { 0.2, 0.06, 0.9 }, late[] = { 0.05, 0.04, 0.03 };

	cr_expect_float_eq(distributions_limit(p, 15, 15, 0.05), 4 * 0.05 / 15, 1e-15);
	cr_expect_float_eq(distributions_limit(none, 3, 3, 0.05), 0.05 / 3, 1e-15,
			   "where none is believed, what one would have to be below");
	cr_expect_float_eq(distributions_limit(late, 3, 3, 0.05), 0.05, 1e-15,
			   "the last one carries the others");
	cr_expect_float_eq(distributions_limit(NULL, 0, 0, 0.05), 0.05, 0);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The rule as it is written: sorted, the last one below its line tells how many are believed. */
static size_t believed_slowly(double *p, size_t n, size_t n_tests, double level)
{
	size_t believed = 0;

	qsort(p, n, sizeof(*p), by_size);
	for (size_t i = 0; i < n; i++)
		if (p[i] <= fmin(level, level * (double)(i + 1) / (double)n_tests))
			believed = i + 1;
	return believed;
}

static size_t n_within(const double *p, size_t n, double limit)
{
	size_t n_low = 0;

	for (size_t i = 0; i < n; i++)
		n_low += p[i] <= limit;
	return n_low;
}

/* From none that is low to all; where each is just above or at its line, passes take one away each. */
Test(chance, limits_are_those_of_the_sorted)
{
	enum { MOST = 3000 };
	static double p[MOST], q[MOST];
	uint64_t state = 7;

	for (int round = 0; round < 400; round++) {
		size_t n = (size_t)(round * 7 % MOST), n_tests = n + (size_t)(round % 3 * 50);
		double limit;

		for (size_t i = 0; i < n; i++) {
			double u, line = 0.05 * (double)(i + 1) / (double)n_tests;

			state = state * 6364136223846793005u + 1442695040888963407u;
			u = (double)(state >> 11) / 0x1p53;
			p[i] = round % 4 == 0   ? u
			       : round % 4 == 1 ? u * u * u * u
			       : round % 4 == 2 ? line * (i + 5 < n || u < 0.5 ? 1.0000001 : 1)
						: 0.05 * floor(20 * u) / 20;
		}
		memcpy(q, p, n * sizeof(*p));
		limit = distributions_limit(p, n, n_tests, 0.05);
		cr_assert_eq(n_within(p, n, limit), believed_slowly(q, n, n_tests, 0.05),
			     "round %d", round);
	}
}

/* Limits are what tails are cut at, to many places and far out. */
Test(chance, limits_leave_out_what_they_are_asked_to)
{
	static const double levels[] = { 0.5, 0.05, 0.001, 1e-8, 1e-280 };
	static const double freedoms[] = { 1.5, 4, 30, 5000, 5e33, INFINITY };

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		double z = distributions_normal_limit(levels[i]);

		cr_expect_float_eq(distributions_normal(z), levels[i], 1e-9 * levels[i]);
		for (size_t k = 0; k < sizeof(freedoms) / sizeof(*freedoms) && i < 4; k++) {
			double t = distributions_student_limit(levels[i], freedoms[k]);

			cr_expect_float_eq(distributions_student(t, freedoms[k]), levels[i],
					   1e-8 * levels[i], "%g, %g", levels[i], freedoms[k]);
		}
	}
}
