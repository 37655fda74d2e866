/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When most bytes were there, of any selection of allocations, to the moment.
 *
 * Allocations stand in the order in which they began, so one pass over them goes through time; what ends
 * is noted ahead, in a ring of moments, or, where it lies behind the ring, by window of moments until
 * that comes near. Memory so grows with what lives at a time. Each thread takes a stretch of time; what
 * began before its stretch and ended in it, it looks for first.
 */
#include "config.h"

#include "query/core/heap_pass.h"

#include "base/mem.h"
#include "base/task.h"
#include "query/core/heap_scan.h"

#include <errno.h>
#include <stdlib.h>

/* Moments of a window; the ring is of two. */
#define WINDOW_BITS 14u
#define WINDOW      ((uint32_t)1 << WINDOW_BITS)
#define RING_MASK   (2 * WINDOW - 1)

/* Rows between asking for what a row says and using it. */
#define AHEAD 16u

/* Rows between two looks at whether somebody wants to stop. */
#define BATCH 65536u

/* Allocations that end in a window. */
struct late {
	VEC(uint32_t) rows;
};

/* One thread's stretch of one track. */
struct climb {
	const struct heap_state *state;
	const struct heap_pass *pass;
	struct progress *progress;
	uint32_t track;
	const bool *of; /* [n_origins] it is of the track, and passes by all but time; borrowed */
	bool timed;     /* filters speak of time, or of blocks */
	uint32_t begin; /* the first row of the track, or 0 */
	uint32_t from, to;     /* rows */
	uint32_t first_moment; /* of them */
	uint32_t moment;       /* everything before it is in `live` */
	int64_t live;
	uint32_t last; /* the last moment at which something is noted to come or go */
	int64_t best;
	uint32_t at;       /* moments that have happened at the best; 0: nothing was there */
	int64_t *ring;     /* [2 * WINDOW] what moments of this window and the next add; owned */
	struct late *late; /* [n_windows] of windows that are further away; owned */
	uint32_t n_windows;
};

static inline int64_t bytes_of(const struct climb *m, uint32_t i)
{
	return m->state->exact ? (int64_t)allocation_size(&m->state->columns, i)
			       : heap_bytes_for(m->state, m->track, i);
}

/* Sums may be of sizes that a hostile file claims: they stop at what 63 bits hold. */
static inline int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	if (__builtin_add_overflow(a, b, &s))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return s;
}

/* Rows [from, to), of one group, that pass if their origins do: bits, by place in the group. */
static inline uint64_t passing(const struct climb *m, uint32_t from, uint32_t to)
{
	const struct heap_columns *c = &m->state->columns;

	if (!m->timed)
		return UINT64_MAX;
	return heap_filter_rows(m->pass->own, c, from, to) &
	       heap_filter_rows(m->pass->lens, c, from, to);
}

static inline void add_to_ring(struct climb *m, uint32_t moment, int64_t bytes)
{
	int64_t *slot = &m->ring[moment & RING_MASK];

	*slot = sum(*slot, bytes);
	m->last = moment > m->last ? moment : m->last;
}

/* The end of a row, which is at m->moment or later. */
static inline void note_end(struct climb *m, uint32_t row, uint32_t moment, int64_t bytes)
{
	uint32_t window = moment >> WINDOW_BITS;

	if (window <= (m->moment >> WINDOW_BITS) + 1) {
		add_to_ring(m, moment, -bytes);
		return;
	}
	vec_push(&m->late[window].rows, row);
	m->last = moment > m->last ? moment : m->last;
}

/* A window comes into the ring. */
static void take_late(struct climb *m, uint32_t window)
{
	const struct heap_columns *c = &m->state->columns;
	struct late *late = window < m->n_windows ? &m->late[window] : NULL;

	for (size_t i = 0; late && i < late->rows.n; i++) {
		uint32_t row = late->rows.at[i];

		/* They lie anywhere before. */
		if (i + AHEAD < late->rows.n)
			allocation_fetch(c, late->rows.at[i + AHEAD]);
		add_to_ring(m, allocation_end(c, row, UINT32_MAX) & END_MOMENT, -bytes_of(m, row));
	}
	if (late)
		vec_done(&late->rows);
}

