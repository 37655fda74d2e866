/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The running thread's stack as a node of the trie. */
#ifndef PROFTOP_RECORD_HEAP_LIVE_STACK_H
#define PROFTOP_RECORD_HEAP_LIVE_STACK_H

#include "tracer.h"

#include <stdint.h>

/* The node; 0 when there is no memory for it. Errno is kept. */
uint32_t live_stack(struct tracer_thread *t, const struct walk_start *from);

/* The rule for pc, from the modules that are loaded: what struct live_rules' find is. */
struct live_found live_stack_find_rule(uint64_t pc);

/* Forgets what is remembered of a stack and finds out where this thread's lies, of which sp is one place. */
void live_stack_begin(struct live_walk *w, uint64_t sp);

#endif
