/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A lock that needs no library: a word, and the kernel's futex when it must be waited for. Errno is
 * kept. Zeroed means free.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_LOCK_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct tracer_lock {
	_Atomic uint32_t word; /* 0 free, 1 held, 2 held and waited for */
};

/* Waits no longer than that, or for some seconds; false: it was not to be had. */
bool tracer_lock(struct tracer_lock *l) __attribute__((warn_unused_result));
bool tracer_lock_within(struct tracer_lock *l, uint32_t ms);
void tracer_unlock(struct tracer_lock *l);

/* Sleeps while *word is `value`, at most ms milliseconds, or for no reason. */
void tracer_sleep_on(_Atomic uint32_t *word, uint32_t value, uint32_t ms);
/* As that. Returns for how many ns, and `ms` at most: of what is longer the process was stopped. */
uint64_t tracer_sleep_some(_Atomic uint32_t *word, uint32_t value, uint32_t ms);
void tracer_wake(_Atomic uint32_t *word);

/*
 * Blocks all signals of this thread: no handler finds it holding a lock that the handler's events want. Returns what was
 * blocked before, for tracer_signals_restore().
 */
uint64_t tracer_signals_block(void);
void tracer_signals_restore(uint64_t blocked);

#endif