/* Goes on to a moment. What ends makes nothing higher: the level is looked at where something begins. */
static void go_to(struct climb *m, uint32_t moment)
{
	while (m->moment < moment && m->moment <= m->last) {
		uint32_t border = (m->moment | (WINDOW - 1)) + 1;
		uint32_t to = moment < border ? moment : border;
		int64_t live = m->live;

		for (uint32_t i = m->moment; i < to; i++) {
			int64_t *slot = &m->ring[i & RING_MASK];

			live = sum(live, *slot);
			*slot = 0;
		}
		m->live = live;
		m->moment = to;
		if (to == border)
			take_late(m, (to >> WINDOW_BITS) + 1);
	}
	m->moment = moment;
}

/* Is a level better than the best? It is that of before the current moment's end. */
static void look(struct climb *m)
{
	int64_t live = sum(m->live, m->ring[m->moment & RING_MASK]);

	if (live <= m->best)
		return;
	m->best = live;
	m->at = m->moment + 1;
}

/* What is there when the stretch begins, and ends in it: no brief row, as nothing else begins before it ends. */
static void find_earlier(struct climb *m, uint32_t from, uint32_t to)
{
	uint32_t n_moments = m->state->track[m->track].n_moments, n;
	uint64_t pass = passing(m, from, to);
	struct heap_rows_read rows;

	if (!pass)
		return;
	allocation_read_kept(&m->state->columns, from, to, m->of, &rows, &n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t end = rows.end[i] & END_MOMENT;
		int64_t bytes;

		if (end < m->first_moment || !(pass >> rows.row[i] % HEAP_GROUP & 1))
			continue;
		bytes = bytes_of(m, rows.row[i]);
		m->live = sum(m->live, bytes);
		if (end < n_moments)
			note_end(m, rows.row[i], end, bytes);
	}
}

/* A row, i of those that were read. */
static inline void climb_row(struct climb *m, uint32_t row, const struct heap_rows_read *rows,
			     uint32_t i, uint32_t n_moments)
{
	uint32_t begin = rows->begin[i], end = rows->end[i];
	int64_t bytes;

	if (!m->of[rows->origin[i]] || begin >= n_moments)
		return;
	if (begin != m->moment) {
		look(m);
		go_to(m, begin);
	}
	bytes = m->state->exact ? (int64_t)rows->size[i] : bytes_of(m, row);
	add_to_ring(m, begin, bytes);
	if ((end & END_MOMENT) < n_moments)
		note_end(m, row, end & END_MOMENT, bytes);
}

/* The largest of brief rows of a group that are of the track. */
static int64_t largest_brief(const struct climb *m, uint32_t group, uint64_t brief)
{
	const struct heap_columns *c = &m->state->columns;
	uint64_t largest = 0;

	for (; brief; brief &= brief - 1) {
		uint32_t i = group * HEAP_GROUP + (uint32_t)__builtin_ctzll(brief);

		if (c->size[i] > largest && m->of[allocation_origin(c, i)])
			largest = allocation_size(c, i);
	}
	return (int64_t)largest;
}

/* May more be there than the best while rows of a group begin? Of them these are brief, and n are not. */
static bool may_be_best(const struct climb *m, uint32_t from, uint32_t to, uint64_t brief,
			const struct heap_rows_read *kept, uint32_t n)
{
	int64_t live = sum(m->live, m->ring[m->moment & RING_MASK]);
	const uint16_t *size = m->state->columns.size;
	uint16_t largest = 0;

	for (uint32_t i = 0; i < n; i++)
		live = sum(live, (int64_t)kept->size[i]);
	/* One brief block is there at a time. That of all rows is found sooner. */
	for (uint32_t i = from; i < to; i++)
		largest = size[i] > largest ? size[i] : largest;
	return (largest == HEAP_SIZE_FAR || sum(live, largest) > m->best) &&
	       sum(live, largest_brief(m, from / HEAP_GROUP, brief)) > m->best;
}

