/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/heap/heap_change.h"

#include "base/mem.h"
#include "query/core/heap_pass.h"
#include "query/core/heap_scan.h"

#include <stdlib.h>
#include <string.h>

struct scan {
	struct heap_state state;
	struct heap_pass pass;
	struct heap_span *span; /* [n_tracks] moments that had happened at both times; owned */
	int64_t *change[HEAP_SCAN_MOST]; /* [n_origins] of each thread; owned */
};

/* Sums of hostile sizes stay what 63 bits hold. */
static void add(int64_t *to, int64_t x)
{
	if (__builtin_add_overflow(*to, x, to))
		*to = x < 0 ? INT64_MIN : INT64_MAX;
}

/* A row, i of those that were read. Moments of spans have happened: a later end is as good as none. */
static void add_row(struct scan *s, unsigned worker, uint32_t row,
		    const struct heap_rows_read *rows, uint32_t i)
{
	uint32_t origin = rows->origin[i], track = s->state.columns.origins[origin].track;
	uint32_t begin = rows->begin[i], end = rows->end[i] & END_MOMENT;
	const struct heap_span *span = &s->span[track];
	bool before = begin < span->from && end >= span->from;
	bool after = begin < span->to && end >= span->to;

	if (before != after && s->pass.own->origin[origin] && s->pass.lens->origin[origin])
		add(&s->change[worker][origin],
		    (after ? 1 : -1) * heap_bytes_for(&s->state, track, row));
}

/* Was a brief block of rows of one track there at a time? It was at the moment after its begin alone. */
static bool has_moment(uint32_t first, uint32_t last, const struct heap_span *span)
{
	return (span->from > first && span->from - 1 <= last) ||
	       (span->to > first && span->to - 1 <= last);
}

/* Rows of a group. Nearly all brief blocks, which most are, change nothing. */
static void scan_group(struct scan *s, unsigned worker, uint32_t from, uint32_t to)
{
	const struct heap_columns *c = &s->state.columns;
	uint64_t pass = heap_filter_blocks(s->pass.own, from, to) &
			heap_filter_blocks(s->pass.lens, from, to);
	struct heap_rows_read rows;
	uint32_t n;

	if (!pass)
		return;
	if (c->n_tracks > 1 ||
	    has_moment(allocation_begin(c, from), allocation_begin(c, to - 1), s->span)) {
		n = allocation_read(c, from, to, &rows);
		for (uint32_t i = 0; i < n; i++)
			rows.row[i] = from + i;
	} else {
		allocation_read_kept(c, from, to, NULL, &rows, &n);
	}
	for (uint32_t i = 0; i < n; i++)
		if (pass >> rows.row[i] % HEAP_GROUP & 1)
			add_row(s, worker, rows.row[i], &rows, i);
}

static void scan_blocks(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = to - at > HEAP_GROUP ? at + HEAP_GROUP : to;
		scan_group(arg, worker, at, end);
	}
}

static int scan_all(struct scan *s, struct progress *progress, int64_t *by_origin)
{
	const struct heap_columns *c = &s->state.columns;
	unsigned n = heap_scan_threads(c->n_allocations);
	int rc;

	for (unsigned k = 0; k < n; k++)
		s->change[k] = xcalloc(c->n_origins, sizeof(*s->change[k]));
	rc = heap_scan(c->n_allocations, n, progress, scan_blocks, s);
	for (unsigned k = 0; k < n; k++) {
		for (uint32_t i = 0; i < c->n_origins; i++)
			if (s->change[k][i])
				add(&by_origin[i], s->change[k][i]);
		free(s->change[k]);
	}
	return rc;
}

int heap_change(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, int64_t from_ns, int64_t to_ns, struct progress *progress,
		int64_t *by_origin)
{
	struct scan s = { 0 };
	struct sample_scan *r;
	int rc = sample_scan_new(p, counts, lens, progress, &r);

	if (rc < 0)
		return rc;
	heap_state_init(&s.state, p, counts);
	memset(by_origin, 0, s.state.columns.n_origins * sizeof(*by_origin));
	heap_pass_init(&s.pass, &s.state, r, 0, NULL);
	s.span = xcalloc(s.state.columns.n_tracks, sizeof(*s.span));
	for (uint32_t i = 0; i < s.state.columns.n_tracks; i++) {
		s.span[i].from = heap_state_level(&s.state, i, from_ns);
		s.span[i].to = heap_state_level(&s.state, i, to_ns);
	}
	rc = scan_all(&s, progress, by_origin);
	free(s.span);
	heap_pass_done(&s.pass);
	heap_state_done(&s.state);
	sample_scan_free(r);
	return rc;
}
