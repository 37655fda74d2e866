/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Everything comes down to the regularised incomplete beta function, by its continued fraction (Abramowitz and
 * Stegun 26.5.8, evaluated as Lentz has it); limits of many rows by a series in one over the degrees of freedom (26.7.5).
 */
#include "config.h"

#include "query/diff/distributions.h"

#include <math.h>
#include <stdlib.h>

/* The fraction converges within some multiple of the root of the larger parameter. */
#define MOST_STEPS   20000
#define EXACT        1e-12
#define TINY         1e-300
/* 95 % of a normal distribution are within so many deviations. */
#define NORMAL_LIMIT 1.959963984540054

/* From here on, t is a normal deviate to six places, and logarithms of gamma functions lose as many. */
#define AS_NORMAL 1e7

/* With fewer degrees of freedom, the series for limits of t is too far off. */
#define SERIES_FREEDOM 6

/* From here on, the series of digamma and trigamma are exact to ten places. */
#define GAMMA_SERIES 10

#define MOST_TRIES 50

/* Passes over chances before they are sorted. */
#define MOST_ROUNDS 24

/* One step of Lentz's method for a term of the fraction. */
static void step(double term, double *c, double *d, double *value)
{
	*d = 1 + term * *d;
	*c = 1 + term / *c;
	*d = 1 / (fabs(*d) < TINY ? TINY : *d);
	*c = fabs(*c) < TINY ? TINY : *c;
	*value *= *c * *d;
}

static double fraction(double a, double b, double x)
{
	double c = 1, d = 1 - (a + b) * x / (a + 1), value;

	d = 1 / (fabs(d) < TINY ? TINY : d);
	value = d;
	for (int i = 1; i < MOST_STEPS; i++) {
		double m = i, before;

		step(m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)), &c, &d, &value);
		before = value;
		step(-(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), &c, &d, &value);
		if (fabs(value - before) < EXACT * fabs(value))
			break;
	}
	return value;
}

/* lgamma() writes a variable of its library: rows are judged on several threads. */
static double log_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

/* I_x(a, b) for a, b >= 0; the limits where either is 0. */
static double incomplete_beta(double a, double b, double x)
{
	double front;

	if (a <= 0 || x >= 1)
		return 1;
	if (b <= 0 || x <= 0)
		return 0;
	front = exp(log_gamma(a + b) - log_gamma(a) - log_gamma(b) + a * log(x) + b * log1p(-x));
	if (x < (a + 1) / (a + b + 2))
		return front * fraction(a, b, x) / a;
	return 1 - front * fraction(b, a, 1 - x) / b;
}

double distributions_normal(double z)
{
	return erfc(fabs(z) * M_SQRT1_2);
}

double distributions_student(double t, double freedom)
{
	if (freedom >= AS_NORMAL)
		return distributions_normal(t);
	return incomplete_beta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/* The same by halving. */
static double find_limit(double freedom, double level)
{
	double low = 0, high = 1;

	while (distributions_student(high, freedom) > level)
		high *= 2;
	for (int i = 0; i < 60; i++) {
		double middle = (low + high) / 2;

		if (distributions_student(middle, freedom) > level)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* The same from that of a normal deviate, to four places at 95 %. */
static double limit_series(double freedom)
{
	static const double terms[][5] = {
		{ 1. / 4, 1. / 4 },
		{ 3. / 96, 16. / 96, 5. / 96 },
		{ -15. / 384, 17. / 384, 19. / 384, 3. / 384 },
		{ -945. / 92160, -1920. / 92160, 1482. / 92160, 776. / 92160, 79. / 92160 },
	};
	double sum = NORMAL_LIMIT, scale = 1;

	for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
		double power = NORMAL_LIMIT, term = 0;

		for (size_t k = 0; k < i + 2; k++, power *= NORMAL_LIMIT * NORMAL_LIMIT)
			term += terms[i][k] * power;
		scale /= freedom;
		sum += term * scale;
	}
	return sum;
}

double distributions_student_95(double freedom)
{
	return freedom < SERIES_FREEDOM ? find_limit(freedom, 0.05) : limit_series(freedom);
}

double distributions_normal_limit(double level)
{
	return find_limit(INFINITY, level);
}

/* By Newton's method on logarithms, where tails of few degrees of freedom are straight lines. */
double distributions_student_limit(double level, double freedom)
{
	double t = distributions_normal_limit(level), front;

	if (freedom >= AS_NORMAL)
		return t;
	front = log_gamma((freedom + 1) / 2) - log_gamma(freedom / 2) - log(freedom * M_PI) / 2;
	for (int i = 0; i < MOST_TRIES; i++) {
		double p = distributions_student(t, freedom);
		double density = exp(front - (freedom + 1) / 2 * log1p(t * t / freedom));
		double step = log(p / level) * p / (2 * density * t);

		t *= exp(step);
		if (fabs(step) < EXACT)
			break;
	}
	return t;
}

double distributions_digamma(double x)
{
	double sum = 0, y;

	for (; x < GAMMA_SERIES; x++)
		sum -= 1 / x;
	y = 1 / (x * x);
	return sum + log(x) - 1 / (2 * x) -
	       y * (1. / 12 - y * (1. / 120 - y * (1. / 252 - y / 240)));
}

double distributions_trigamma(double x)
{
	double sum = 0, y;

	for (; x < GAMMA_SERIES; x++)
		sum += 1 / (x * x);
	y = 1 / (x * x);
	return sum + 1 / x + y / 2 + y / x * (1. / 6 - y * (1. / 30 - y * (1. / 42 - y / 30)));
}

double distributions_binomial(double k, double n, double share)
{
	double at_least = incomplete_beta(k, n - k + 1, share);
	double at_most = incomplete_beta(n - k, k + 1, 1 - share);
	double tail = 2 * fmin(at_least, at_most);

	return tail < 1 ? tail : 1;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Moves those up to the limit to the front; returns how many they are. */
static size_t part(double *p, size_t n, double limit)
{
	size_t n_low = 0;

	for (size_t i = 0; i < n; i++)
		if (p[i] <= limit) {
			double low = p[i];

			p[i] = p[n_low];
			p[n_low++] = low;
		}
	return n_low;
}

/*
 * The largest i of which the i-th smallest is at most level * i / n: that many are below what so many allow. Going down
 * from all of them gets there, mostly in a few steps; where each takes but little away, sorting does.
 */
double distributions_limit(double *p, size_t n, size_t n_tests, double level)
{
	size_t n_low = part(p, n, level), before = n_tests;

	for (int round = 0; round < MOST_ROUNDS && n_low < before; round++) {
		before = n_low;
		n_low = part(p, n_low, level * (double)n_low / (double)n_tests);
	}
	if (n_low < before)
		qsort(p, n_low, sizeof(*p), by_size);
	while (n_low < before && n_low > 0 &&
	       p[n_low - 1] > level * (double)n_low / (double)n_tests)
		n_low--;
	return n_tests ? level * (double)(n_low ? n_low : 1) / (double)n_tests : level;
}
