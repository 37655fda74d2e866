/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The running thread's stack as a node of the trie. */
#ifndef PROFTOP_RECORD_HEAP_STACK_LIVE_STACK_H
#define PROFTOP_RECORD_HEAP_STACK_LIVE_STACK_H

#include "record/heap/trace/tracer.h"

#include <stdint.h>

/* The node; 0 when there is no memory for it. Errno is kept. */
uint32_t live_stack(struct tracer_thread *t, const struct walk_start *from);

/* What a stack says of a hook of ours that was called where the stack pointer was sp, and has not returned yet. */
enum live_within {
	LIVE_WITHIN,        /* it is on the stack */
	LIVE_INTERRUPTED,   /* and so is a handler of signals, inward of it */
	LIVE_LEFT,          /* it is not: it was left, or is on another stack */
	LIVE_WITHIN_UNKNOWN /* the stack cannot be walked so far */
};
enum live_within live_stack_within(struct tracer_thread *t, const struct walk_start *from,
				   uint64_t sp);

/* The rule for pc, from the modules that are loaded: what struct live_rules' find is. */
struct live_found live_stack_find_rule(uint64_t pc);

/* Forgets what is remembered of a stack and finds out where this thread's lies, of which sp is one place. */
void live_stack_begin(struct live_walk *w, uint64_t sp);

#endif
