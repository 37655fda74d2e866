/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Two numbers that were measured: do they differ by more than chance makes them differ?
 *
 * One run a side: a sum over samples, each of which chance might have left out, varies by the sum of its samples'
 * squared weights (Poisson; with equal weights w of k samples: w*w*k). Of a part of a whole to which both sides are
 * made equal, what the whole varies by too is taken off (binomial). Few samples go by the exact binomial test
 * of how they are dealt out between the sides.
 *
 * That is chance. One run of a program differs from the next by more: the machine's speed, where memory lies, what else
 * the processors do, and above all what the kernel does. A change of one run a side is judged twice: by chance alone, and by
 * chance and what a run does of itself (struct noise_spread).
 *
 * Several runs: the means, by Welch's test of what runs differ by among themselves, which is never taken for
 * less than what chance makes of the samples. A side of one run is taken to vary as the other does. As few runs say
 * little of how a function varies, what all functions say of it (run_variance.h) counts as if it were so many runs more, and
 * what chance makes of its samples is known without any.
 *
 * What is counted without gaps (every allocation) is exact: any difference is one.
 */
#ifndef PROFTOP_QUERY_DIFF_NOISE_H
#define PROFTOP_QUERY_DIFF_NOISE_H

#include <stdbool.h>
#include <stdint.h>

/* Intervals are of 95 %, and so is what is believed. */
#define NOISE_LEVEL  0.05
/*
 * What changes of one run a side deviate by of themselves, as parts of the number: measured on pairs of runs of the same programs
 * (doc/diff-truth.md).
 */
#define NOISE_OF_RUN 0.01

/* One side of a row. */
struct noise_side {
	uint32_t n_runs; /* at least 1 */
	double sum;      /* of all runs, as it was measured */
	double mean;     /* of the runs, as it is compared */
	double factor;   /* from a run's sum to what is compared, on average */
	double between;  /* variance among the runs of what is compared; 0 with one run */
	double variance; /* that chance gives to sum; 0: exact */
	double whole;    /* what sum is a part of, if that is made equal on both sides; else 0 */
	double whole_square; /* sum of the squared weights of the whole */
	double reference; /* what dividing by something that varies too adds, in squares of the mean */
	double system;    /* the part of the mean that was spent in the kernel */
	double least_samples; /* how many the run with the fewest has, of several; else 0 */
};

/* What runs differ by of themselves, beyond chance. All zero: nothing is known of it. */
struct noise_spread {
	double square;  /* variance of a run's number, in squares of that number */
	double freedom; /* degrees of freedom: how well it is known, and how much it counts beside what a row's own runs say */
	double drift; /* everything changed by this at least (a logarithm): the machine may have */
	/* Of several runs a side: */
	double speed; /* variance of a change by the runs' speed, in squares of the number, where that is not known of each run */
	double speed_freedom; /* how well that is known, in degrees of freedom */
	/* Of one run a side: */
	double own;         /* variance of a change, in squares of the number */
	double system;      /* the same of the part that was spent in the kernel */
	double own_freedom; /* how well that is known, in degrees of freedom; 0: exactly */
	double least;       /* deviation of any row's change, however small the row, in the unit */
};

struct noise_delta {
	double before, after; /* the means */
	/* after - before is within so much of what it says, 95 times of 100 where nothing else is asked; 0: exact */
	double half;
	double p; /* how likely chance, and what runs do of themselves, make such a difference */
	double chance; /* how likely chance alone does, which is at most that */
	bool tested;   /* there is enough for a difference to be told from chance */
	bool all;      /* it is of everything, whose change is judged by itself */
	/* What p and half are made of: */
	double deviation,
		freedom; /* of what is left without the drift; 0: few samples say it alone */
	double drift;    /* how much the drift may explain */
	double few;      /* a deviation as few samples have it; 0: they are not few */
};

void noise_compare(const struct noise_side *before, const struct noise_side *after,
		   const struct noise_spread *spread, struct noise_delta *out);

/*
 * The interval that the truth is outside of so often, a part: 0 is outside of it just where p is at most that, as both are made of the
 * same. A number that is exact has none: 0.
 */
double noise_half(const struct noise_delta *d, double level);

#endif
