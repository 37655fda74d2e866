/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of allocations in a pack: who allocated, each block's life, and numbers over time. */
#ifndef PROFTOP_FORMATS_PACK_PACK_HEAP_H
#define PROFTOP_FORMATS_PACK_PACK_HEAP_H

#include "formats/pack/pack_file.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Puts all of it into a body; false: there is none. Names of series and marks are put as texts, so that the section refers to no string.
 */
bool pack_heap_put(const struct profile *p, const struct profile_counts *counts, pack_bytes *body);

/* What the tables before made of numbers in the file; all borrowed. */
struct pack_heap {
	struct profile *p;
	capture_id capture;
	const uint32_t *stacks, *threads, *processes, *events;
	size_t n_stacks, n_threads, n_processes, n_events;
};

/* Builds all of it; the pen is held. b->bad when it is damaged: what was built before stays. */
void pack_heap_take(const struct pack_heap *h, struct bytes *b);

#endif
