/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Work on another thread, its progress, and how to stop it.
 *
 * Progress is written by the worker and read by anyone, without locks. A worker that loops asks
 * progress_cancelled() at least every few milliseconds and returns -ECANCELED.
 */
#ifndef PROFTOP_BASE_TASK_H
#define PROFTOP_BASE_TASK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct progress {
	_Atomic uint64_t done;      /* units of work done so far; bytes for readers */
	_Atomic uint64_t total;     /* 0 while unknown */
	_Atomic uint64_t lost;      /* events that recorders said were lost, so far */
	_Atomic uint64_t forked;    /* processes that were seen to come from those recorded */
	_Atomic uint32_t behind_ms; /* what is read lags so far behind what is written; 0: hardly */
	_Atomic uint32_t beside_ms; /* the same of what is read beside it, the worst of all */
	_Atomic bool cancel;        /* somebody wants it to stop */
	_Atomic bool grows;         /* what is read is still being written: there is no end yet */
	int wake_fd; /* eventfd that cancelling writes to, for who waits meanwhile; 0: none; borrowed */
};

static inline bool progress_cancelled(const struct progress *p)
{
	return p && atomic_load_explicit(&p->cancel, memory_order_relaxed);
}

static inline void progress_set(struct progress *p, uint64_t done, uint64_t total)
{
	if (!p)
		return;
	atomic_store_explicit(&p->done, done, memory_order_relaxed);
	atomic_store_explicit(&p->total, total, memory_order_relaxed);
}

static inline void progress_lost(struct progress *p, uint64_t n)
{
	if (p)
		atomic_store_explicit(&p->lost, n, memory_order_relaxed);
}

static inline void progress_forked(struct progress *p, uint64_t n)
{
	if (p)
		atomic_store_explicit(&p->forked, n, memory_order_relaxed);
}

/* Of a reader that follows something; it is 0 again when it has caught up, and at its end. */
static inline void progress_behind(struct progress *p, uint32_t ms)
{
	if (p)
		atomic_store_explicit(&p->behind_ms, ms, memory_order_relaxed);
}

/* Of all that is read. */
static inline uint32_t progress_behind_ms(const struct progress *p)
{
	uint32_t own = atomic_load_explicit(&p->behind_ms, memory_order_relaxed);
	uint32_t beside = atomic_load_explicit(&p->beside_ms, memory_order_relaxed);

	return own > beside ? own : beside;
}

void progress_cancel(struct progress *p);

struct task;

/* The work; returns 0 or -errno. arg is the caller's and must outlive the task. */
typedef int task_fn(void *arg);

/*
 * Runs fn(arg) on a new thread with all signals but faults blocked. When it has returned, 8 bytes are written
 * to the eventfd wake_fd (none when negative). Returns NULL when no thread could be started.
 */
struct task *task_start(task_fn *fn, void *arg, int wake_fd);

/* Has fn returned? */
bool task_finished(const struct task *t);

/* Waits, frees the task and returns what fn returned. task_join(NULL) is 0. */
int task_join(struct task *t);

#endif
