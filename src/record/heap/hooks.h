/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What all hooks of allocators ask first: is this call to be recorded? */
#ifndef PROFTOP_RECORD_HEAP_HOOKS_H
#define PROFTOP_RECORD_HEAP_HOOKS_H

#include "live_walk.h"
#include "tracer.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The stack that an allocator may have below its caller; a call from further down is not its own. */
#define HOOKS_WITHIN_BYTES (256u << 10)

/* Has recording begun, or was it tried? */
extern _Atomic uint32_t hooks_begun __attribute__((visibility("hidden")));

/* Begins it, if libc is ready. */
void hooks_begin(void);

/*
 * While a function of an allocator runs whose code was led to us: sp of who called it. What it calls itself is no
 * event of the program. 0: none does.
 */
extern __thread uint64_t hooks_within
	__attribute__((tls_model("initial-exec"), visibility("hidden")));

/*
 * Is the same to be said of what our hooks of libc's names call? Where its code was led to us, too. Else it is not, so
 * that nothing is missed of handlers of signals that come meanwhile and allocate.
 */
extern bool hooks_nest __attribute__((visibility("hidden")));

static inline void hooks_enter(const struct walk_start *from)
{
	if (__builtin_expect(hooks_nest, 0))
		hooks_within = from->sp;
}

static inline void hooks_leave(void)
{
	if (__builtin_expect(hooks_nest, 0))
		hooks_within = 0;
}

static inline bool hooks_are_within(const struct walk_start *from)
{
	uint64_t sp = hooks_within;

	/* A place above it is no longer within: it was left by a jump. */
	return __builtin_expect(sp != 0, 0) && from->sp < sp && sp - from->sp < HOOKS_WITHIN_BYTES;
}

/* Recording begins with the first call that finds libc ready. */
static inline bool hooks_record(const struct walk_start *from)
{
	if (__builtin_expect(!atomic_load_explicit(&hooks_begun, memory_order_relaxed), 0))
		hooks_begin();
	return tracer_is_on() && !hooks_are_within(from);
}

#endif
