/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How likely chance alone makes something as unusual: tails of distributions, always of both sides, and
 * what to believe when many things are asked at once.
 */
#ifndef PROFTOP_QUERY_DIFF_DISTRIBUTIONS_H
#define PROFTOP_QUERY_DIFF_DISTRIBUTIONS_H

#include <stddef.h>

/* Of a normal deviate, in standard deviations. */
double distributions_normal(double z);
/* Of Student's t with so many degrees of freedom (above 0, not necessarily whole, may be INFINITY). */
double distributions_student(double t, double freedom);
/* What 95 % of Student's distribution are within: 1.96 of a normal deviate, which has INFINITY degrees of freedom. */
double distributions_student_95(double freedom);
/* What all but `level` of them is within, exactly: of Student's, and of a normal deviate. level is above 0. */
double distributions_student_limit(double level, double freedom);
double distributions_normal_limit(double level);
/* The first and second derivatives of the logarithm of the gamma function, of x above 0. */
double distributions_digamma(double x);
double distributions_trigamma(double x);
/*
 * Of k out of n where each is one of k with probability share: twice the smaller tail, 1 at most, which is never
 * too small. Numbers need not be whole (weighted samples count as as many equal ones as vary as much).
 */
double distributions_binomial(double k, double n, double share);

/*
 * Of the chances of n_tests tests, all asked at once, those up to the limit returned are below the level by the rule
 * of Benjamini and Hochberg (1995): of what is believed then, at most such a share is due to chance. The limit is
 * level * k / n_tests where k are believed, and level / n_tests where none is. So an interval that leaves out that much of each row
 * has 0 in it unless the row is believed, and of the intervals of those that are, at most `level` miss the truth (Benjamini and
 * Yekutieli, 2005). p has n of the chances, at least those that are not above the level. Reorders p.
 */
double distributions_limit(double *p, size_t n, size_t n_tests, double level);

#endif
