/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How much too high a sampled heap's peak is: it is the highest of many estimates, and so rather one that chance made high.
 *
 * The sample is halved by lot, several times. Where one half is highest, the other half says how much was there without
 * having been asked because it was high: on average no more than the true peak. So the peak is too high by no more than it
 * is above that, on average; by nothing where one moment is the highest in any half.
 */
#ifndef PROFTOP_QUERY_HEAP_PEAK_EXCESS_H
#define PROFTOP_QUERY_HEAP_PEAK_EXCESS_H

#include "profile/profile.h"
#include "query/core/lens.h"

struct progress;

/*
 * Of what passes the lens and its first column, whose peak was found to be `peak` bytes. *out: by what part of it that may
 * be too high; 0 where there are too many blocks to try, whose peak is close. 0 or -ECANCELED.
 */
int peak_excess(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, double peak, struct progress *progress, double *out);

#endif
