/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that was rebuilt since it was recorded has lost its names on one side. Folded stacks do not say what their counts are: when
 * they are times or bytes, chance knows nothing of how many samples they were. Several runs a side say themselves what they vary by.
 */
#include "config.h"

#include "query/diff/diff_doubt.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/mem.h"
#include "profile/sample_rows.h"
#include "query/analysis.h"
#include "query/diff/diff.h"

/* More samples than that nobody takes; what is a multiple of as much, in so many rows, was multiplied. */
#define MOST_SAMPLES  1e9
#define LEAST_FACTOR  1000
#define LEAST_FACTORS 3

/* A module without names is worth a sentence where it has that share of a side. */
#define NAMELESS_SHARE 0.02

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

static bool is_nameless(const struct key *key)
{
	return key->id & KEY_OF_MODULE || key->flags & FUNCTION_UNRESOLVED;
}

static const char *module_name(const struct profile *p, uint32_t module)
{
	return profile_string(p, profile_module(p, (module_id){ module })->name, NULL);
}

/* What functions of a module with that name have themselves, of each side. */
static void sum_named(const struct diff *d, const char *module, double sum[N_SIDES])
{
	const struct analysis *a = d->analysis;
	double before, after;

	sum[SIDE_BEFORE] = sum[SIDE_AFTER] = 0;
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *key = &a->table_keys->key[a->table.key[i]];

		if (is_nameless(key) || strcmp(key->module, module) != 0)
			continue;
		diff_measured(d, &a->table.self[(size_t)i * a->table.n_columns], &before, &after);
		sum[SIDE_BEFORE] += before;
		sum[SIDE_AFTER] += after;
	}
}

/* That a row stands for code which has names on the other side alone; NULL: it does not. */
static char *say_nameless(const struct diff *d, uint32_t row, const double whole[N_SIDES])
{
	const struct analysis *a = d->analysis;
	const struct key *key = &a->table_keys->key[a->table.key[row]];
	double without[N_SIDES], named[N_SIDES];
	const char *module;
	char share[FMT_SIZE];

	if (!is_nameless(key))
		return NULL;
	diff_measured(d, &a->table.self[(size_t)row * a->table.n_columns], &without[SIDE_BEFORE],
		      &without[SIDE_AFTER]);
	module = key->id & KEY_OF_MODULE ? module_name(a->profile, key->id & ~KEY_OF_MODULE)
					 : key->module;
	for (int side = 0; side < N_SIDES; side++) {
		int other = N_SIDES - 1 - side;

		if (without[side] < NAMELESS_SHARE * whole[side])
			continue;
		sum_named(d, module, named);
		if (without[side] < named[side] || named[other] <= without[other])
			continue;
		return xasprintf(
			"%s has no names %s (%s %% of that), as its file was rebuilt or is gone: functions of it that are new or gone may be neither; proftop pack, after recording, keeps names",
			module, side == SIDE_BEFORE ? "before" : "after",
			fmt_percent(share, (int64_t)without[side], (int64_t)whole[side]));
	}
	return NULL;
}

static char *say_any_nameless(const struct diff *d)
{
	const struct analysis *a = d->analysis;
	double whole[N_SIDES];
	char *said = NULL;

	if (a->table_keys->grouping != GROUP_FUNCTION)
		return NULL;
	diff_measured(d, a->weights.total, &whole[SIDE_BEFORE], &whole[SIDE_AFTER]);
	for (uint32_t i = 0; i < a->table.n_rows && !said; i++)
		said = say_nameless(d, i, whole);
	return said;
}

char *diff_say_doubt(const struct diff *d)
{
	const struct analysis *a = d->analysis;
	char *nameless = say_any_nameless(d);
	const uint32_t *n_runs = a->lens.sides.n_runs;
	char n[FMT_SIZE];

	if (nameless)
		return nameless;
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
