/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "noise.h"

#include "chance.h"

#include <math.h>

/* With fewer samples than this on a side, the normal distribution is no good likeness. */
#define FEW_SAMPLES   200
/* With fewer on both together, no way of dealing them out is unlikely enough. */
#define LEAST_SAMPLES 6
/* Differences that are smaller than this part of the numbers are of how numbers are kept. */
#define ROUNDING      1e-12
/* 95 % of a normal distribution are within so many deviations. */
#define NORMAL_LIMIT  1.959963984540054

/* What chance gives to the mean of one side, as compared. */
static double chance_variance(const struct noise_side *s)
{
	double v = s->variance, share;

	if (s->whole > 0) {
		share = s->sum / s->whole;
		v += share * share * s->whole_square - 2 * share * s->variance;
	}
	v = v * s->factor * s->factor / s->n_runs / s->n_runs + s->mean * s->mean * s->reference;
	return v > 0 ? v : 0;
}

static double difference(const struct noise_delta *d)
{
	double delta = d->after - d->before;

	return fabs(delta) > ROUNDING * (fabs(d->before) + fabs(d->after)) ? delta : 0;
}

/*
 * Equal samples that would vary as much as those of a row do: the weight of one, which is the same on both sides if
 * they are of the same kind. 0: what is there is exact on some side.
 */
static double sample_weight(const struct noise_side *before, const struct noise_side *after)
{
	double sum = before->sum + after->sum;

	if ((before->variance <= 0 && before->sum > 0) ||
	    (after->variance <= 0 && after->sum > 0) || sum <= 0)
		return 0;
	return (before->variance + after->variance) / sum;
}

static void compare_single(const struct noise_side *before, const struct noise_side *after,
			   struct noise_delta *d)
{
	double v = chance_variance(before) + chance_variance(after), delta = difference(d);
	double weight = sample_weight(before, after), n_before, n_after;

	if (before->variance <= 0 && after->variance <= 0) {
		d->tested = before->sum != 0 || after->sum != 0;
		d->p = delta != 0 ? 0 : 1;
		return;
	}
	/* A sample more on either side: of few, as many as there are say too little of how they vary. */
	d->half = NORMAL_LIMIT * sqrt(v + weight * before->factor * weight * before->factor +
				      weight * after->factor * weight * after->factor);
	n_before = weight > 0 ? before->sum / weight : FEW_SAMPLES;
	n_after = weight > 0 ? after->sum / weight : FEW_SAMPLES;
	d->tested = n_before + n_after >= LEAST_SAMPLES;
	if (!d->tested)
		return;
	if (fmin(n_before, n_after) >= FEW_SAMPLES)
		d->p = v > 0 ? chance_normal(delta / sqrt(v)) : delta != 0 ? 0 : 1;
	else
		d->p = chance_binomial(n_after, n_before + n_after,
				       before->factor / (before->factor + after->factor));
}

/* The variance of a side's mean over runs; *freedom: how well it is known. */
static double run_variance(const struct noise_side *s, const struct noise_side *other,
			   double *freedom)
{
	const struct noise_side *known = s->n_runs > 1 ? s : other;
	double v = known->between / s->n_runs, least = chance_variance(s);

	*freedom = known->n_runs - 1;
	return v > least ? v : least;
}

/* Welch (1947), with the degrees of freedom that he and Satterthwaite give. */
static void compare_runs(const struct noise_side *before, const struct noise_side *after,
			 struct noise_delta *d)
{
	double freedom_before, freedom_after, delta = difference(d), freedom, deviation;
	double a = run_variance(before, after, &freedom_before);
	double b = run_variance(after, before, &freedom_after);

	d->tested = before->sum != 0 || after->sum != 0;
	if (a + b <= 0) {
		d->p = delta != 0 ? 0 : 1;
		return;
	}
	freedom = (a + b) * (a + b) / (a * a / freedom_before + b * b / freedom_after);
	deviation = sqrt(a + b);
	d->half = deviation * chance_student_limit(NOISE_LEVEL, freedom);
	d->p = chance_student(delta / deviation, freedom);
}

void noise_compare(const struct noise_side *before, const struct noise_side *after,
		   struct noise_delta *out)
{
	*out = (struct noise_delta){ .before = before->mean, .after = after->mean, .p = 1 };
	if (before->n_runs > 1 || after->n_runs > 1)
		compare_runs(before, after, out);
	else
		compare_single(before, after, out);
}
