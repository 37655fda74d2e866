/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal slots of time over the moments of a track, and which slot a moment is in, quickly. */
#ifndef PROFTOP_QUERY_CORE_HEAP_SLOTS_H
#define PROFTOP_QUERY_CORE_HEAP_SLOTS_H

#include "base/mem.h"
#include "query/core/heap_pass.h"

#include <stdint.h>

/* When something happened, since the capture's start: at any time in [from, to). */
struct heap_when {
	int64_t from_ns, to_ns;
};

/* A slot of time of which only sums are known. */
struct heap_sum_slot {
	uint32_t from; /* its first moment */
	struct heap_when when;
};

struct heap_slots {
	uint32_t n;                     /* slots */
	int64_t from_ns, to_ns;         /* since the capture's start */
	const struct heap_track *track; /* borrowed, of the state */
	int64_t begin_ns;               /* of its capture */
	VEC(struct heap_sum_slot) sums; /* one after the other, up to where nothing is folded */
	uint32_t *bound; /* [n + 1] the first moment of each slot; where the last one ends; owned */
	/* [n_guesses] a slot not after that of moments from i << shift on; owned */
	uint32_t *guess;
	uint32_t shift;
};

#define SLOT_BEFORE UINT32_MAX /* before the first slot; after the last one is n */

/* [from, to) since the capture's start in n > 0 slots; from < to. The caller ends with heap_slots_done(). */
void heap_slots_init(struct heap_slots *s, const struct heap_state *state, uint32_t track,
		     int64_t from_ns, int64_t to_ns, uint32_t n);
/* The slot of what goes with the track's process; n where it does not, or later. */
uint32_t heap_slots_gone(const struct heap_state *state, uint32_t track, int64_t from_ns,
			 int64_t to_ns, uint32_t n);
void heap_slots_done(struct heap_slots *s);

/*
 * When a block came that lived from begin to end, or went, by which of the two `moment` is: what would be in a sum, had it not
 * been there at a border of slots, is as even as sums are. False: at that moment.
 */
bool heap_slots_when(const struct heap_slots *s, uint32_t moment, uint32_t begin, uint32_t end,
		     struct heap_when *when);
/* When what a sum is of came and went. False: at its moment. */
bool heap_slots_when_bulk(const struct heap_slots *s, const struct heap_bulk *b,
			  struct heap_when *when);
/*
 * Adds to each of n equal slots of the same span its part of x: all parts together are what is within them, exactly. What is less
 * than one each begins anywhere, by `lot`: many of little are even, too.
 */
void heap_slots_spread(const struct heap_slots *s, const struct heap_when *when, uint32_t lot,
		       int64_t x, uint32_t n, int64_t *slot);

static inline uint32_t heap_slots_of(const struct heap_slots *s, uint32_t moment)
{
	uint32_t slot;

	if (moment < s->bound[0])
		return SLOT_BEFORE;
	if (moment >= s->bound[s->n])
		return s->n;
	slot = s->guess[moment >> s->shift];
	while (moment >= s->bound[slot + 1])
		slot++;
	return slot;
}

/* The slot that a moment was in; blocks come in the order in which they began, and many do not live for long. */
struct heap_at_slot {
	uint32_t from, to; /* its moments; none: nothing is known yet */
	uint32_t slot;
};

static inline bool heap_slots_is_at(const struct heap_at_slot *at, uint32_t moment)
{
	return moment >= at->from && moment < at->to;
}

/* Goes to the slot of a moment: the first also before it; behind the last one there is a slot that nobody looks at. */
static inline void heap_slots_go_to(const struct heap_slots *s, struct heap_at_slot *at,
				    uint32_t moment)
{
	uint32_t slot = heap_slots_of(s, moment);

	if (slot == SLOT_BEFORE)
		*at = (struct heap_at_slot){ 0, s->bound[0], 0 };
	else if (slot >= s->n)
		*at = (struct heap_at_slot){ s->bound[s->n], UINT32_MAX, s->n };
	else
		*at = (struct heap_at_slot){ s->bound[slot], s->bound[slot + 1], slot };
}

#endif
