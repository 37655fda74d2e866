/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/diff_spread.h"

#include "query/diff/diff.h"
#include "query/diff/run_variance.h"

#include <math.h>

/* How well NOISE_OF_RUN is known, in degrees of freedom. */
#define OWN_FREEDOM      30
/*
 * Where the machine's speed changed, functions follow it unlike: by so much of that, and by so much more of it the more it changed, as
 * what slows a machine much, such as a neighbour's use of caches, meets what needs memory and hardly what does not.
 */
#define OWN_OF_SPEED     0.25
#define OWN_OF_MORE      4.0
#define OWN_MOST         0.4
/* How well that rule is known, in degrees of freedom: functions of the pair itself count by theirs. */
#define FOLLOW_FREEDOM   4.0
/* Of several runs a side, what their speeds deviate by explains a drift of so many deviations. */
#define DRIFT_DEVIATIONS 2
/* What the kernel does depends on what else there is: interrupts, pages, files in memory. */
#define SYSTEM_DEVIATION 0.7
/* The same of any row, as a part of everything: small functions gain and lose what their neighbours lose and gain. */
#define LEAST_DEVIATION  0.001

static const struct lens_sides *sides_of(const struct diff *d)
{
	return &d->analysis->lens.sides;
}

static uint32_t n_runs(const struct diff *d)
{
	return sides_of(d)->n_runs[SIDE_BEFORE] + sides_of(d)->n_runs[SIDE_AFTER];
}

/* How much functions that agree tell of what functions follow the machine by, in degrees of freedom. */
static double freedom_of_alike(const struct normalize *a, double square)
{
	double sum = 0;

	for (uint32_t i = 0; i < a->rows.n && a->typical.agreed; i++) {
		const double *chance = &a->rows.chance.at[(size_t)i * N_SIDES];
		double part = square / (square + chance[0] + chance[1]);

		sum += part * part;
	}
	sum *= a->rows.n ? (double)a->typical.n_alike / a->rows.n : 0;
	return sum > 1 ? sum - 1 : 0;
}

/* By how much functions follow the machine's speed unlike, squared: as a rule, and as those of this pair do. */
static double follow_of(const struct normalize *a, double speed)
{
	double rule = fmin(speed * (OWN_OF_SPEED + OWN_OF_MORE * speed), OWN_MOST);
	double square = rule * rule, freedom;

	if (square <= 0)
		return 0;
	freedom = freedom_of_alike(a, square);
	return (FOLLOW_FREEDOM * square + freedom * N_SIDES * a->typical.spread.square) /
	       (FOLLOW_FREEDOM + freedom);
}

/* What a run does of itself, as far as the two that there are tell. */
static void find_own(struct diff *d)
{
	const struct analysis *a = d->analysis;
	const struct normalize *amounts = &a->amounts;
	const struct noise_spread *learned = &amounts->typical.spread;
	const double as_measured[N_SIDES] = { 1, 1 }, usual = NOISE_OF_RUN * NOISE_OF_RUN;
	double all = 0;

	for (uint32_t i = 0; i < N_SIDES; i++)
		all += fabs((double)a->weights.whole[SIDES_FIRST + i] * d->part[i]) / N_SIDES;
	d->follow = follow_of(amounts, normalize_speed(amounts, as_measured, NULL));
	/* What few functions say of that is little more than what programs do as a rule: both count, by how well they are known. */
	d->spread.own =
		(OWN_FREEDOM * usual + learned->freedom * fmax(usual, N_SIDES * learned->square)) /
			(OWN_FREEDOM + learned->freedom) +
		d->follow;
	d->spread.own_freedom = OWN_FREEDOM;
	d->spread.system = SYSTEM_DEVIATION * SYSTEM_DEVIATION;
	d->spread.least = LEAST_DEVIATION * all;
	d->spread.drift = normalize_drift(amounts, d->factor);
}

/* By how much most functions differ between the sides, as a logarithm of the means over their runs. */
static double drift_of_runs(const struct diff *d)
{
	const uint32_t *n = sides_of(d)->n_runs;
	double drift = 0;

	for (uint32_t i = 0; i < n_runs(d); i++) {
		bool after = i >= n[SIDE_BEFORE];

		drift += (after ? 1 : -1) *
			 log(d->analysis->amounts.typical.run[i] * d->factor[i]) / n[after];
	}
	return drift;
}

/* What runs of a side differ by: all functions together, and each besides. */
static void find_spread_of_runs(struct diff *d)
{
	const struct normalize *a = &d->analysis->amounts;
	double drift;

	run_variance_of_runs(&a->rows, d->factor, d->alike, &d->spread);
	if (!a->typical.known)
		return;
	/* Most functions say what the speeds made of the sides, as far as that is no more than speeds make of them. */
	drift = drift_of_runs(d);
	d->spread.drift = copysign(fmin(fabs(drift), DRIFT_DEVIATIONS * sqrt(d->spread.speed)),
				   drift);
	d->spread.speed = 0;
}

/* One run a side: what runs do of themselves. Several: what runs of a side differ by. */
void diff_find_spread(struct diff *d)
{
	d->spread = d->analysis->amounts.typical.spread;
	for (uint32_t i = 0; i < n_runs(d); i++)
		d->alike[i] = 1;
	if (diff_is_single(d))
		find_own(d);
	else
		find_spread_of_runs(d);
}
