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

#include "heaptrace/heap_events.h"
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

static inline uint64_t short_lived_op(const uint64_t *note)
{
	return note[1] >> NOTE_OP_SHIFT;
}

static inline void short_lived_set_op(uint64_t *note, enum note_op op)
{
	note[1] = (note[1] & ~(UINT64_C(15) << NOTE_OP_SHIFT)) | (uint64_t)op << NOTE_OP_SHIFT;
}

/*
 * Makes the pair that was being left out when the process was killed two notes as any others. sum: the one that
 * counts it; ring: [RING_WORDS] of its thread. Doing it twice does no harm.
 */
static inline void short_lived_undo(const struct cull_pair *pair, struct cull_sum *sum,
				    uint64_t *ring)
{
	uint64_t alloc_at = pair->alloc_at & (RING_WORDS - 1);
	uint64_t free_at = pair->free_at & (RING_WORDS - 1), op;

	*sum = pair->was;
	/* No note is at the last word. */
	if (alloc_at == RING_WORDS - 1 || free_at == RING_WORDS - 1)
		return;
	op = short_lived_op(&ring[alloc_at]);
	if (op == NOTE_CULLED)
		short_lived_set_op(&ring[alloc_at], (enum note_op)HEAP_ALLOC);
	if (op == NOTE_CULLED_AT)
		short_lived_set_op(&ring[alloc_at], NOTE_ALLOC_AT);
	if (short_lived_op(&ring[free_at]) == NOTE_CULLED_FREE)
		short_lived_set_op(&ring[free_at], (enum note_op)HEAP_FREE);
}

#endif
