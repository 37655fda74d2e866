/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Equal slots of time over the moments of a track, and which slot a moment is in, quickly. */
#ifndef PROFTOP_QUERY_HEAP_SLOTS_H
#define PROFTOP_QUERY_HEAP_SLOTS_H

#include "heap_pass.h"

#include <stdint.h>

struct heap_slots {
	uint32_t n;      /* slots */
	uint32_t *bound; /* [n + 1] the first moment of each slot; where the last one ends; owned */
	uint32_t
		*guess; /* [n_guesses] a slot not after that of moments from i << shift on; owned */
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

#endif
