/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moments at which most of a heap was there, in all and in pieces of time: levels that stay known; private to this room. */
#ifndef PROFTOP_PROFILE_HEAP_HEAP_TOPS_H
#define PROFTOP_PROFILE_HEAP_HEAP_TOPS_H

#include "base/mem.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_heap;

/* Pieces of time whose peaks stay: all, since each fence, between them, before the second. */
#define HEAP_PIECES 5

/* From a moment to another, exclusive. */
struct heap_piece {
	uint32_t from, to;
};

/* Of one track. Zeroed: nothing is looked for. */
struct heap_tops {
	struct heap_piece piece[HEAP_PIECES];
	VEC(uint32_t) moments; /* what was found, and the last before each fence, in order */
};

/* fence: moments of what is asked apart. */
void heap_tops_begin(struct heap_tops *k, const uint32_t fence[BUILD_FENCES]);
void heap_tops_done(struct heap_tops *k);

/* The moments after which most of each event that was handed out within a piece of time is there. kept: [n_tracks] */
void heap_tops_find(const struct store_heap *h, uint32_t n_events, struct heap_tops *const *kept);

/* Is a block that lived [begin, end) in a level that is kept? */
bool heap_tops_have(const struct heap_tops *t, uint32_t begin, uint32_t end);
/* Is a moment kept that is in [from, to)? Asked in the order of time; *k, 0 at first, is the first kept one that may be. */
bool heap_tops_between(const struct heap_tops *t, uint32_t from, uint32_t to, size_t *k);

#endif
