/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples are nearly in order of time: the pass begins at the first batch behind which none is old. Recorders hand
 * over rounds of a second at most, which is what may be out of order.
 */
#include "config.h"

#include "recent.h"

#include <errno.h>
#include <stdlib.h>

#include "mem.h"
#include "rowpass.h"

/* So much may a sample be younger than one that stands behind it. */
#define DISORDER_NS INT64_C(2000000000)

/* The stretch of time, on the recording's clock. */
struct stretch {
	int64_t from_ns, slot_ns;
};

/* The first row of the first batch that must be looked at. */
static uint64_t first_row(const struct rowpass *r, int64_t from_ns)
{
	uint64_t row = r->counts.n_samples;

	while (row > 0) {
		uint64_t begin = row > ROWPASS_BATCH ? row - ROWPASS_BATCH : 0;
		bool young = false;

		for (uint64_t i = begin; i < row && !young; i++)
			young = r->rows.time_ns[i] != TIME_NONE &&
				r->rows.time_ns[i] >= from_ns - DISORDER_NS;
		if (!young)
			break;
		row = begin;
	}
	return row;
}

/* The key of what a stack ends in; KEY_NONE of the root. */
static uint32_t leaf_key(const struct lens *lens, const struct keys *k,
			 const struct location_columns *l, uint32_t location)
{
	const struct frame *f;
	uint32_t function;

	if (location == ID_NONE)
		return KEY_NONE;
	f = lens->inlines ? location_frames(l, location) : NULL;
	function = f ? f[f->n_more].function : location_function(l, location);
	return keys_of_frame(k, function, l->module[location]);
}

static void add_batch(const struct rowpass *r, const struct profile *p, const struct keys *k,
		      const struct stretch *s, struct recent *out)
{
	const struct rowpass_column *column = &r->column[0];
	const bool *lens = rowpass_any_time(r), *own = rowpass_own(r, 0);
	struct location_columns locations;
	struct stack_columns stacks;

	profile_locations(p, &locations);
	profile_stacks_of(p, &r->counts, &stacks);
	for (uint64_t i = 0; i < r->n; i++) {
		uint64_t row = r->begin + i;
		int64_t at = r->rows.time_ns[row], slot = (at - s->from_ns) / s->slot_ns;
		uint32_t key;

		if (at == TIME_NONE || at < s->from_ns || slot >= RECENT_SLOTS ||
		    (lens && !lens[i]) || (own && !own[i]) ||
		    !rowpass_counts(column, r->event ? r->event[row] : 0))
			continue;
		key = leaf_key(r->lens, k, &locations, stacks.location[r->rows.stack[row]]);
		if (key < out->n_keys)
			out->slot[(size_t)key * RECENT_SLOTS + (size_t)slot] +=
				rowpass_weight(column, row);
	}
}

int recent_weigh(const struct profile *p, const struct profile_counts *counts,
		 const struct lens *lens, const struct keys *k, const struct weights *w,
		 struct progress *progress, struct recent *out)
{
	struct stretch s = { .slot_ns = lens->recent_ns / RECENT_SLOTS };
	struct rowpass *r;
	int rc;

	*out = (struct recent){ 0 };
	if (w->begin_ns == TIME_NONE || s.slot_ns <= 0)
		return -ENODATA;
	rc = rowpass_new(p, counts, lens, progress, &r);
	if (rc < 0)
		return rc;
	if (!r->rows.time_ns) {
		rowpass_free(r);
		return -ENODATA;
	}
	/* One that is not over would look as if less were done now: the last is the last whole one. */
	s.from_ns = w->begin_ns +
		    ((w->end_ns - w->begin_ns) / s.slot_ns - RECENT_SLOTS) * s.slot_ns;
	out->n_keys = k->n;
	out->slot = xcalloc((size_t)k->n * RECENT_SLOTS, sizeof(*out->slot));
	r->begin = first_row(r, s.from_ns);
	while ((rc = rowpass_next(r, progress)) > 0)
		add_batch(r, p, k, &s, out);
	rowpass_free(r);
	return rc;
}

void recent_done(struct recent *r)
{
	free(r->slot);
	*r = (struct recent){ 0 };
}
