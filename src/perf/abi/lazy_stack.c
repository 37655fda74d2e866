/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a gap must be for what was decoded around it to be true. */
#include "config.h"

#include "perf/abi/lazy_stack.h"

#include "perf/abi/perf_abi.h"

void lazy_stack_fill(struct lazy_stack *g)
{
	if (g->n > 0)
		g->fill(g->source, g);
	g->n = 0;
}

struct lazy_stack *lazy_stack_find(const struct perf_records *w, uint64_t offset, size_t *next)
{
	while (*next < w->n_gaps && w->gaps[*next].record < offset)
		(*next)++;
	if (*next == w->n_gaps || w->gaps[*next].record != offset || w->gaps[*next].n == 0)
		return NULL;
	return &w->gaps[*next];
}

/*
 * Is all of the gap in the stack's copy? Fields are decoded in their order: when the stack seems to begin before the
 * gap, nothing of the gap was looked at to find that out.
 */
static bool is_in_stack(const struct lazy_stack *g, const struct perf_sample *s)
{
	return s->stack && s->stack <= g->at && g->n <= s->stack_bytes &&
	       (size_t)(g->at - s->stack) <= s->stack_bytes - g->n;
}

bool lazy_stack_decode(struct lazy_stack *g, const struct perf_attr *a, const struct perf_record *r,
		       struct perf_sample *out)
{
	bool good = perf_sample_decode(a, r, out);

	if (!g)
		return good;
	if (good && is_in_stack(g, out)) {
		out->gap = g;
		return true;
	}
	lazy_stack_fill(g);
	return perf_sample_decode(a, r, out);
}

uint64_t lazy_stack_stack(const struct perf_sample *s)
{
	uint64_t n = s->gap && s->gap->n > 0 ? (uint64_t)(s->gap->at - s->stack) : s->stack_bytes;

	return n < s->stack_filled ? n : s->stack_filled;
}
