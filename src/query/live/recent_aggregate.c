/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples are nearly in order of time: the pass begins at the first batch behind which none is old. Recorders hand
 * over rounds of a second at most, which is what may be out of order.
 */
#include "config.h"

#include "query/live/recent_aggregate.h"

#include "base/huge_alloc.h"
#include "query/core/groups.h"
#include "query/core/sample_scan.h"
#include "query/heap_activity.h"

#include <errno.h>

/* So much may a sample be younger than one that stands behind it. */
#define DISORDER_NS INT64_C(2000000000)

/* The stretch of time, since the recording's start; it may begin before. */
struct stretch {
	int64_t from_ns, slot_ns;
	uint32_t n; /* slots */
	const struct recent_rows *rows;
};

/* The first row of the first batch that must be looked at. */
static uint64_t first_row(struct sample_scan *r, int64_t from_ns)
{
	uint64_t row = r->counts.n_samples;

	while (row > 0) {
		uint64_t begin = row > SAMPLE_SCAN_BATCH ? row - SAMPLE_SCAN_BATCH : 0;
		bool young = false;
		int64_t since;

		sample_rows_read(&r->rows, &r->columns, begin, (uint32_t)(row - begin),
				 ROWS_THREAD | ROWS_TIME);
		for (uint64_t i = 0; i < row - begin && !young; i++)
			young = sample_scan_since(r, i, &since) && since >= from_ns - DISORDER_NS;
		if (!young)
			break;
		row = begin;
	}
	return row;
}

/* Which row of weights a sample counts for. */
static uint32_t row_of(const struct sample_scan *r, const struct recent_rows *rows, uint64_t i)
{
	uint32_t stack = r->rows.stack[i];

	if (rows->threads)
		return groups_of_row(rows->threads, sample_rows_thread(&r->rows, i));
	return rows->of_stack ? rows->of_stack[stack] : stack;
}

static void add_batch(const struct sample_scan *r, const struct stretch *s, struct weights *w)
{
	const struct sample_scan_column *column = &r->column[0];
	const bool *lens = sample_scan_lens(r), *own = sample_scan_own(r, 0);

	for (uint64_t i = 0; i < r->n; i++) {
		int64_t since;
		uint64_t slot;

		if ((lens && !lens[i]) || (own && !own[i]) ||
		    !sample_scan_counts(column, r->event ? r->event[i] : 0) ||
		    !sample_scan_since(r, i, &since) || since < s->from_ns)
			continue;
		slot = ((uint64_t)since - (uint64_t)s->from_ns) / (uint64_t)s->slot_ns;
		if (slot >= s->n)
			continue;
		w->stack[(size_t)row_of(r, s->rows, i) * s->n + slot] += sample_scan_weight(column,
											    i);
	}
}

static int weigh_samples(struct sample_scan *r, const struct stretch *s, struct progress *progress,
			 struct weights *out)
{
	int rc;

	if (!r->columns.time_ns)
		return -ENODATA;
	r->begin = first_row(r, s->from_ns);
	while ((rc = sample_scan_next(r, progress)) > 0)
		add_batch(r, s, out);
	return rc;
}

int recent_aggregate(const struct profile *p, const struct profile_counts *counts,
		     const struct lens *lens, const struct time_span *span,
		     const struct recent_rows *rows, struct progress *progress, struct weights *out)
{
	struct stretch s = { .from_ns = span->from_ns,
			     .slot_ns = (span->to_ns - span->from_ns) / span->n,
			     .n = span->n,
			     .rows = rows };
	struct sample_scan *r;
	int rc;

	*out = (struct weights){ .n_stacks = rows->n, .n_columns = span->n };
	rc = sample_scan_new(p, counts, lens, progress, &r);
	if (rc < 0)
		return rc;
	out->stack = huge_alloc_table_new((size_t)out->n_stacks * span->n * sizeof(*out->stack));
	out->samples = huge_alloc_table_new(out->n_stacks * sizeof(*out->samples));
	if (metric_is_heap(p, lens->column[0].metric))
		rc = heap_activity_columns(p, r, rows->threads, span, progress, out);
	else
		rc = weigh_samples(r, &s, progress, out);
	sample_scan_free(r);
	return rc;
}
