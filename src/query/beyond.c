/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "beyond.h"

#include <errno.h>
#include <stdlib.h>

#include "mem.h"
#include "rowpass.h"
#include "transform.h"

/* Which frames count by the keys, as a bit of theirs. */
static uint32_t bit_of(const struct lens *lens, const struct keys *k)
{
	uint32_t bit = k->grouping == GROUP_MODULE ? BEYOND_MODULE
		       : k->grouping == GROUP_FILE ? BEYOND_FILE
						   : BEYOND_FUNCTION;

	return lens->inlines ? bit : bit * BEYOND_PLAIN;
}

static void add_column(const struct rowpass *r, uint32_t c, const struct beyond_columns *b,
		       const struct sample_columns *samples, const struct keys *k, int64_t *out)
{
	const struct rowpass_column *column = &r->column[c];
	const bool *lens = rowpass_lens(r), *own = rowpass_own(r, c);
	uint32_t bit = bit_of(r->lens, k);

	for (uint64_t i = 0; i < r->n; i++) {
		uint64_t row = r->begin + i;
		uint32_t event = r->event ? r->event[row] : 0;
		const struct beyond_frame *f = &b->frame[r->rows.stack[row]];
		uint32_t key;

		if (!(f->first & bit) || (lens && !lens[i]) || (own && !own[i]) ||
		    !rowpass_counts(column, event))
			continue;
		key = keys_of_frame(k, f->function, f->module);
		out[(size_t)key * r->lens->n_columns + c] +=
			rowpass_adds(r, column, row) *
			(column->counts ? 1 : samples->scale[event] / r->rows.scale[event]);
	}
}

/* Does it ask for frames, or change what stacks are? */
static bool asks_for_stacks(const struct rowpass *r)
{
	bool asks = r->sieve.stack || transforms_wanted(r->lens->filter);

	for (uint32_t c = 0; c < r->lens->n_columns; c++)
		asks |= r->column[c].sieve.stack != NULL;
	return asks;
}

int beyond_sums(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, const struct keys *k, const struct weights *w,
		struct progress *progress, int64_t **out)
{
	struct sample_columns samples;
	struct beyond_columns b;
	struct rowpass *r;
	int rc;

	*out = NULL;
	profile_beyond_of(p, counts, &b);
	if (b.n == 0)
		return 0;
	profile_samples_of(p, counts, &samples);
	rc = rowpass_new_beyond(p, counts, lens, &b, progress, &r);
	if (rc < 0)
		return rc;
	if (!asks_for_stacks(r))
		*out = xcalloc((size_t)k->n * lens->n_columns, sizeof(**out));
	for (uint32_t c = 0; c < lens->n_columns; c++)
		r->column[c].square_unit = w->square_unit[c];
	while (*out && (rc = rowpass_next(r, progress)) > 0)
		for (uint32_t c = 0; c < lens->n_columns; c++)
			add_column(r, c, &b, &samples, k, *out);
	rowpass_free(r);
	if (rc < 0) {
		free(*out);
		*out = NULL;
	}
	return rc;
}
