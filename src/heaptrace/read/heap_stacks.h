/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The stacks of a heap trace: nodes of addresses → stacks of the profile.
 *
 * What an address is depends on what was mapped at the time: answers are kept until something else is
 * mapped where something was.
 */
#ifndef PROFTOP_HEAPTRACE_READ_HEAP_STACKS_H
#define PROFTOP_HEAPTRACE_READ_HEAP_STACKS_H

#include "heaptrace/heap_records.h"
#include "heaptrace/read/heap_blocks.h"
#include "profile/builder.h"

#include <stdint.h>

struct heap_stacks;
struct resolver;

/* Borrows both. */
struct heap_stacks *heap_stacks_new(struct profile *p, struct resolver *r, int32_t pid);
void heap_stacks_free(struct heap_stacks *s);

/* The nodes of a block, which was unpacked. False when some make no sense; those before are kept. */
bool heap_stacks_add(struct heap_stacks *s, const struct heap_block *b,
		     const struct heap_unpacked *u);

/* A MAP record, in order of time. Returns whether another module was mapped there, or partly, before. */
bool heap_stacks_map(struct heap_stacks *s, const struct heap_record *map, int64_t time_ns);

/*
 * The stack of a node under a thread's root frame. Times that are asked for never go back. Unknown nodes,
 * and 0, are the root frame itself. Wants the pen.
 */
stack_id heap_stacks_get(struct heap_stacks *s, stack_id root, uint32_t node, int64_t time_ns);

/* Stacks have other numbers from now on: none is known any more. */
void heap_stacks_forget(struct heap_stacks *s);

/* A number that changes when what addresses mean may have: answers before then are not good any more. */
uint32_t heap_stacks_epoch(struct heap_stacks *s, int64_t time_ns);
/* When the epoch that was asked for last ends, as far as is known; INT64_MAX: never. */
int64_t heap_stacks_epoch_end(const struct heap_stacks *s);

#endif
