/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The thread that writes: empties the rings, looks around, sleeps until there is more. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_LOOP_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_LOOP_H

#include <stdbool.h>
#include <stdint.h>

/* Starts the thread that writes. False: there is none; rings are then emptied by those that fill them. */
bool tracer_loop_start(void);

/* Ends that thread. False: it does not run, or does not end in a while. A point of cancellation. */
bool tracer_loop_end(void);

/* Of whoever waits for the thread that writes: zero in the beginning. */
struct loop_watch {
	uint32_t beat;      /* the writer's, when it was last looked at */
	uint64_t waited_ns; /* since it rose */
	uint64_t looked_ns; /* of these: when its thread was last looked for */
};

/*
 * Calls the thread that writes, and waits so long for it, or less, while recorder.room_word is `word`. Where it is gone whoever
 * fills a ring empties it; where it comes no further for some seconds nothing is recorded any more.
 */
void tracer_loop_await(struct loop_watch *w, uint32_t word, uint32_t ms);

/* While the process is to have no thread of ours. */
struct loop_pause {
	bool paused;
	int cancelable; /* what pthread_setcancelstate() said */
};

/*
 * Before a call of the program's that would fare otherwise for our thread; tracer_loop_go_on() must follow, and keeps errno.
 * _alone: only where the program has no other thread than the caller.
 */
struct loop_pause tracer_loop_pause(void);
struct loop_pause tracer_loop_pause_alone(void);
void tracer_loop_go_on(const struct loop_pause *p);

#endif
