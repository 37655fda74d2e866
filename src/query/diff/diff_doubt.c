/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Folded stacks do not say what their counts are. When they are times or bytes, chance knows nothing of how many samples
 * they were. Several runs a side say themselves what they vary by.
 */
#include "config.h"

#include "query/diff/diff_doubt.h"

#include <math.h>
#include <stdlib.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "profile/sample_rows.h"
#include "query/analysis.h"
#include "query/diff/diff.h"

/* More samples than that nobody takes; what is a multiple of as much, in so many rows, was multiplied. */
#define MOST_SAMPLES  1e9
#define LEAST_FACTOR  1000
#define LEAST_FACTORS 3

static int64_t common_divisor(int64_t a, int64_t b)
{
	while (b != 0) {
		int64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* What the counts of an event in folded stacks have in common; 1: too few to say. */
static int64_t factor_of(const struct analysis *a, event_id event)
{
	struct sample_rows *rows = xmalloc(sizeof(*rows));
	struct sample_columns c;
	int64_t factor = 0;
	uint32_t n = 0, n_rows;

	profile_samples_of(a->profile, &a->counts, &c);
	for (uint64_t row = 0; c.weight && factor != 1; row += n_rows) {
		n_rows = sample_rows_next(rows, &c, row, a->counts.n_samples, ROWS_WEIGHT);
		if (n_rows == 0)
			break;
		for (uint32_t i = 0; i < n_rows && factor != 1; i++)
			if (sample_rows_event(rows, i) == event.v && rows->weight[i] > 0) {
				factor = common_divisor(factor, rows->weight[i]);
				n++;
			}
	}
	free(rows);
	return n < LEAST_FACTORS ? 1 : factor / c.scale[event.v];
}

char *diff_say_doubt(const struct diff *d)
{
	const struct analysis *a = d->analysis;
	const uint32_t *n_runs = a->lens.sides.n_runs;
	char n[FMT_SIZE];

	for (int side = 0; side < N_SIDES && n_runs[SIDE_BEFORE] + n_runs[SIDE_AFTER] == 2;
	     side++) {
		event_id event = a->lens.column[lens_side(&a->lens, (enum side)side)].metric.event;
		int64_t factor;

		if (!profile_event(a->profile, event)->is_counted)
			continue;
		factor = factor_of(a, event);
		if (factor < LEAST_FACTOR && fmax(d->whole.before, d->whole.after) <= MOST_SAMPLES)
			continue;
		return xasprintf(
			"the counts are %s%s: if they are times or bytes, intervals are too narrow; compare several runs a side",
			factor >= LEAST_FACTOR ? "all multiples of " : "more than samples are",
			factor >= LEAST_FACTOR ? fmt_count(n, factor) : "");
	}
	return NULL;
}
