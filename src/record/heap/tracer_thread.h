/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder's state of each thread: made when it first allocates, used again when it has ended. */
#ifndef PROFTOP_RECORD_HEAP_TRACER_THREAD_H
#define PROFTOP_RECORD_HEAP_TRACER_THREAD_H

#include "tracer.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a thread's hooks are not to note anything. */
enum tracer_busy {
	TRACER_IDLE,
	TRACER_NOTING,   /* an event comes from a handler of signals: it is counted as lost */
	TRACER_INTERNAL, /* the recorder is at work, and the same holds */
	TRACER_POOL      /* so it is, with signals blocked; what libc allocates is on its behalf */
};

struct tracer_tls {
	struct tracer_thread *thread;
	uint32_t busy;      /* enum tracer_busy */
	uint32_t n_refused; /* events for which there was no memory to begin the thread */
};

extern __thread struct tracer_tls tracer_tls
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The state of this thread; NULL: no memory. Not to be called but by tracer_thread_enter(). */
struct tracer_thread *tracer_thread_begin(void);

/* Counts an event that cannot be noted. */
void tracer_thread_lost(void);

/*
 * Begins to note an event: NULL when nothing is to be noted. Else tracer_thread_leave() must follow.
 */
static inline struct tracer_thread *tracer_thread_enter(void)
{
	struct tracer_tls *tls = &tracer_tls;

	if (!tracer_is_on())
		return NULL;
	if (__builtin_expect(tls->busy, 0)) {
		tracer_thread_lost();
		return NULL;
	}
	if (__builtin_expect(!tls->thread, 0)) {
		tls->busy = TRACER_INTERNAL;
		tls->thread = tracer_thread_begin();
		tls->busy = TRACER_IDLE;
		if (!tls->thread) {
			tracer_thread_lost();
			return NULL;
		}
	}
	tls->busy = TRACER_NOTING;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return tls->thread;
}

static inline void tracer_thread_leave(void)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	tracer_tls.busy = TRACER_IDLE;
}

/* With no writer yet: empties the rings on this thread. False: there is a writer. */
bool tracer_thread_drain_self(void);

/* Is some thread noting an event? */
bool tracer_threads_note(void);

/* Has every thread been seen outside of a note by one of the calls with this number, which is not 0? Waits for none. */
bool tracer_threads_pass(uint64_t number);

/* Makes all threads as they are before their first event of a recording. None may be noting one. */
void tracer_threads_renew(void);

/* In the child of a fork: only the caller's thread is left. */
void tracer_threads_forked(void);

/* Gives the memory of their rings and caches back. None may be noting an event. */
void tracer_threads_rest(void);

/* Finds threads that have ended and whose notes were taken. For the writer. */
void tracer_threads_reap(void);

#endif
