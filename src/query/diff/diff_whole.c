/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/diff_whole.h"

#include "base/mem.h"
#include "query/diff/diff.h"

#include <math.h>
#include <stdlib.h>

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

/* Is the change of a row no machine's? It is beyond what that explains, or the row is on one side alone, and chance does not make it. */
static bool is_work(const struct diff *d, const struct noise_delta *self)
{
	bool lone = (self->before == 0) != (self->after == 0);

	return !self->all && diff_verdict(&d->self, self) >= (lone ? VERDICT_OWN : VERDICT_BEYOND);
}

/* By how much the machine's speed may have changed: by what all did, or what else there is than rows that changed of themselves. */
static double speed_of(const struct diff *d)
{
	const struct analysis *a = d->analysis;
	const struct table *t = &a->table;
	double before, after, speed = normalize_speed(&a->amounts, d->factor, NULL);
	struct normalize_work work = { 0 };

	/* Amounts are of all functions. */
	if (a->lens.filter || a->table_keys != &a->keys || a->keys.grouping != GROUP_FUNCTION)
		return speed;
	work.is = xcalloc((size_t)a->keys.n + 1, sizeof(*work.is));
	for (uint32_t i = 0; i < t->n_rows; i++) {
		if (!is_work(d, &d->row_self[i]))
			continue;
		diff_measured(d, &t->self[(size_t)i * t->n_columns], &before, &after);
		work.is[t->key[i]] = true;
		work.sum[SIDE_BEFORE] += before;
		work.sum[SIDE_AFTER] += after;
	}
	speed = fmin(speed, normalize_speed(&a->amounts, d->factor, &work));
	free(work.is);
	return speed;
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
			speed = speed_of(d);
		d->whole_spread = d->spread;
		d->whole_spread.drift = 0;
		d->whole_spread.own = NOISE_OF_RUN * NOISE_OF_RUN + speed * speed +
				      part_left(d) * d->follow;
	}
	diff_whole_delta(d, a->weights.total, &d->whole);
	diff_interval(&d->total, &d->whole);
}
