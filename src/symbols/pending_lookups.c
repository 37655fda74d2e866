/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "symbols/pending_lookups.h"

#include <stdlib.h>

#include "base/compare.h"

void pending_lookups_done(struct pending_lookups *w)
{
	vec_done(&w->all);
}

static int by_place(const void *x, const void *y)
{
	const struct want *a = x, *b = y;

	return COMPARE(a->module, b->module) ?: COMPARE(a->address, b->address);
}

void pending_lookups_sort(struct pending_lookups *w)
{
	if (w->all.n > 1)
		qsort(w->all.at, w->all.n, sizeof(*w->all.at), by_place);
}

size_t pending_lookups_of_module(const struct pending_lookups *w, size_t at)
{
	size_t n = 1;

	while (at + n < w->all.n && w->all.at[at + n].module == w->all.at[at].module)
		n++;
	return n;
}
