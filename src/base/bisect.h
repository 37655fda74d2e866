/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The search of a place in what is sorted. */
#ifndef PROFTOP_BASE_BISECT_H
#define PROFTOP_BASE_BISECT_H

/*
 * low, a variable, becomes the first of the indexes low … high - 1 for which before is false; high where it is true for all. before
 * is an expression of the index i, true up to some index and false from there on.
 *
 *	size_t low = 0;
 *
 *	BISECT(low, names.n, i, names.at[i].time_ns <= time_ns);
 */
#define BISECT(low, high, i, before) \
	for (__typeof__(low) bisect_high = (high), i; (low) < bisect_high;) \
		if (i = (low) + (bisect_high - (low)) / 2, (before)) \
			(low) = i + 1; \
		else \
			bisect_high = i

#endif
