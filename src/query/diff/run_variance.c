/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Smyth (2004): each function's variance is drawn from a scaled inverse chi-square distribution; the logarithms of the
 * measured ones have its scale as their mean, and their own variance tells its degrees of freedom. The scale here is what chance makes
 * of the samples plus a part of the number's square that is the same for all: the part is what is looked for.
 */
#include "config.h"

#include "query/diff/run_variance.h"

#include "base/mem.h"
#include "query/diff/distributions.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_ROWS     3
/* Runs that differ by as much as they are large: no part of a square is looked for beyond that. */
#define MOST_SQUARE    1.0
/* Of runs that are equal to the last sample, logarithms have no end. */
#define LEAST_SCALE    1e-6
/* As many functions tell how fast each run was. */
#define LEAST_SPEED    8
/* What is added to a variance, so that a large function has hardly more to say than one of some hundred samples. */
#define EQUAL_VARIANCE 0.01
/* What speeds of runs deviate by as a rule, and how many degrees of freedom that counts as. */
#define USUAL_SPEED    0.03
#define USUAL_FREEDOM  0.5

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

/* Where one function's logarithms are beside others: how far a run is off its side's mean, and how much that says. */
struct off {
	double at, says;
};

static int by_place(const void *a, const void *b)
{
	double x = ((const struct off *)a)->at, y = ((const struct off *)b)->at;

	return (x > y) - (x < y);
}

/* The place with half of what they say on either side. */
static double middle(struct off *off, uint32_t n)
{
	double all = 0, sum = 0;

	qsort(off, n, sizeof(*off), by_place);
	for (uint32_t i = 0; i < n; i++)
		all += off[i].says;
	for (uint32_t i = 0; i < n; i++)
		if ((sum += off[i].says) >= all / 2)
			return off[i].at;
	return 0;
}

/* By how much each run's functions are off their means over the side's runs, as logarithms: the runs of a side alone tell it. */
static void find_speeds(const struct run_rows *rows, const double *factor, double *speed)
{
	uint32_t n_runs = rows->n_runs[SIDE_BEFORE] + rows->n_runs[SIDE_AFTER], from = 0, to;
	struct off *off = xcalloc(rows->n, sizeof(*off));

	for (int side = 0; side < N_SIDES; side++, from = to) {
		double mean = 0;

		to = from + rows->n_runs[side];
		for (uint32_t i = from; i < to; i++) {
			for (uint32_t row = 0; row < rows->n; row++) {
				const double *at = &rows->log.at[(size_t)row * n_runs];
				double own = at[i] + log(factor[i]), all = 0;

				for (uint32_t k = from; k < to; k++)
					all += (at[k] + log(factor[k])) / (to - from);
				off[row] = (struct off){
					own - all,
					1 / (rows->chance.at[(size_t)row * n_runs + i] +
					     EQUAL_VARIANCE),
				};
			}
			speed[i] = middle(off, rows->n);
			mean += speed[i] / (to - from);
		}
		for (uint32_t i = from; i < to; i++)
			speed[i] -= mean;
	}
	free(off);
}

/* What functions differ by besides, as find_scale() has it. */
static void find_square(const struct run_rows *rows, const double *factor, double own_freedom,
			struct noise_spread *out)
{
	double low = 0, high = MOST_SQUARE;

	/* Less than chance is none: its freedom says how sure that is. */
	if (find_scale(rows, factor, 0, own_freedom, &out->freedom) <= 0)
		return;
	for (int i = 0; i < 40; i++) {
		out->square = (low + high) / 2;
		if (find_scale(rows, factor, out->square, own_freedom, &out->freedom) <= 0)
			high = out->square;
		else
			low = out->square;
	}
}

void run_variance_of_runs(const struct run_rows *rows, const double *factor, double *equal,
			  struct noise_spread *out)
{
	const uint32_t *n = rows->n_runs;
	uint32_t n_runs = n[SIDE_BEFORE] + n[SIDE_AFTER];
	double own_freedom = n_runs - N_SIDES, speed[LENS_MAX_COLUMNS] = { 0 }, off = 0;
	double both[LENS_MAX_COLUMNS];

	*out = (struct noise_spread){ 0 };
	for (uint32_t i = 0; i < n_runs; i++)
		equal[i] = 1;
	/* Functions that are exact have no chance, and there is no scale then. */
	if (rows->n < LEAST_ROWS || own_freedom < 1 || rows->chance.at[0] <= 0)
		return;
	if (rows->n >= LEAST_SPEED)
		find_speeds(rows, factor, speed);
	for (uint32_t i = 0; i < n_runs; i++) {
		equal[i] = exp(-speed[i]);
		both[i] = factor[i] * equal[i];
		off += squared(speed[i]);
	}
	find_square(rows, both, own_freedom, out);
	if (rows->n >= LEAST_SPEED) {
		out->speed_freedom = own_freedom + USUAL_FREEDOM;
		out->speed = (off + USUAL_FREEDOM * squared(USUAL_SPEED)) / out->speed_freedom *
			     (1.0 / n[SIDE_BEFORE] + 1.0 / n[SIDE_AFTER]);
	} else {
		/* What all have in common is in what each differs by, and many say it no better than one. */
		out->freedom = fmin(out->freedom, own_freedom);
	}
}
