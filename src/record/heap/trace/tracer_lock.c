/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Futexes (Drepper, "Futexes Are Tricky", the second mutex). */
#include "config.h"

#include "record/heap/trace/tracer_lock.h"

#include "record/heap/trace/tracer_clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Whoever holds a lock for longer was ended while it did. Time in which the process is stopped does not count. */
#define LONGEST_MS 10000u

void tracer_sleep_on(_Atomic uint32_t *word, uint32_t value, uint32_t ms)
{
	struct timespec most = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L };
	int kept = errno;

	syscall(SYS_futex, word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, value, &most, NULL, 0);
	errno = kept;
}

uint64_t tracer_sleep_some(_Atomic uint32_t *word, uint32_t value, uint32_t ms)
{
	uint64_t before = tracer_monotonic_ns(), most = (uint64_t)ms * 1000000, slept;

	tracer_sleep_on(word, value, ms);
	slept = tracer_monotonic_ns() - before;
	return slept < most ? slept : most;
}

void tracer_wake(_Atomic uint32_t *word)
{
	int kept = errno;

	syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX, NULL, NULL, 0);
	errno = kept;
}

uint64_t tracer_signals_block(void)
{
	uint64_t all = UINT64_MAX, had = 0;
	int kept = errno;

	/* Not libc's, which leaves out some of its own. */
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &had, sizeof(all));
	errno = kept;
	return had;
}

void tracer_signals_restore(uint64_t blocked)
{
	int kept = errno;

	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &blocked, NULL, sizeof(blocked));
	errno = kept;
}

static bool try_lock(struct tracer_lock *l, uint32_t held)
{
	uint32_t none = 0;

	return atomic_compare_exchange_strong_explicit(&l->word, &none, held, memory_order_acquire,
						       memory_order_relaxed);
}

bool tracer_lock_within(struct tracer_lock *l, uint32_t ms)
{
	if (try_lock(l, 1))
		return true;
	for (uint64_t waited = 0; waited < (uint64_t)ms * 1000000;
	     waited += tracer_sleep_some(&l->word, 2, 10))
		if (atomic_exchange_explicit(&l->word, 2, memory_order_acquire) == 0)
			return true;
	return try_lock(l, 2);
}

bool tracer_lock(struct tracer_lock *l)
{
	return tracer_lock_within(l, LONGEST_MS);
}

void tracer_unlock(struct tracer_lock *l)
{
	if (atomic_exchange_explicit(&l->word, 0, memory_order_release) == 2)
		tracer_wake(&l->word);
}
