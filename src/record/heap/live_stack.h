/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The running thread's stack as a node of the trie. */
#ifndef PROFTOP_RECORD_HEAP_LIVE_STACK_H
#define PROFTOP_RECORD_HEAP_LIVE_STACK_H

#include "tracer.h"

#include <stdint.h>

/* The node; 0 when there is no memory for it. Errno is kept. */
uint32_t live_stack(struct tracer_thread *t, const struct walk_start *from);

/* The rule for pc, from the modules that are loaded: what struct live_rules' find is. */
struct live_rule live_stack_find_rule(uint64_t pc);

/* Where this thread's stack lies; both 0 when that is not to be had. */
void live_stack_bounds(uint64_t *low, uint64_t *high);

#endif
