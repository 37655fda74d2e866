/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ticks: the time of an event as cheaply as it can be had.
 *
 * The processor's time stamp counter where the kernel itself trusts it for its clock, else the
 * kernel's clock. What a tick is worth is found out by comparing both over the life of the recording.
 *
 * Ticks become times by a line of straight pieces that only rises and is never changed where it was used: two events
 * have the order of their ticks, whichever threads they are of and whenever they are written.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_CLOCK_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_CLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define CLOCK_PIECES 32u /* one a second in the end: more than a note waits in a ring */

/*
 * A piece of the line, to where the next one begins. Fixed point, as every event asks: microseconds of so many bits behind
 * the point. A counter of 1 MHz and more fits, and days of ticks are off by less than one tick.
 */
#define CLOCK_POINT 56u
struct clock_piece {
	uint64_t ticks;       /* where it begins */
	uint64_t us;          /* there, since time 0 … */
	uint64_t fraction;    /* … and so much of the next one */
	uint64_t us_per_tick; /* with CLOCK_POINT bits behind the point */
};

struct tracer_clock {
	/* ticks are those of the processor's counter, else by the kernel's clock */
	_Atomic bool counter;
	uint64_t start_ticks;                   /* at time 0 */
	uint64_t start_ns;                      /* CLOCK_MONOTONIC then */
	double ns_per_tick;                     /* as known by now */
	struct clock_piece piece[CLOCK_PIECES]; /* oldest first */
	uint32_t n_pieces;
	uint64_t seen_ticks; /* when the clocks were last compared for a piece */
	double seen_ns;      /* since time 0 then */
	bool used;           /* the last piece gave times */
	uint64_t held_until; /* no piece begins before these ticks */
	/* Where the counter was left: what it would say is told by the kernel's clock. ns_per_tick 0: ticks are ns. */
	struct {
		uint64_t ticks, ns;
		double ns_per_tick;
	} left;
};

/* The kernel's clock. Some thread may not read the counter: not by code that the kernel maps, which does so. */
uint64_t tracer_clock_ns(clockid_t clock);

static inline uint64_t tracer_monotonic_ns(void)
{
	return tracer_clock_ns(CLOCK_MONOTONIC);
}

/* The counter that all processors share; reading it, and waiting until all before it is done. */
#if defined(__x86_64__)
#define TRACER_COUNTER_SHIFT 5u /* of some 3 GHz: a unit of 10 ns or so */
static inline uint64_t tracer_counter(void)
{
	return __builtin_ia32_rdtsc();
}

static inline void tracer_counter_wait(void)
{
	__builtin_ia32_lfence();
}
#elif defined(__aarch64__)
#define TRACER_COUNTER_SHIFT 0u /* of 25 MHz to 1 GHz */
static inline uint64_t tracer_counter(void)
{
	uint64_t ticks;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
	return ticks;
}

static inline void tracer_counter_wait(void)
{
	__asm__ volatile("dmb ishld\n\tisb" : : : "memory");
}
#endif

/* What tracer_ticks() is where the counter is not to be read. */
uint64_t tracer_kernel_ticks(const struct tracer_clock *c);

/*
 * Before all that the thread makes visible to others from here on. A processor may read its counter ahead of loads that
 * take a while, though: it may be before what others did and this thread has seen.
 */
static inline uint64_t tracer_ticks(const struct tracer_clock *c)
{
	return __builtin_expect(atomic_load_explicit(&c->counter, memory_order_relaxed), 1)
		       ? tracer_counter()
		       : tracer_kernel_ticks(c);
}

/* And after all that the thread has seen of others so far, for which the processor waits. */
static inline uint64_t tracer_ticks_after(const struct tracer_clock *c)
{
	if (atomic_load_explicit(&c->counter, memory_order_relaxed))
		tracer_counter_wait();
	return tracer_ticks(c);
}

/* A thread will not be able to read the counter: from now on none does, and ticks go on as they did. */
void tracer_clock_leave_counter(struct tracer_clock *c);

/* May the calling thread read the processor's counter? */
bool tracer_clock_may_read(void);

/* Time 0 is now. */
void tracer_clock_init(struct tracer_clock *c);

/* Finds out anew what a tick is worth. For whoever turns ticks into times, now and then. */
void tracer_clock_adjust(struct tracer_clock *c);

/* Microseconds since time 0 of ticks that may be before the last piece. */
uint64_t tracer_clock_us_before(const struct tracer_clock *c, uint64_t ticks);

static inline uint64_t clock_piece_us(const struct clock_piece *p, uint64_t ticks)
{
	return p->us +
	       (uint64_t)(((unsigned __int128)(ticks - p->ticks) * p->us_per_tick + p->fraction) >>
			  CLOCK_POINT);
}

/* The last piece, which gives times from now on. */
static inline const struct clock_piece *tracer_clock_last(struct tracer_clock *c)
{
	/* Written once: threads that note read beside it. */
	if (__builtin_expect(!c->used, 0))
		c->used = true;
	return &c->piece[c->n_pieces - 1];
}

/* Microseconds since time 0. */
static inline uint64_t tracer_clock_us(struct tracer_clock *c, uint64_t ticks)
{
	const struct clock_piece *last = tracer_clock_last(c);

	return __builtin_expect(ticks >= last->ticks, 1) ? clock_piece_us(last, ticks)
							 : tracer_clock_us_before(c, ticks);
}

#endif
