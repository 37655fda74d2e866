/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/noise.h"

#include "query/diff/distributions.h"

#include <math.h>

/* With fewer samples than this on a side, the normal distribution is no good likeness. */
#define FEW_SAMPLES    200
/* Of a row that one side lacks, so many samples in each run of the other are no chance. */
#define ENOUGH_SAMPLES 20
/* No chance is told from a smaller one. */
#define LEAST_CHANCE   1e-280
/*
 * Samples of small functions come in bursts that another run has not, as of a collector or a lock that spins: for what a run does of
 * itself, so many count as one.
 */
#define BURST          2.0
/* With fewer on both together, no way of dealing them out is unlikely enough. */
#define LEAST_SAMPLES  6
/* Differences that are smaller than this part of the numbers are of how numbers are kept. */
#define ROUNDING       1e-12
/* A chance of few samples is taken for this many deviations at least: what is as likely as not tells nothing of how they vary. */
#define LEAST_FEW      0.5

static double squared(double x)
{
	return x * x;
}

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

/* A variance of which one part is known and the other estimated: its degrees of freedom (Satterthwaite, 1946). */
static double freedom_of(double known, double estimated, double freedom)
{
	double part = estimated / (known + estimated);

	return estimated > 0 && freedom > 0 ? freedom / part / part : INFINITY;
}

/*
 * Of few samples, how likely they are dealt out between the sides as unevenly; 0: there are more than few, or they are exact.
 * Notes whether they are enough to tell anything. So many count as one.
 */
static double chance_of_few(const struct noise_side *before, const struct noise_side *after,
			    double burst, struct noise_delta *d)
{
	double weight = sample_weight(before, after), n_before, n_after;

	if (weight <= 0)
		return 0;
	n_before = before->sum / weight;
	n_after = after->sum / weight;
	d->tested = n_before + n_after >= LEAST_SAMPLES;
	if (fmin(n_before, n_after) >= FEW_SAMPLES)
		return 0;
	return distributions_binomial(
		n_after / burst, (n_before + n_after) / burst,
		before->factor / before->n_runs /
			(before->factor / before->n_runs + after->factor / after->n_runs));
}

/* What one run a side differs by of itself, as a variance. */
static double own_variance(const struct noise_side *before, const struct noise_side *after,
			   const struct noise_spread *spread)
{
	double mean = (fabs(before->mean - before->system) + fabs(after->mean - after->system)) / 2;

	return spread->own * squared(mean) + squared(spread->least) +
	       spread->system * squared(fmax(before->system, after->system));
}

/* What is left of a change when the machine changed by what suits it best, between nothing and the drift. */
static double without_drift(const struct noise_side *before, const struct noise_side *after,
			    double drift, double delta)
{
	double shift = drift * (before->mean + after->mean) / 2;

	if (shift * delta <= 0)
		return delta;
	return fabs(shift) >= fabs(delta) ? 0 : delta - shift;
}

/* What the chance of few samples is in deviations of a normal distribution, and so how large one of them is; 0: they are not few. */
static double deviation_of_few(double few, double delta)
{
	if (few <= 0 || delta == 0)
		return 0;
	/* As small a chance has no more digits. */
	return fabs(delta) /
	       (few < 1 ? fmax(distributions_normal_limit(fmax(few, LEAST_CHANCE)), LEAST_FEW)
			: LEAST_FEW);
}

/* What the test of the change without the drift says, and where few samples say less, they. */
static void conclude(double variance, double freedom, double rest, double few, bool by_few_alone,
		     struct noise_delta *d)
{
	double delta = difference(d);

	d->deviation = by_few_alone ? 0 : sqrt(variance);
	d->freedom = freedom;
	d->drift = by_few_alone ? 0 : fabs(delta - rest);
	d->few = deviation_of_few(few, delta);
	d->half = noise_half(d, NOISE_LEVEL);
	if (!d->tested)
		return;
	d->p = few > 0 ? few : 0;
	if (!by_few_alone && variance > 0)
		d->p = fmax(d->p, distributions_student(rest / sqrt(variance), freedom));
	else if (!by_few_alone)
		d->p = delta != 0 ? d->p : 1;
}

double noise_half(const struct noise_delta *d, double level)
{
	double by_few = 0, by_all = 0;

	if (d->few > 0)
		by_few = d->few * distributions_normal_limit(level);
	if (d->deviation > 0)
		by_all = d->deviation * (level == NOISE_LEVEL
						 ? distributions_student_95(d->freedom)
						 : distributions_student_limit(level, d->freedom)) +
			 d->drift;
	return fmax(by_few, by_all);
}

