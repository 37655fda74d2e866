/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When most bytes were there, of any selection of allocations, to the moment.
 *
 * Sorting all events would take more memory than the allocations do. Instead moments fall into slots: one
 * pass tells how many bytes each slot ends with and how much it can have risen above that, and only
 * slots which may hold the peak are looked at event by event, the most promising first.
 */
#include "config.h"

#include "heap_pass.h"

#include "heap_scan.h"
#include "mem.h"

#include <stdlib.h>
#include <string.h>

/* Slots of a track: fine ones, so that few may hold the peak where what is there hardly changes. */
#define N_SLOTS   ((uint32_t)1 << 18)
/* Moments whose events are looked at in one pass. */
#define MOST_OPEN ((uint32_t)1 << 20)

struct slot {
	int64_t net;   /* bytes that it adds; then bytes there before it */
	int64_t gross; /* bytes handed out within */
};

/* The search in one track. */
struct climb {
	const struct heap_state *state;
	const struct heap_pass *pass;
	struct progress *progress;
	uint32_t track;
	uint32_t shift; /* moments per slot, as a power of two */
	uint32_t n_slots;
	unsigned n_threads;
	struct slot
		*slot[HEAP_SCAN_MOST]; /* [n_slots] of each thread; the first is of all; owned */
	bool *done;                    /* [n_slots] looked at; owned */
	uint32_t *open; /* [n_slots] where the slot's events are kept + 1, or 0; owned */
	int64_t *events[HEAP_SCAN_MOST]; /* [n_open << shift] bytes that a moment adds; likewise */
	uint32_t n_open;
	int64_t best;
	uint32_t at; /* moments that have happened then */
};

typedef void climb_fn(struct climb *m, unsigned worker, uint32_t moment, int64_t bytes);

static int64_t bytes_of(const struct climb *m, uint32_t i)
{
	const struct heap_track *t = &m->state->track[m->track];
	uint64_t size = allocation_size(&m->state->columns, i);
	double bytes;

	if (!(t->sample_bytes > 0))
		return size < (uint64_t)1 << 62 ? (int64_t)size : (int64_t)1 << 62;
	bytes = heap_stands_for(t, size) * (double)size;
	return bytes < 0x1p62 ? (int64_t)bytes : (int64_t)1 << 62;
}

/* Says the beginnings and ends of those of some allocations that pass. */
static inline void each_event(struct climb *m, unsigned worker, uint32_t from, uint32_t to,
			      climb_fn *fn)
{
	const struct heap_columns *c = &m->state->columns;
	uint32_t n_moments = m->state->track[m->track].n_moments;

	for (uint32_t i = from; i < to; i++) {
		uint32_t origin = c->origin[i], end;
		int64_t bytes;

		if (c->origins[origin].track != m->track || c->begin[i] >= n_moments ||
		    !heap_pass_own(m->pass, c, origin, c->begin[i]) ||
		    !heap_pass_lens(m->pass, c, origin, c->begin[i]))
			continue;
		bytes = bytes_of(m, i);
		end = allocation_end(c, i, n_moments);
		fn(m, worker, c->begin[i], bytes);
		if (end != END_NEVER)
			fn(m, worker, end & END_MOMENT, -bytes);
	}
}

/* Sums may be of sizes that a hostile file claims: they stop at what 63 bits hold. */
static int64_t sum(int64_t a, int64_t b)
{
	int64_t s;

	if (__builtin_add_overflow(a, b, &s))
		return b < 0 ? INT64_MIN : INT64_MAX;
	return s;
}

static void add_to_slot(struct climb *m, unsigned worker, uint32_t moment, int64_t bytes)
{
	struct slot *s = &m->slot[worker][moment >> m->shift];

	s->net = sum(s->net, bytes);
	if (bytes > 0)
		s->gross = sum(s->gross, bytes);
}

static void add_to_moment(struct climb *m, unsigned worker, uint32_t moment, int64_t bytes)
{
	uint32_t open = m->open[moment >> m->shift];
	int64_t *event;

	if (open == 0)
		return;
	event = &m->events[worker][((size_t)(open - 1) << m->shift) +
				   (moment & (((uint32_t)1 << m->shift) - 1))];
	*event = sum(*event, bytes);
}

static int64_t most_of(const struct climb *m, uint32_t slot)
{
	return sum(m->slot[0][slot].net, m->slot[0][slot].gross);
}

/* A slot that may hold the peak. */
struct candidate {
	int64_t most;
	uint32_t slot;
};

static int by_promise(const void *a, const void *b)
{
	const struct candidate *x = a, *y = b;

	if (x->most != y->most)
		return x->most < y->most ? 1 : -1;
	return (x->slot > y->slot) - (x->slot < y->slot);
}

static bool may_hold_peak(const struct climb *m, uint32_t slot)
{
	int64_t most = most_of(m, slot);

	return most > m->best || (most == m->best && slot < m->at >> m->shift);
}

