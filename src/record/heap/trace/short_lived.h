/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Leaves out of the trace what was freed soon after it was allocated, and counts it by stack and thread.
 *
 * The writer takes notes only when they are older than the threshold, as far as the ring has room to
 * spare; meanwhile the free of what a note tells of may come into the same ring. Such a pair is marked in
 * the ring. Allocations that another thread frees, or that come of a realloc or end in one, are not
 * left out. All of this belongs to the writer, who holds the drain lock.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_SHORT_LIVED_H
#define PROFTOP_RECORD_HEAP_TRACE_SHORT_LIVED_H

#include "heaptrace/heap_records.h"
#include "record/heap/trace/tracer.h"

#include <stdbool.h>
#include <stdint.h>

/* Forgets what an earlier recording counted. False: no memory. */
bool short_lived_init(void);

/*
 * Marks and counts the pairs among the notes of t up to word `head`. Returns up to where they may be taken
 * now; all: everything.
 */
uint64_t short_lived_mark(struct tracer_thread *t, uint64_t head, bool all);

/* Is what was counted to be told now? */
bool short_lived_is_due(bool all);

/* The next record of what was counted, without its time; false: there are no more. */
bool short_lived_next(struct heap_record *r);

/* The words of a note at `note` that is not at the end of the ring's memory. */
static inline unsigned tracer_note_words(const uint64_t *note)
{
	/* By the op: as tracer_record.c writes them. */
	static const uint8_t words[16] = { 2, 2, 2, 5, 5, 3, 5, 2, 2, 2, 2, 2, 2, 2, 3, 3 };

	return words[note[1] >> NOTE_OP_SHIFT];
}

#endif
