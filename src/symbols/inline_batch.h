/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames for the locations of one module, found by a thread or two and handed to the profile. */
#ifndef PROFTOP_SYMBOLS_INLINE_BATCH_H
#define PROFTOP_SYMBOLS_INLINE_BATCH_H

#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inline_lookup;
struct progress;

struct inline_batch;

/*
 * Of the module's file, which is borrowed. again: more will be asked, so that what was read is kept for that; else it is
 * given back as soon as it was answered from.
 */
struct inline_batch *inline_batch_new(struct profile *p, module_id module,
				      struct inline_lookup *inlines, bool again);
/* Before the debug information is closed. x may be NULL. */
void inline_batch_free(struct inline_batch *x);

/*
 * Gives n named locations (location_id), which lie at offsets in the module's file, the frames that were
 * inlined there, and their functions the place where they are declared. threads: 1 or 2. Wants the pen
 * for moments; leaves the debug information open. 0, -ECANCELED, or -EFBIG when the profile is full.
 */
int inline_batch_run(struct inline_batch *x, const uint64_t *offsets, const uint32_t *locations,
		     size_t n, unsigned threads, const struct progress *progress);

#endif
