/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the borders are between which only sums are known of a heap's past; private to this room. */
#ifndef PROFTOP_PROFILE_HEAP_BOUNDARY_H
#define PROFTOP_PROFILE_HEAP_BOUNDARY_H

#include "profile/heap/heap.h"

#include <stdbool.h>
#include <stdint.h>

/* A slot of time, [from, to). */
struct heap_slot {
	int64_t from_ns, to_ns;
	int64_t number; /* of those of its width */
};

/* The slot of a time, as wide as recent ones are or as older ones; before the first, too. False: it is beyond what there is. */
bool heap_slot_of(const struct heap_folded *f, bool is_recent, int64_t time_ns,
		  struct heap_slot *slot);

#endif
