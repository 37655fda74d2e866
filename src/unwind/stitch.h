/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Goes on where the copy of a stack ended, by what earlier stacks of the same thread had there.
 *
 * A frame is known by its stack pointer and pc: whoever returns to the same pc with the same stack
 * pointer most likely returns to the same caller. Most likely is not enough, so a stack is continued
 * only when earlier ones had its last few frames as they are here, and each of the frames up to the
 * outermost was seen a few times apart from each other, always with the caller that is added.
 */
#ifndef PROFTOP_UNWIND_STITCH_H
#define PROFTOP_UNWIND_STITCH_H

#include "unwind/walk.h"

#include <stddef.h>
#include <stdint.h>

struct stitcher;

/* Of a fixed size, however many threads there are and however deep their stacks. */
struct stitcher *stitcher_new(void);
void stitcher_free(struct stitcher *s);

/*
 * Takes the walk of a thread's stack: n frames, innermost first, and why they end. Those of a truncated
 * one go on at frames[n] where earlier ones all say the same, which is no proof: two callers whose frames
 * have one size and return to one place look alike. Returns how many frames there are then: n, or more,
 * at most max, and the last is the outermost.
 */
size_t stitcher_take(struct stitcher *s, int32_t pid, int32_t tid, enum walk_end end,
		     struct walk_frame *frames, size_t n, size_t max);

#endif