static void compare_single(const struct noise_side *before, const struct noise_side *after,
			   const struct noise_spread *spread, struct noise_delta *d)
{
	double chance = chance_variance(before) + chance_variance(after), delta = difference(d);
	double weight = sample_weight(before, after), own, rest, few;

	d->tested = before->sum != 0 || after->sum != 0;
	if (before->variance <= 0 && after->variance <= 0) {
		d->p = d->chance = delta != 0 ? 0 : 1;
		return;
	}
	few = chance_of_few(before, after, 1, d);
	own = own_variance(before, after, spread);
	rest = without_drift(before, after, spread->drift, delta);
	if (d->tested && few > 0)
		d->chance = few;
	else if (d->tested && chance > 0)
		d->chance = distributions_normal(delta / sqrt(chance));
	else if (d->tested)
		d->chance = delta != 0 ? 0 : 1;
	if (few > 0 && own > 0)
		few = chance_of_few(before, after, BURST, d);
	/* A sample more on either side: of few, as many as there are say too little of how they vary. */
	chance += squared(weight * before->factor) + squared(weight * after->factor);
	conclude(chance + own, freedom_of(chance, own, spread->own_freedom), rest, few,
		 few > 0 && own <= 0 && rest == delta, d);
	d->chance = fmin(d->chance, d->p);
}

/*
 * The variance of a side's mean over runs, and how well it is known. What the runs differ by and what all functions say of such a
 * one are one estimate, each by how well it is known. Chance is a part of it that is known exactly, the rest alone is estimated.
 */
static double run_variance(const struct noise_side *s, const struct noise_side *other,
			   const struct noise_spread *spread, double *freedom)
{
	const struct noise_side *known = s->n_runs > 1 ? s : other;
	double own = known->between / s->n_runs, least = chance_variance(s), v, rest;
	double usual = least + spread->square * squared(s->mean) / s->n_runs;

	*freedom = known->n_runs - 1 + spread->freedom;
	v = ((known->n_runs - 1) * own + spread->freedom * usual) / *freedom;
	rest = fmax(v, spread->freedom > 0 ? usual : v) - least;
	v = fmax(v, least);
	*freedom = rest > 0 ? freedom_of(v - fmin(rest, v), fmin(rest, v), *freedom) : INFINITY;
	return v;
}

/* Is it in each of several runs of a side, in numbers that no run has by chance, and in none of the other? */
static bool is_lone(const struct noise_side *s, const struct noise_side *other)
{
	return other->sum == 0 && s->least_samples >= ENOUGH_SAMPLES;
}

/* Of independent parts of a variance the degrees of freedom (Welch, 1947; Satterthwaite, 1946). */
static double freedom_of_sum(const double *part, const double *freedom, size_t n)
{
	double sum = 0, by = 0;

	for (size_t i = 0; i < n; i++) {
		sum += part[i];
		by += part[i] > 0 ? squared(part[i]) / freedom[i] : 0;
	}
	return by > 0 ? squared(sum) / by : INFINITY;
}

static void compare_runs(const struct noise_side *before, const struct noise_side *after,
			 const struct noise_spread *spread, struct noise_delta *d)
{
	double part[3], freedom[3], delta = difference(d), few, rest, sum;
	bool lone = is_lone(before, after) || is_lone(after, before);

	part[0] = run_variance(before, after, spread, &freedom[0]);
	part[1] = run_variance(after, before, spread, &freedom[1]);
	part[2] = spread->speed * squared((before->mean + after->mean) / 2);
	freedom[2] = spread->speed_freedom;
	sum = part[0] + part[1] + part[2];
	d->tested = before->sum != 0 || after->sum != 0;
	if (sum <= 0) {
		d->p = d->chance = delta != 0 ? 0 : 1;
		return;
	}
	few = chance_of_few(before, after, lone ? 1 : BURST, d);
	rest = without_drift(before, after, spread->drift, delta);
	conclude(sum, freedom_of_sum(part, freedom, 3), rest, few, lone && few > 0, d);
	d->chance = d->p;
}

void noise_compare(const struct noise_side *before, const struct noise_side *after,
		   const struct noise_spread *spread, struct noise_delta *out)
{
	*out = (struct noise_delta){
		.before = before->mean, .after = after->mean, .p = 1, .chance = 1
	};
	if (before->n_runs > 1 || after->n_runs > 1)
		compare_runs(before, after, spread, out);
	else
		compare_single(before, after, spread, out);
}
