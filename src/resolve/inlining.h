/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames for the locations of one module, found by a thread or two and handed to the profile. */
#ifndef PROFTOP_RESOLVE_INLINING_H
#define PROFTOP_RESOLVE_INLINING_H

#include "profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inlines;
struct progress;

struct inlining;

/*
 * Of the module's file, which is borrowed. again: more will be asked, so that what was read is kept for that; else it is
 * given back as soon as it was answered from.
 */
struct inlining *inlining_new(struct profile *p, module_id module, struct inlines *inlines,
			      bool again);
/* Before the debug information is closed. x may be NULL. */
void inlining_free(struct inlining *x);

/*
 * Gives n named locations (location_id), which lie at offsets in the module's file, the frames that were
 * inlined there, and their functions the place where they are declared. threads: 1 or 2. Wants the pen
 * for moments; leaves the debug information open. 0, -ECANCELED, or -EFBIG when the profile is full.
 */
int inlining_run(struct inlining *x, const uint64_t *offsets, const uint32_t *locations, size_t n,
		 unsigned threads, const struct progress *progress);

#endif
