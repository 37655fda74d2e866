/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes of the two usual events, allocations and frees by id, straight into the columns of a block.
 *
 * The result is, byte by byte, what heap_write_event() makes of the same events. The difference is the cost: nothing here
 * depends on whether a number is there and how long it is, which no processor can foretell.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_DECODE_FAST_H
#define PROFTOP_RECORD_HEAP_TRACE_DECODE_FAST_H

#include "heaptrace/heap_events.h"
#include "record/heap/trace/tracer.h"

#include <stdint.h>

/* What the times of a thread's notes are told relative to. */
struct tracer_note_time {
	uint64_t ticks; /* >> tick_shift: of the last note taken */
	uint64_t us;    /* of the last event written */
};

/*
 * Takes notes from word `at` of the ring on, up to `head`, as long as they are usual and w has room. Returns where the first
 * one is that it did not take.
 */
uint64_t tracer_take_usual(const uint64_t *ring, uint64_t at, uint64_t head,
			   struct tracer_note_time *time, struct tracer_clock *clock,
			   unsigned tick_shift, struct heap_event_writer *w);

#endif
