/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all hooks of allocators ask first: is this call to be recorded? */
#ifndef PROFTOP_RECORD_HEAP_HOOKS_HOOKS_H
#define PROFTOP_RECORD_HEAP_HOOKS_HOOKS_H

#include "record/heap/hooks/real_calls.h"
#include "record/heap/stack/live_walk.h"
#include "record/heap/trace/pass_cost.h"
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

/* What hooks_leave() needs. */
static inline uint64_t hooks_enter(const struct walk_start *from)
{
	uint64_t was = tracer_tls.within;

	if (__builtin_expect(recorder.nests, 0))
		tracer_tls.within = from->sp;
	return was;
}

static inline void hooks_leave(uint64_t was)
{
	if (__builtin_expect(recorder.nests, 0))
		tracer_tls.within = was;
}

/*
 * tracer_tls.within is set: is this call the allocator's own? Its stack says so. Not where a handler of signals has interrupted
 * the allocator; and where it was left by siglongjmp, a switch of stacks or the like, it is 0 afterwards.
 */
bool hooks_are_nested(const struct walk_start *from);

/* Recording begins with the first call that finds libc ready. */
static inline bool hooks_record(const struct walk_start *from)
{
	if (__builtin_expect(!atomic_load_explicit(&hooks_begun, memory_order_relaxed), 0))
		hooks_begin();
	return tracer_is_on() &&
	       (__builtin_expect(tracer_tls.within == 0, 1) || !hooks_are_nested(from));
}

/* Can calls that are not recorded be passed on as they are? Not where what the allocator calls itself is to be told apart. */
static inline bool hooks_may_skip(void)
{
	return !recorder.nests && tracer_tls.within == 0 && tracer_is_on();
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

/* Is this the free of a block that is of the allocator, and not recorded? */
static inline bool hooks_skip_block(const void *p)
{
	size_t room;

	return p && !real_pool_has(p, &room) && hooks_skip_free(p);
}

/*
 * All of it once more, to see what that takes: where the first look reads the recorder's state, this one reads its like in
 * memory of its own.
 */
static inline bool hooks_may_skip_again(void)
{
	return !pass_again.nests && tracer_tls.within == 0 &&
	       atomic_load_explicit(pass_again.on, memory_order_relaxed);
}

static inline bool hooks_skip_again(size_t n)
{
	return atomic_load_explicit(&pass_again.rate.mean, memory_order_relaxed) != 0 &&
	       hooks_may_skip_again() && pass_again_skips(&tracer_tls, n);
}

static inline bool hooks_skip_block_again(const void *p)
{
	size_t room;

	return p && !real_pool_has(p, &room) && pass_again.known && hooks_may_skip_again() &&
	       pass_again_skips_free(&tracer_tls, (uint64_t)(uintptr_t)p);
}

#endif
