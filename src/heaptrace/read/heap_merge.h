/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The events of all threads of a heap trace in the order of time.
 *
 * Each thread's blocks are in its order, so this is a merge of as many streams as there are threads; a
 * block is unpacked when its time has come, so that memory holds one block a thread at most.
 */
#ifndef PROFTOP_HEAPTRACE_READ_HEAP_MERGE_H
#define PROFTOP_HEAPTRACE_READ_HEAP_MERGE_H

#include "heaptrace/heap_events.h"
#include "heaptrace/read/heap_blocks.h"

#include <stdint.h>

struct heap_merge;

/* Borrows b. */
struct heap_merge *heap_merge_new(struct heap_blocks *b);
void heap_merge_free(struct heap_merge *m);

/* Adds a block of events; of each thread in the order of the file. Also when others were read already. */
void heap_merge_add(struct heap_merge *m, const struct heap_place *place);

/* What happened after that time is not read yet. */
void heap_merge_until(struct heap_merge *m, uint64_t time);

/*
 * The next events, all of one thread, whose index is *thread: a run of at most *n that comes before what
 * any other thread did. NULL at the end, as far as there is one yet. Good until the next call.
 */
const struct heap_event *heap_merge_next(struct heap_merge *m, uint32_t *thread, size_t *n);

/* Where the first block lies that was not begun; UINT64_MAX: all were. Takes a look at each thread. */
uint64_t heap_merge_unread(const struct heap_merge *m);
/* Bytes of blocks that were begun, for progress. */
uint64_t heap_merge_done(const struct heap_merge *m);
/* Events that could not be read, of blocks that were. */
uint64_t heap_merge_lost(const struct heap_merge *m);

#endif
