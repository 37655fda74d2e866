/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/tree/truncated_totals.h"

#include <errno.h>
#include <stdlib.h>

#include "base/mem.h"
#include "query/core/sample_scan.h"
#include "query/tree/transform.h"

/* Which frames count by the keys, as a bit of theirs. */
static uint32_t bit_of(const struct lens *lens, const struct groups *k)
{
	uint32_t bit = k->grouping == GROUP_MODULE ? BEYOND_MODULE
		       : k->grouping == GROUP_FILE ? BEYOND_FILE
						   : BEYOND_FUNCTION;

	return lens->inlines ? bit : bit * BEYOND_PLAIN;
}

static void add_column(const struct sample_scan *r, uint32_t c, const struct beyond_columns *b,
		       const struct sample_columns *samples, const struct groups *k, int64_t *out)
{
	const struct sample_scan_column *column = &r->column[c];
	const bool *lens = sample_scan_lens(r), *own = sample_scan_own(r, c);
	uint32_t bit = bit_of(r->lens, k);

	for (uint64_t i = 0; i < r->n; i++) {
		uint32_t event = r->event ? r->event[i] : 0;
		const struct beyond_frame *f = &b->frame[r->rows.stack[i]];
		uint32_t key;

		if (!(f->first & bit) || (lens && !lens[i]) || (own && !own[i]) ||
		    !sample_scan_counts(column, event))
			continue;
		key = groups_of_frame(k, f->function, f->module);
		out[(size_t)key * r->lens->n_columns + c] +=
			sample_scan_adds(r, column, i) *
			(column->counts ? 1 : samples->scale[event] / r->columns.scale[event]);
	}
}

/* Does it ask for frames, or change what stacks are? */
static bool asks_for_stacks(const struct sample_scan *r)
{
	bool asks = r->sieve.stack || transforms_wanted(r->lens->filter);

	for (uint32_t c = 0; c < r->lens->n_columns; c++)
		asks |= r->column[c].sieve.stack != NULL;
	return asks;
}

int truncated_totals_sums(const struct profile *p, const struct profile_counts *counts,
			  const struct lens *lens, const struct groups *k, const struct weights *w,
			  struct progress *progress, int64_t **out)
{
	struct sample_columns samples;
	struct beyond_columns b;
	struct sample_scan *r;
	int rc;

	*out = NULL;
	profile_beyond_of(p, counts, &b);
	if (b.n == 0)
		return 0;
	profile_samples_of(p, counts, &samples);
	rc = sample_scan_new_beyond(p, counts, lens, &b, progress, &r);
	if (rc < 0)
		return rc;
	if (!asks_for_stacks(r))
		*out = xcalloc((size_t)k->n * lens->n_columns, sizeof(**out));
	for (uint32_t c = 0; c < lens->n_columns; c++)
		r->column[c].square_unit = w->square_unit[c];
	while (*out && (rc = sample_scan_next(r, progress)) > 0)
		for (uint32_t c = 0; c < lens->n_columns; c++)
			add_column(r, c, &b, &samples, k, *out);
	sample_scan_free(r);
	if (rc < 0) {
		free(*out);
		*out = NULL;
	}
	return rc;
}
