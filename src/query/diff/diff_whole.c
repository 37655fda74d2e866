/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/diff_whole.h"

#include "query/diff/diff.h"

#include <math.h>

/* How much of what its functions do each by itself is left in their sum: all of a function that is everything, little of many. */
static double part_left(const struct diff *d)
{
	double sum = 0, squares = 0;

	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++) {
		double x = fabs(d->row_self[i].before) + fabs(d->row_self[i].after);

		sum += x;
		squares += x * x;
	}
	return sum > 0 ? squares / sum / sum : 1;
}

void diff_compare_whole(struct diff *d)
{
	const struct analysis *a = d->analysis;
	double speed = 0;

	/* Several runs tell by how much they differ, and nothing else does. */
	d->whole_spread = (struct noise_spread){ 0 };
	if (diff_is_single(d)) {
		/* How fast a program ran does not change how much it allocates. */
		if (!metric_is_heap(a->profile, a->lens.column[0].metric))
			speed = normalize_speed(&a->amounts, d->factor);
		d->whole_spread = d->spread;
		d->whole_spread.drift = 0;
		d->whole_spread.own = NOISE_OF_RUN * NOISE_OF_RUN + speed * speed +
				      part_left(d) * d->follow;
	}
	diff_whole_delta(d, a->weights.total, &d->whole);
}
