/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/heap_slots.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <stdlib.h>

/* Guesses are good to this many moments, or better. */
#define N_GUESSES 65536u

/* Where slot i begins; the sum of exact parts, as spans may be of any length. */
static int64_t slot_begin(int64_t from_ns, int64_t to_ns, uint32_t i, uint32_t n)
{
	uint64_t span = (uint64_t)to_ns - (uint64_t)from_ns;

	return (int64_t)((uint64_t)from_ns + span / n * i + span % n * i / n);
}

/* Nothing is before the capture began: its clock may be finer than ticks. */
static void since_begin(const struct heap_slots *s, struct heap_when *when)
{
	when->from_ns -= s->begin_ns;
	when->to_ns -= s->begin_ns;
	if (when->from_ns < 0)
		when->from_ns = 0;
}

static void find_sum_slots(struct heap_slots *s)
{
	const struct heap_track *t = s->track;

	for (uint32_t i = 0; i < t->folded.until; i = heap_level_tells(t, i) + 1) {
		struct heap_sum_slot slot = { .from = i };

		if (heap_folded_slot(t, i, &slot.when.from_ns, &slot.when.to_ns))
			since_begin(s, &slot.when);
		vec_push(&s->sums, slot);
	}
}

/* The one that a moment that is folded is in. */
static size_t sum_slot_of(const struct heap_slots *s, uint32_t moment)
{
	size_t from = 0; /* slots below from begin at the moment or before */

	BISECT(from, s->sums.n, i, s->sums.at[i].from <= moment);
	return from - 1;
}

/* Was it there at one border, or at none? Of the last slot there is no next: time tells. */
static bool is_short(const struct heap_slots *s, size_t slot, uint32_t moment, uint32_t begin,
		     uint32_t end)
{
	const struct heap_sum_slot *at = &s->sums.at[slot];
	const struct heap_track *t = s->track;

	if (moment != begin)
		return begin >= at[slot > 0 ? -1 : 0].from;
	if (slot + 2 < s->sums.n)
		return end < at[2].from;
	return heap_track_time(t, end) - heap_track_time(t, begin) < t->folded.recent_slot_ns;
}

void heap_slots_init(struct heap_slots *s, const struct heap_state *state, uint32_t track,
		     int64_t from_ns, int64_t to_ns, uint32_t n)
{
	uint32_t n_guesses, slot = 0;

	*s = (struct heap_slots){ .n = n,
				  .from_ns = from_ns,
				  .to_ns = to_ns,
				  .track = &state->track[track],
				  .begin_ns = state->begin_ns[track] };
	s->bound = xmalloc(((size_t)n + 1) * sizeof(*s->bound));
	for (uint32_t i = 0; i <= n; i++)
		s->bound[i] = heap_state_moment(state, track, slot_begin(from_ns, to_ns, i, n));
	find_sum_slots(s);
	while (s->bound[n] >> s->shift >= N_GUESSES)
		s->shift++;
	n_guesses = (s->bound[n] >> s->shift) + 1;
	s->guess = xmalloc(n_guesses * sizeof(*s->guess));
	for (uint32_t i = 0; i < n_guesses; i++) {
		while (slot + 1 < n && s->bound[slot + 1] <= (uint64_t)i << s->shift)
			slot++;
		s->guess[i] = slot;
	}
}

uint32_t heap_slots_gone(const struct heap_state *state, uint32_t track, int64_t from_ns,
			 int64_t to_ns, uint32_t n)
{
	int64_t gone = state->gone_ns[track];
	uint32_t slot = 0;

	if (gone < from_ns)
		return SLOT_BEFORE;
	if (gone >= to_ns)
		return n;
	while (slot + 1 < n && slot_begin(from_ns, to_ns, slot + 1, n) <= gone)
		slot++;
	return slot;
}

bool heap_slots_when(const struct heap_slots *s, uint32_t moment, uint32_t begin, uint32_t end,
		     struct heap_when *when)
{
	size_t slot;

	if (moment >= s->track->folded.until || end == END_NEVER)
		return false;
	slot = sum_slot_of(s, moment);
	*when = s->sums.at[slot].when;
	return when->from_ns < when->to_ns && is_short(s, slot, moment, begin, end & END_MOMENT);
}

bool heap_slots_when_bulk(const struct heap_slots *s, const struct heap_bulk *b,
			  struct heap_when *when)
{
	const struct heap_track *t = s->track;
	uint32_t until = b->until > b->moment ? b->until : b->moment;
	struct heap_when all = { 0, 0 };

	if (b->moment < t->folded.until)
		all = s->sums.at[sum_slot_of(s, b->moment)].when;
	*when = (struct heap_when){ heap_track_time(t, b->moment), heap_track_time(t, until) };
	since_begin(s, when);
	/* What came in a small part of a slot did; else it may have come at any time in it. */
	if (when->to_ns - when->from_ns >= (all.to_ns - all.from_ns) / 2 && all.from_ns < all.to_ns)
		*when = all;
	return when->from_ns < when->to_ns;
}

/* So much of x, which is not negative, has come by a part of the time; lot is below 1. */
static int64_t come_by(int64_t x, double part, double lot)
{
	if (part <= 0)
		return 0;
	return part >= 1 ? x : (int64_t)((double)x * part + lot);
}

void heap_slots_spread(const struct heap_slots *s, const struct heap_when *when, uint32_t lot,
		       int64_t x, uint32_t n, int64_t *slot)
{
	double width = (double)((uint64_t)s->to_ns - (uint64_t)s->from_ns) / n, per;
	double from = ((double)when->from_ns - (double)s->from_ns) / width;
	double to = ((double)when->to_ns - (double)s->from_ns) / width;
	/* The golden ratio's part: any numbers in a row are even. */
	double at = (double)(uint32_t)(lot * 2654435769u) / 0x1p32;
	int64_t before, now;
	uint32_t first;

	if (to <= 0 || from >= n)
		return;
	per = 1 / (to - from);
	first = from < 0 ? 0 : (uint32_t)from;
	before = from < 0 ? come_by(x, -from * per, at) : 0;
	for (uint32_t i = first; i < n && (i == first || i < to); i++) {
		now = i + 1 >= to ? x : come_by(x, (i + 1 - from) * per, at);
		if (__builtin_add_overflow(slot[i], now - before, &slot[i]))
			slot[i] = INT64_MAX;
		before = now;
	}
}

void heap_slots_done(struct heap_slots *s)
{
	free(s->bound);
	free(s->guess);
	vec_done(&s->sums);
	*s = (struct heap_slots){ 0 };
}
