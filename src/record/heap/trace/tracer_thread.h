/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The recorder's state of each thread: made when it first allocates, used again when it has ended. */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_THREAD_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_THREAD_H

#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_forbidden.h"

#include <stdbool.h>
#include <stdint.h>

/* Why a thread's hooks are not to note anything. */
enum tracer_busy {
	TRACER_IDLE,
	TRACER_INTERNAL, /* the recorder is at work, with signals blocked; an event is counted as lost */
	TRACER_POOL, /* so it is; what libc allocates is on its behalf */
	TRACER_SILENT /* it may not do what noting takes (tracer_forbidden.h); an event is counted as lost */
};

/*
 * A child of vfork(2) runs on a thread's memory, while the thread waits, and may forbid itself what the thread may still do:
 * what it takes on is the thread's until it is gone.
 */
struct tracer_guest {
	_Atomic int is_there; /* the kernel makes it 0 when the child has left our memory */
	uint32_t limits;      /* of the thread itself */
	bool limited;         /* some of the limits are the child's */
};

struct tracer_tls {
	struct tracer_thread *thread;
	uint32_t busy;      /* enum tracer_busy */
	uint32_t n_refused; /* events for which there was no memory to begin the thread */
	/*
	 * While a function of an allocator runs whose code was led to us: sp of who called it. What it calls itself is no
	 * event of the program. 0: none does. It may have been left by a jump; see hooks_are_nested().
	 */
	uint64_t within;
	uint32_t limits; /* enum tracer_limit; ask tracer_forbidden_own() */
	/* From the first slow step of a walk to its end: what tracer_signals_block() said, and that it did. */
	bool holds_signals;
	uint64_t held_signals;
	struct tracer_guest guest;
};

extern __thread struct tracer_tls tracer_tls
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/* One more of what only the thread itself counts. */
static inline void tracer_thread_count(_Atomic uint64_t *n)
{
	uint64_t was = atomic_load_explicit(n, memory_order_relaxed);

	atomic_store_explicit(n, was + 1, memory_order_relaxed);
}

/* The thread did something to its heap that is in no note. */
static inline void tracer_thread_pass(struct tracer_thread *t)
{
	tracer_thread_count(&t->n_passed);
	tracer_thread_count(&t->n_passed_long);
}

/* Did it so since its last note? */
static inline bool tracer_thread_passed(const struct tracer_thread *t)
{
	return atomic_load_explicit(&t->n_passed, memory_order_relaxed) != t->passed_told;
}

/* It notes something now. */
static inline void tracer_thread_told(struct tracer_thread *t)
{
	t->passed_told = atomic_load_explicit(&t->n_passed, memory_order_relaxed);
}

/*
 * The state for an event that tls->thread cannot be used for: there is none yet, or it is noting an event that a handler
 * of signals has interrupted. NULL: the event is not to be noted, and was counted as lost if it is the program's. States
 * whose notes were left by a jump out of a handler are put in order. Not to be called but by tracer_thread_enter().
 */
struct tracer_thread *tracer_thread_other(const struct walk_start *from);

/* A thread that may be new: what limits it, before anything is done on its behalf. */
void tracer_thread_meet(void);

/*
 * Begins to note an event of the program's function that called us: NULL when nothing is to be noted. Else
 * tracer_thread_leave() must follow.
 */
static inline struct tracer_thread *tracer_thread_enter(const struct walk_start *from)
{
	struct tracer_tls *tls = &tracer_tls;
	struct tracer_thread *t = tls->thread;

	if (!tracer_is_on())
		return NULL;
	if (__builtin_expect(!t || tls->busy, 0) ||
	    __builtin_expect(atomic_load_explicit(&t->noting, memory_order_relaxed) != 0, 0)) {
		t = tracer_thread_other(from);
		if (!t)
			return NULL;
	}
	atomic_store_explicit(&t->noting, from->sp, memory_order_relaxed);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	return t;
}

static inline void tracer_thread_leave(struct tracer_thread *t)
{
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	atomic_store_explicit(&t->noting, 0, memory_order_relaxed);
}

/* Is this thread neither noting an event nor at work for the recorder? */
static inline bool tracer_thread_is_idle(void)
{
	const struct tracer_tls *tls = &tracer_tls;

	return tls->busy == TRACER_IDLE &&
	       !(tls->thread && atomic_load_explicit(&tls->thread->noting, memory_order_relaxed));
}

/* What to give back to tracer_thread_resume(). */
struct tracer_internal {
	uint64_t blocked; /* signals */
	uint32_t busy;
};

/* The recorder is at work on this thread, as `how` says, until tracer_thread_resume(). */
struct tracer_internal tracer_thread_internal(enum tracer_busy how);
void tracer_thread_resume(const struct tracer_internal *was);

/* With no writer yet: empties the rings on this thread. False: there is a writer. */
bool tracer_thread_drain_self(void);

/* Is some thread noting an event? */
bool tracer_threads_note(void);

/* Has every thread been seen outside of a note by one of the calls with this number, which is not 0? Waits for none. */
bool tracer_threads_pass(uint64_t number);

/* Makes all threads as they are before their first event of a recording. None may be noting one. */
void tracer_threads_renew(void);

/* In the child of a fork: none of the parent's threads is known any more, nor their memory. */
void tracer_threads_forked(void);

/* Is this page one of a thread's ring? */
bool tracer_threads_ring(const void *page);

/* Gives the memory of their rings and caches back. None may be noting an event. */
void tracer_threads_rest(void);

/* Finds threads that have ended and whose notes were taken. For the writer. */
void tracer_threads_reap(void);

#endif
