/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all hooks of allocators ask first: is this call to be recorded? */
#ifndef PROFTOP_RECORD_HEAP_HOOKS_HOOKS_H
#define PROFTOP_RECORD_HEAP_HOOKS_HOOKS_H

#include "record/heap/stack/live_walk.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_sample.h"
#include "record/heap/trace/tracer_thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Has recording begun, or was it tried? */
extern _Atomic uint32_t hooks_begun __attribute__((visibility("hidden")));

/* Begins it, if libc is ready. */
void hooks_begin(void);

/*
 * While a function of an allocator runs whose code was led to us: sp of who called it. What it calls itself is no
 * event of the program. 0: none does. It may have been left by a jump; see hooks_are_nested().
 */
extern __thread uint64_t hooks_within
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Is the same to be said of what our hooks of libc's names call? Where its code was led to us, too, or may call itself by
 * those names. Else it is not, so that nothing is missed of handlers of signals that come meanwhile and allocate.
 */
extern bool hooks_nest __attribute__((visibility("hidden")));

/* What hooks_leave() needs. */
static inline uint64_t hooks_enter(const struct walk_start *from)
{
	uint64_t was = hooks_within;

	if (__builtin_expect(hooks_nest, 0))
		hooks_within = from->sp;
	return was;
}

static inline void hooks_leave(uint64_t was)
{
	if (__builtin_expect(hooks_nest, 0))
		hooks_within = was;
}

/*
 * hooks_within is set: is this call the allocator's own? Its stack says so. Not where a handler of signals has interrupted
 * the allocator; and where it was left by siglongjmp, a switch of stacks or the like, hooks_within is 0 afterwards.
 */
bool hooks_are_nested(const struct walk_start *from);

/* Recording begins with the first call that finds libc ready. */
static inline bool hooks_record(const struct walk_start *from)
{
	if (__builtin_expect(!atomic_load_explicit(&hooks_begun, memory_order_relaxed), 0))
		hooks_begin();
	return tracer_is_on() &&
	       (__builtin_expect(hooks_within == 0, 1) || !hooks_are_nested(from));
}

/* Can calls that are not recorded be passed on as they are? Not where what the allocator calls itself is to be told apart. */
static inline bool hooks_may_skip(void)
{
	return !hooks_nest && hooks_within == 0 && tracer_is_on();
}

/* Is this allocation one that is not recorded, and of which there is nothing else to be done? */
static inline bool hooks_skip(size_t n)
{
	return !tracer_records_all() && hooks_may_skip() &&
	       tracer_skips(&tracer_tls, &recorder.rate, n);
}

/* The same of the free of p. */
static inline bool hooks_skip_free(const void *p)
{
	return recorder.known && hooks_may_skip() &&
	       tracer_skips_free(&tracer_tls, recorder.known, (uint64_t)(uintptr_t)p);
}

#endif
