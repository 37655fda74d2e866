/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Heap profiles of Go and of others with its types of values: besides sums by type, a heap of the model, so that the memory view and
 * its metrics are there. Of each stack it has what is in use as one block, and all others as calls and bytes that were freed.
 */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_HEAP_H
#define PROFTOP_FORMATS_PPROF_PPROF_HEAP_H

#include "profile/builder.h"

#include <stddef.h>
#include <stdint.h>

struct pprof_heap;
struct pprof_tables;

/* NULL: it is no heap profile. Else the heap opens first. Wants the pen, as do the others. Borrows p. */
struct pprof_heap *pprof_heap_new(struct profile *p, capture_id c, const struct pprof_tables *t);

/* A sample with its values. */
void pprof_heap_add(struct pprof_heap *h, stack_id stack, thread_id thread, const int64_t *value,
		    size_t n);

/* Ends the heap and states what of it is known, and what is not. */
void pprof_heap_tell(struct pprof_heap *h);
void pprof_heap_free(struct pprof_heap *h);

#endif
