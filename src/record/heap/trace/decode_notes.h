/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Notes of a ring → events of a block. For the thread that writes, and for whoever finds the rings of a process that was killed: what
 * it needs is in its arguments, and of hostile words it reads no more than the ring.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_DECODE_NOTES_H
#define PROFTOP_RECORD_HEAP_TRACE_DECODE_NOTES_H

#include "heaptrace/heap_events.h"
#include "record/heap/trace/tracer.h"

#include <stdint.h>

struct tracer_taking {
	struct tracer_taken *s; /* what notes are told relative to; its tail is not looked at */
	const uint64_t *ring;   /* [RING_WORDS] */
	struct tracer_clock *clock;
	uint32_t tick_shift;
	struct heap_event_writer *w;
	/*
	 * The notes up to word `tail` are in w, and have to be written. Then w begins anew, with s's next id and time.
	 */
	void (*finish)(const struct tracer_taking *k, uint64_t tail);
	/* So many events could not be noted. */
	void (*lost)(const struct tracer_taking *k, uint64_t n);
	void *arg; /* of the two */
};

/* Takes the notes from word `at` to `head`, which begins a note or is behind the last; w has some of them afterwards. */
void decode_notes(const struct tracer_taking *k, uint64_t at, uint64_t head);

#endif
