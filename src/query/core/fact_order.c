/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/fact_order.h"

#include "base/mem.h"
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

struct place {
	uint32_t fact;
	uint32_t part;    /* part_id */
	uint32_t section; /* string_id */
	uint32_t first;   /* the part's first fact of that section */
	bool symbols;
	const char *missing; /* the fact's name where a symbol is missing, else "" */
};

static int compare(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int by_section(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int c = compare(x->part, y->part);

	c = c ? c : compare(x->section, y->section);
	return c ? c : compare(x->fact, y->fact);
}

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int c = compare(x->part, y->part);

	c = c ? c : compare(x->symbols, y->symbols);
	c = c ? c : compare(x->first, y->first);
	c = c ? c : strcmp(x->missing, y->missing);
	return c ? c : compare(x->fact, y->fact);
}

static struct place place_of(const struct profile *p, uint32_t i)
{
	struct fact f = profile_fact(p, i);
	struct place place = { i, f.part.v, f.section.v, i, false, "" };

	place.symbols = !strcmp(profile_string(p, f.section, NULL), "symbols");
	if (place.symbols && f.kind == FACT_MISSING)
		place.missing = profile_string(p, f.name, NULL);
	return place;
}

uint32_t *fact_order(const struct profile *p, const struct profile_counts *counts)
{
	uint32_t n = counts->n_facts;
	struct place *at = xcalloc((size_t)n + 1, sizeof(*at));
	uint32_t *out = xcalloc((size_t)n + 1, sizeof(*out));

	for (uint32_t i = 0; i < n; i++)
		at[i] = place_of(p, i);
	qsort(at, n, sizeof(*at), by_section);
	for (uint32_t i = 1; i < n; i++)
		if (at[i].part == at[i - 1].part && at[i].section == at[i - 1].section)
			at[i].first = at[i - 1].first;
	qsort(at, n, sizeof(*at), by_place);
	for (uint32_t i = 0; i < n; i++)
		out[i] = at[i].fact;
	free(at);
	return out;
}