/* Opens the most promising slots that may still beat the best; false when none may. */
static bool open_slots(struct climb *m)
{
	struct candidate *candidate = xcalloc(m->n_slots, sizeof(*candidate));
	uint32_t n = 0, most_open = MOST_OPEN >> m->shift;

	for (uint32_t i = 0; i < m->n_slots; i++)
		if (!m->done[i] && may_hold_peak(m, i))
			candidate[n++] = (struct candidate){ most_of(m, i), i };
	qsort(candidate, n, sizeof(*candidate), by_promise);
	if (most_open == 0)
		most_open = 1;
	m->n_open = n < most_open ? n : most_open;
	memset(m->open, 0, m->n_slots * sizeof(*m->open));
	for (uint32_t i = 0; i < m->n_open; i++) {
		m->open[candidate[i].slot] = i + 1;
		m->done[candidate[i].slot] = true;
	}
	free(candidate);
	return m->n_open > 0;
}

/* Notes how much is there after a moment; of equal peaks the first counts. */
static void climb_to(struct climb *m, uint32_t moment, int64_t live)
{
	if (live <= 0 || live < m->best || (live == m->best && moment >= m->at))
		return;
	m->best = live;
	m->at = moment + 1;
}

/* The highest point of the open slots. */
static void climb_open(struct climb *m)
{
	uint32_t per_slot = (uint32_t)1 << m->shift;

	for (uint32_t i = 0; i < m->n_slots; i++) {
		const int64_t *event;
		int64_t live = m->slot[0][i].net;

		if (m->open[i] == 0)
			continue;
		event = m->events[0] + (size_t)(m->open[i] - 1) * per_slot;
		for (uint32_t j = 0; j < per_slot; j++)
			climb_to(m, i * per_slot + j, live = sum(live, event[j]));
	}
}

static void scan_slots(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	each_event(arg, worker, from, to, add_to_slot);
}

static void scan_moments(void *arg, unsigned worker, uint32_t from, uint32_t to)
{
	each_event(arg, worker, from, to, add_to_moment);
}

static int climb(struct climb *m, heap_scan_fn *fn)
{
	return heap_scan(m->state->columns.n_allocations, m->n_threads, m->progress, fn, m);
}

/* What each slot adds, of all threads, and from that what is there before it. */
static int weigh_slots(struct climb *m)
{
	int64_t before = 0;
	int rc;

	for (unsigned k = 0; k < m->n_threads; k++)
		m->slot[k] = xcalloc(m->n_slots, sizeof(*m->slot[k]));
	rc = climb(m, scan_slots);
	for (uint32_t i = 0; i < m->n_slots; i++) {
		struct slot *s = &m->slot[0][i];
		int64_t net;

		for (unsigned k = 1; k < m->n_threads; k++) {
			s->net = sum(s->net, m->slot[k][i].net);
			s->gross = sum(s->gross, m->slot[k][i].gross);
		}
		net = s->net;
		s->net = before;
		before = sum(before, net);
	}
	for (unsigned k = 1; k < m->n_threads; k++) {
		free(m->slot[k]);
		m->slot[k] = NULL;
	}
	return rc;
}

/* Looks at the slots that are open, event by event. */
static int look_closely(struct climb *m)
{
	size_t n = (size_t)m->n_open << m->shift;
	int rc;

	for (unsigned k = 0; k < m->n_threads; k++)
		m->events[k] = xcalloc(n, sizeof(*m->events[k]));
	rc = climb(m, scan_moments);
	for (unsigned k = 1; k < m->n_threads; k++) {
		for (size_t i = 0; i < n; i++)
			m->events[0][i] = sum(m->events[0][i], m->events[k][i]);
		free(m->events[k]);
	}
	if (rc == 0)
		climb_open(m);
	free(m->events[0]);
	return rc;
}

static int climb_slots(struct climb *m)
{
	int rc = weigh_slots(m);

	while (rc == 0 && open_slots(m))
		rc = look_closely(m);
	return rc;
}

static int climb_track(struct climb *m)
{
	uint32_t n_moments = m->state->track[m->track].n_moments;
	int rc;

	while (n_moments >> m->shift >= N_SLOTS)
		m->shift++;
	m->n_slots = (n_moments >> m->shift) + 1;
	m->n_threads = heap_scan_threads(m->state->columns.n_allocations);
	m->done = xcalloc(m->n_slots, sizeof(*m->done));
	m->open = xcalloc(m->n_slots, sizeof(*m->open));
	rc = climb_slots(m);
	free(m->slot[0]);
	free(m->done);
	free(m->open);
	return rc;
}

int heap_peaks(const struct heap_state *s, const struct heap_pass *h, struct progress *progress,
	       uint32_t *at)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->columns.n_tracks && rc == 0; i++) {
		struct climb m = { .state = s, .pass = h, .progress = progress, .track = i };

		rc = climb_track(&m);
		at[i] = m.at;
	}
	return rc;
}