/* Rows of a group. Where nothing can be the best, brief ones, which most are, change nothing. */
static void climb_group(struct climb *m, uint32_t from, uint32_t to)
{
	const struct heap_columns *c = &m->state->columns;
	uint32_t n_moments = m->state->track[m->track].n_moments, n;
	uint64_t pass = passing(m, from, to), brief;
	struct heap_rows_read rows;

	if (!pass)
		return;
	/* The block before, if it was brief, is not there any more. */
	if (c->n_tracks == 1 && allocation_begin(c, from) > m->moment) {
		look(m);
		go_to(m, allocation_begin(c, from));
	}
	brief = allocation_read_kept(c, from, to, m->of, &rows, &n) & pass;
	if (!m->state->exact || (brief && may_be_best(m, from, to, brief, &rows, n))) {
		n = allocation_read(c, from, to, &rows);
		for (uint32_t i = 0; i < n; i++)
			if (pass >> (from + i) % HEAP_GROUP & 1)
				climb_row(m, from + i, &rows, i, n_moments);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		if (pass >> rows.row[i] % HEAP_GROUP & 1)
			climb_row(m, rows.row[i], &rows, i, n_moments);
}

/* Rows of one sort of stretch: those before it, or its own. */
static void climb_rows(struct climb *m, uint32_t from, uint32_t to, bool earlier)
{
	uint32_t end;

	for (uint32_t at = from; at < to; at = end) {
		end = (at / HEAP_GROUP + 1) * HEAP_GROUP;
		end = end < to ? end : to;
		if (earlier)
			find_earlier(m, at, end);
		else
			climb_group(m, at, end);
	}
}

static int climb_stretch(void *arg)
{
	struct climb *m = arg;
	uint32_t at = m->begin, to;

	/* Where nothing begins, nothing is higher than before; all that ended earlier would seem to be there. */
	if (m->from >= m->to)
		return 0;
	m->ring = xcalloc(2 * WINDOW, sizeof(*m->ring));
	m->late = xcalloc(m->n_windows, sizeof(*m->late));
	m->moment = m->first_moment;
	while (at < m->to && !progress_cancelled(m->progress)) {
		to = at < m->from ? m->from : m->to;
		to = to - at > BATCH ? at + BATCH : to;
		climb_rows(m, at, to, at < m->from);
		at = to;
	}
	look(m);
	for (uint32_t i = 0; i < m->n_windows; i++)
		vec_done(&m->late[i].rows);
	free(m->late);
	free(m->ring);
	return at < m->to ? -ECANCELED : 0;
}

/* The first row of the track at or after a row, and before another, that begins a moment; else `to`. */
static uint32_t first_of_moment(const struct climb *m, uint32_t row, uint32_t to)
{
	const struct heap_columns *c = &m->state->columns;
	uint32_t moment = UINT32_MAX;

	for (uint32_t i = row; i < to; i++) {
		if (c->origins[allocation_origin(c, i)].track != m->track)
			continue;
		if (moment != UINT32_MAX && allocation_begin(c, i) != moment)
			return i;
		moment = allocation_begin(c, i);
	}
	return to;
}

/* The stretches of n threads, one after the other, of rows [from, to). */
static void part(struct climb *stretch, unsigned n, const struct climb *whole)
{
	for (unsigned i = 0; i < n; i++) {
		struct climb *m = &stretch[i];
		uint32_t rows = whole->to - whole->from;
		uint32_t row = whole->from + (uint32_t)((uint64_t)rows * i / n);

		*m = *whole;
		if (i == 0)
			continue;
		m->from = first_of_moment(m, row, whole->to);
		m->first_moment = m->from < m->to ? allocation_begin(&m->state->columns, m->from)
						  : 0;
		stretch[i - 1].to = m->from;
	}
}

/* What passes of the track by all but time. [n_origins]; the caller frees. */
static bool *find_origins(const struct heap_columns *c, const struct heap_pass *h, uint32_t track)
{
	bool *of = xmalloc(c->n_origins * sizeof(*of));

	for (uint32_t i = 0; i < c->n_origins; i++)
		of[i] = c->origins[i].track == track && h->own->origin[i] && h->lens->origin[i];
	return of;
}

static int climb_track(const struct climb *whole, uint32_t *at, int64_t *top)
{
	struct climb stretch[HEAP_SCAN_MOST];
	struct task *task[HEAP_SCAN_MOST] = { 0 };
	unsigned n = heap_scan_threads(whole->to - whole->from);
	int rc = 0;

	part(stretch, n, whole);
	for (unsigned i = 1; i < n; i++)
		task[i] = task_start(climb_stretch, &stretch[i], -1);
	for (unsigned i = 0; i < n; i++) {
		/* Those for which no thread could be started are done here. */
		int one = task[i] ? task_join(task[i]) : climb_stretch(&stretch[i]);

		rc = one < 0 ? one : rc;
		/* Of equal peaks the first counts. */
		if (stretch[i].best > *top) {
			*top = stretch[i].best;
			*at = stretch[i].at;
		}
	}
	return rc;
}

/* Rows of each track: from its first to its last. [n_tracks]; the caller frees. */
static struct heap_span *find_rows(const struct heap_columns *c)
{
	struct heap_span *rows = xcalloc(c->n_tracks, sizeof(*rows));

	if (c->n_tracks == 1) {
		rows[0].to = c->n_allocations;
		return rows;
	}
	for (uint32_t i = 0; i < c->n_allocations; i++) {
		struct heap_span *r = &rows[c->origins[allocation_origin(c, i)].track];

		r->from = r->to == 0 ? i : r->from;
		r->to = i + 1;
	}
	return rows;
}

/* Does anything of a track pass, whenever it is? */
static bool any_passes(const struct heap_columns *c, const struct heap_pass *h, uint32_t track)
{
	for (uint32_t i = 0; i < c->n_origins; i++)
		if (c->origins[i].track == track && h->own->origin[i] && h->lens->origin[i])
			return true;
	return false;
}

int heap_peaks(const struct heap_state *s, const struct heap_pass *h,
	       const struct heap_peaks *earlier, struct progress *progress, uint32_t *at,
	       int64_t *top)
{
	const struct heap_columns *c = &s->columns;
	struct heap_span *rows = NULL;
	bool *origins;
	int rc = 0;

	for (uint32_t i = 0; i < c->n_tracks && rc == 0; i++) {
		struct climb whole = { .state = s, .pass = h, .progress = progress, .track = i };
		const struct heap_peaks *known = earlier;

		at[i] = 0;
		top[i] = 0;
		if (!any_passes(c, h, i))
			continue;
		while (known && !heap_pass_alike(c, known->pass, h, i))
			known = known->earlier;
		if (known) {
			at[i] = known->at[i];
			top[i] = known->top[i];
			continue;
		}
		rows = rows ? rows : find_rows(c);
		whole.begin = whole.from = rows[i].from;
		whole.to = rows[i].to;
		whole.n_windows = (s->track[i].n_moments >> WINDOW_BITS) + 1;
		whole.of = origins = find_origins(c, h, i);
		whole.timed = !heap_filter_by_origin(h->own) || !heap_filter_by_origin(h->lens);
		rc = climb_track(&whole, &at[i], &top[i]);
		free(origins);
	}
	free(rows);
	return rc;
}
