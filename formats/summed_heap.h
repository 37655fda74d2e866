/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Heap profiles that have sums by stack, of what is in use and perhaps of all that was allocated, as a heap of the model, so that the
 * memory view and its metrics are there. Of each stack it has what is in use as one block, and all others as calls and bytes that
 * were freed. Numbers are taken as they stand.
 */
#ifndef PROFTOP_FORMATS_SUMMED_HEAP_H
#define PROFTOP_FORMATS_SUMMED_HEAP_H

#include "profile/builder.h"

#include <stdbool.h>
#include <stdint.h>

enum summed_number {
	SUMMED_USED_BLOCKS,
	SUMMED_USED_BYTES,
	SUMMED_ALL_BLOCKS,
	SUMMED_ALL_BYTES,
	N_SUMMED_NUMBERS
};

struct summed_heap;

/* has_all: the file has numbers of all that was allocated. Wants the pen, as do the others, and opens first. Borrows p. */
struct summed_heap *summed_heap_new(struct profile *p, capture_id c, bool has_all);

/* A stack with its numbers, those of all allocations 0 where there are none. */
void summed_heap_add(struct summed_heap *h, stack_id stack, thread_id thread,
		     const int64_t number[N_SUMMED_NUMBERS]);

/* Ends the heap and states what of it is known, and what is not. */
void summed_heap_tell(struct summed_heap *h);
void summed_heap_free(struct summed_heap *h);

#endif
