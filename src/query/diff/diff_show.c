/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/diff/diff_show.h"

#include "query/diff/diff.h"

#include <math.h>

static double size_of(const struct noise_delta *d, enum shown_size shown)
{
	switch (shown) {
	case SHOWN_BEFORE:
		return d->before;
	case SHOWN_AFTER:
		return d->after;
	case SHOWN_CHANGE:
		return fabs(diff_change(d));
	case SHOWN_BOTH:
	case N_SHOWN_SIZES:
		break;
	}
	return d->before + d->after;
}

/* What a row with such numbers shows, in the scale of column 0. */
static int64_t shown_of(const struct diff *d, const int64_t *numbers, enum shown_size shown)
{
	struct noise_delta means = { 0 };

	diff_means(d, numbers, &means.before, &means.after);
	return llround(size_of(&means, shown) * (double)d->analysis->weights.scale[0]);
}

static void show_tree(const struct diff *d, enum shown_size shown)
{
	struct calltree *t = d->analysis->tree;
	size_t n = t->n_columns;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		t->self[i * n] = t->total[i * n] = shown_of(d, &t->self[i * n], shown);
	for (uint32_t i = t->n_nodes; i-- > 1;)
		t->total[t->parent[i] * n] += t->total[i * n];
}

static void show_table(const struct diff *d, enum shown_size shown)
{
	struct table *t = &d->analysis->table;
	size_t n = t->n_columns;

	for (uint32_t i = 0; i < t->n_rows; i++) {
		t->self[i * n] = shown_of(d, &t->self[i * n], shown);
		t->total[i * n] = shown_of(d, &t->total[i * n], shown);
	}
}

void diff_show(const struct diff *d, enum shown_size shown)
{
	struct weights *w = &d->analysis->weights;

	show_table(d, shown);
	w->total[0] = shown_of(d, w->total, shown);
	w->whole[0] = shown_of(d, w->whole, shown);
	if (!d->analysis->tree)
		return;
	show_tree(d, shown);
	w->total[0] = d->analysis->tree->total[0];
	if (shown == SHOWN_CHANGE)
		w->whole[0] = w->total[0];
}
