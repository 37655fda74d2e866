/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Smyth (2004): each function's variance is drawn from a scaled inverse chi-square distribution; the logarithms of the
 * measured ones have its scale as their mean, and their own variance tells its degrees of freedom. The scale here is what chance makes
 * of the samples plus a part of the number's square that is the same for all: the part is what is looked for.
 */
#include "config.h"

#include "query/diff/run_variance.h"

#include "query/diff/distributions.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_ROWS  3
/* Runs that differ by as much as they are large: no part of a square is looked for beyond that. */
#define MOST_SQUARE 1.0
/* Of runs that are equal to the last sample, logarithms have no end. */
#define LEAST_SCALE 1e-6
/* What all functions of a run have in common is nothing when it is no more than this, or than so many deviations of it. */
#define SMALL_DRIFT 0.005
#define DEVIATIONS  2.0

static double squared(double x)
{
	return x * x;
}

/* Squares of what a function's runs differ by from their side's mean, in units of what they should. */
static double scaled_squares(const struct run_rows *rows, uint32_t row, const double *factor,
			     double part)
{
	uint32_t n_runs = rows->n_runs[SIDE_BEFORE] + rows->n_runs[SIDE_AFTER], from = 0;
	const double *at = &rows->log.at[(size_t)row * n_runs];
	const double *chance = &rows->chance.at[(size_t)row * n_runs];
	double sum = 0;

	for (int side = 0; side < N_SIDES; side++) {
		uint32_t n = rows->n_runs[side];
		double mean = 0, variance = 0;

		for (uint32_t i = from; i < from + n; i++) {
			mean += (at[i] + log(factor[i])) / n;
			variance += (chance[i] + part) / n;
		}
		for (uint32_t i = from; i < from + n && variance > 0; i++)
			sum += squared(at[i] + log(factor[i]) - mean) / variance;
		from += n;
	}
	return sum;
}

/* The inverse of trigamma, by Newton's method on its reciprocal, which is nearly straight. */
static double trigamma_inverse(double y)
{
	double x = 0.5 + 1 / y;

	for (int i = 0; i < 50; i++) {
		double at = distributions_trigamma(x), h = 1e-5 * x;
		double slope = (1 / distributions_trigamma(x + h) - 1 / at) / h;
		double step = (1 / y - 1 / at) / slope;

		x = x + step > 0 ? x + step : x / 2;
		if (fabs(step) < 1e-9 * x)
			break;
	}
	return x;
}

/* The logarithm of the scale, where the part is so large; how many degrees of freedom its distribution has. */
static double find_scale(const struct run_rows *rows, const double *factor, double part,
			 double own_freedom, double *freedom)
{
	double sum = 0, squares = 0, mean, variance;

	for (uint32_t i = 0; i < rows->n; i++) {
		double s = scaled_squares(rows, i, factor, part) / own_freedom;
		double e = log(fmax(s, LEAST_SCALE)) - distributions_digamma(own_freedom / 2) +
			   log(own_freedom / 2);

		sum += e;
		squares += e * e;
	}
	mean = sum / rows->n;
	variance = (squares - sum * mean) / (rows->n - 1) - distributions_trigamma(own_freedom / 2);
	/* Variances that are no more unlike than chance makes them are one, which all functions together tell. */
	*freedom = (rows->n - 1) * own_freedom;
	if (variance > 0)
		*freedom = fmin(*freedom, 2 * trigamma_inverse(variance));
	return mean + distributions_digamma(*freedom / 2) - log(*freedom / 2);
}

/* Do runs of a side still differ in all functions alike, when their numbers are multiplied so? */
static bool drifts(const struct run_rows *rows, const struct common_factor *typical,
		   const double *factor)
{
	double off = 0, freedom = 0, mean;
	uint32_t from = 0;

	for (int side = 0; side < N_SIDES; from += rows->n_runs[side++]) {
		uint32_t to = from + rows->n_runs[side];

		mean = 0;
		for (uint32_t i = from; i < to; i++)
			mean += log(typical->run[i] * factor[i]) / (to - from);
		for (uint32_t i = from; i < to; i++)
			off += squared(log(typical->run[i] * factor[i]) - mean);
		freedom += to - from - 1;
	}
	return off / freedom > squared(SMALL_DRIFT) + squared(DEVIATIONS * typical->error);
}

void run_variance_of_runs(const struct run_rows *rows, const struct common_factor *typical,
			  const double *factor, struct noise_spread *out)
{
	double own_freedom = rows->n_runs[SIDE_BEFORE] + rows->n_runs[SIDE_AFTER] - N_SIDES;
	double low = 0, high = MOST_SQUARE;

	*out = (struct noise_spread){ 0 };
	if (rows->n < LEAST_ROWS || own_freedom < 1 || !typical->agreed ||
	    drifts(rows, typical, factor))
		return;
	/* Less than chance is none: functions that are exact have none of it, and there is no scale then. */
	if (rows->chance.at[0] <= 0 || find_scale(rows, factor, 0, own_freedom, &out->freedom) <= 0)
		return;
	for (int i = 0; i < 40; i++) {
		out->square = (low + high) / 2;
		if (find_scale(rows, factor, out->square, own_freedom, &out->freedom) <= 0)
			high = out->square;
		else
			low = out->square;
	}
}
