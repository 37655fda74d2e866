/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/diff_whole.h"

#include "query/diff/diff.h"

#include <math.h>

/* By what all functions changed that are not beyond noise, as a logarithm and as it was measured. NAN: there are none. */
static double change_of_rest(const struct diff *d)
{
	double before = 0, after = 0;

	for (uint32_t i = 0; i < d->analysis->table.n_rows; i++) {
		if (diff_is_beyond(&d->self, &d->row_self[i]))
			continue;
		before += d->row_self[i].before / d->factor[0];
		after += d->row_self[i].after / d->factor[1];
	}
	return before > 0 && after > 0 ? log(after / before) : NAN;
}

void diff_compare_whole(struct diff *d)
{
	static const struct diff_family alone = { .limit = NOISE_LEVEL };
	const struct analysis *a = d->analysis;
	const int64_t *numbers = a->weights.total;
	struct diff by = *d; /* d with the spread of the whole, which is not that of rows */
	double speed;

	by.spread.drift = 0;
	if (diff_is_single(d)) {
		by.spread.own = NOISE_OF_RUN * NOISE_OF_RUN;
	} else {
		/* What runs differ by in speed is not taken off, and only the runs tell by how much they do. */
		by.spread.square = by.spread.freedom = 0;
		for (uint32_t i = 0; i < LENS_MAX_COLUMNS; i++)
			by.alike[i] = 1;
	}
	diff_delta(&by, KEY_NONE, PART_TOTAL, numbers, &d->whole);
	d->whole_measured = d->whole.tested && d->whole.p <= NOISE_LEVEL;
	/* How fast a program ran does not change how much it allocates. */
	if (diff_is_single(d) && !metric_is_heap(a->profile, a->lens.column[0].metric)) {
		speed = normalize_speed(&a->amounts, change_of_rest(d), d->factor);
		by.spread.own += speed * speed;
		diff_delta(&by, KEY_NONE, PART_TOTAL, numbers, &d->whole);
	}
	diff_agree(&alone, &d->whole);
}
