/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Go calls C on the thread's own stack: frame pointers lead from there to the stack of the goroutine that called, which
 * lies in Go's heap, and from there back where C had called Go.
 */
#ifndef PROFTOP_RECORD_HEAP_STACK_LIVE_GO_H
#define PROFTOP_RECORD_HEAP_STACK_LIVE_GO_H

#include <stdbool.h>
#include <stdint.h>

/* What of a goroutine's stack may be read. */
struct live_go_stack {
	uint64_t low, high; /* [low, high) */
};

/*
 * The stack that a frame pointer leads to. word: the two at the stack pointer of the frame on the thread's own stack. The
 * frame pointer and the return address beside it can be read when this is true. Go never unmaps such memory.
 */
bool live_go_stack_at(const uint64_t word[2], uint64_t fp, struct live_go_stack *out);

#endif
