/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames for the locations of one module, found by a thread or two and handed to the profile. */
#ifndef PROFTOP_RESOLVE_INLINING_H
#define PROFTOP_RESOLVE_INLINING_H

#include "profile.h"

#include <stddef.h>
#include <stdint.h>

struct inlines;
struct progress;

/*
 * Gives n named locations (location_id), which lie at offsets in the module's file, the frames that were
 * inlined there, and their functions the place where they are declared. threads: 1 or 2. Wants the pen
 * for moments; leaves the debug information open. 0, -ECANCELED, or -EFBIG when the profile is full.
 */
int inlining_run(struct profile *p, module_id module, struct inlines *inlines,
		 const uint64_t *offsets, const uint32_t *locations, size_t n, unsigned threads,
		 const struct progress *progress);

#endif
