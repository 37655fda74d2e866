/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Memory of the tracer's own, never from the program's allocator.
 *
 * Small things come from one reserved region that only grows; the kernel gives memory for what is
 * touched. Large things are mappings of their own.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_MEMORY_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* Reserves the region; false when the kernel refuses (a limit on address space). */
bool tracer_memory_init(void);

/* Bytes of the region that are not handed out. Whoever needs much asks first. */
size_t tracer_memory_left(void);

/* Zeroed pages of their own, or NULL. */
void *tracer_map(size_t bytes);
void tracer_unmap(void *p, size_t bytes);
/* Gives the memory of whole pages back, not their addresses: they are zeroed. */
void tracer_empty(void *p, size_t bytes);

/* Can these bytes be read? Errno is kept. */
bool tracer_readable(const void *p, size_t bytes);

/*
 * What malloc and its family are called in the copies of src/base and src/unwind that the tracer is
 * built with. The caller holds the tracer's lock. NULL when the region is used up.
 */
void *tracer_malloc(size_t bytes);
void *tracer_calloc(size_t n, size_t bytes);
void *tracer_realloc(void *p, size_t bytes);
/* Gives back what was handed out last; all else stays. */
void tracer_free(void *p);

#endif
