/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "wants.h"

#include <stdlib.h>

void wants_done(struct wants *w)
{
	vec_done(&w->all);
}

static int by_place(const void *x, const void *y)
{
	const struct want *a = x, *b = y;

	if (a->module != b->module)
		return a->module < b->module ? -1 : 1;
	return (a->address > b->address) - (a->address < b->address);
}

void wants_sort(struct wants *w)
{
	if (w->all.n > 1)
		qsort(w->all.at, w->all.n, sizeof(*w->all.at), by_place);
}

size_t wants_of_module(const struct wants *w, size_t at)
{
	size_t n = 1;

	while (at + n < w->all.n && w->all.at[at + n].module == w->all.at[at].module)
		n++;
	return n;
}
