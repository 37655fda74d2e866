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

static void scan_blocks(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	struct scan *s = arg;
	const struct heap_columns *c = &s->state.columns;

	for (uint32_t i = from; i < to; i++) {
		uint32_t origin = allocation_origin(c, i), track = c->origins[origin].track, end;
		const struct heap_span *span = &s->span[track];
		bool before, after;

		if (!s->pass.own.origin[origin] || !s->pass.lens.origin[origin] ||
		    !heap_filter_block(&s->pass.own, i) || !heap_filter_block(&s->pass.lens, i))
			continue;
		end = allocation_end(c, i, s->state.track[track].n_moments) & END_MOMENT;
		before = allocation_begin(c, i) < span->from && end >= span->from;
		after = allocation_begin(c, i) < span->to && end >= span->to;
		if (before != after)
			add(&s->change[worker][origin],
			    (after ? 1 : -1) * heap_bytes_for(&s->state, track, i));
	}
}

static int scan_all(struct scan *s, struct progress *progress, int64_t *by_stack)
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
				add(&by_stack[c->origins[i].stack], s->change[k][i]);
		free(s->change[k]);
	}
	return rc;
}

int heap_change(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, int64_t from_ns, int64_t to_ns, struct progress *progress,
		int64_t *by_stack)
{
	struct scan s = { 0 };
	struct sample_scan *r;
	int rc = sample_scan_new(p, counts, lens, progress, &r);

	if (rc < 0)
		return rc;
	memset(by_stack, 0, counts->n_stacks * sizeof(*by_stack));
	heap_state_init(&s.state, p, counts);
	heap_pass_init(&s.pass, &s.state, r, 0);
	s.span = xcalloc(s.state.columns.n_tracks, sizeof(*s.span));
	for (uint32_t i = 0; i < s.state.columns.n_tracks; i++) {
		s.span[i].from = heap_state_level(&s.state, i, from_ns);
		s.span[i].to = heap_state_level(&s.state, i, to_ns);
	}
	rc = scan_all(&s, progress, by_stack);
	free(s.span);
	heap_pass_done(&s.pass);
	heap_state_done(&s.state);
	sample_scan_free(r);
	return rc;
}
