/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Ticks: the time of an event as cheaply as it can be had.
 *
 * The processor's time stamp counter where the kernel itself trusts it for its clock, else the
 * kernel's clock. What a tick is worth is found out by comparing both over the life of the recording.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACER_CLOCK_H
#define PROFTOP_RECORD_HEAP_TRACER_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct tracer_clock {
	bool counter;         /* ticks are those of the processor's counter, else ns */
	uint64_t start_ticks; /* at time 0 */
	uint64_t start_ns;    /* CLOCK_MONOTONIC then */
	double ns_per_tick;   /* as known by now */
};

static inline uint64_t tracer_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline uint64_t tracer_ticks(const struct tracer_clock *c)
{
	return c->counter ? __builtin_ia32_rdtsc() : tracer_monotonic_ns();
}

/* Time 0 is now. */
void tracer_clock_init(struct tracer_clock *c);

/* Finds out anew what a tick is worth. For whoever turns ticks into times, now and then. */
void tracer_clock_adjust(struct tracer_clock *c);

/* Microseconds since time 0. */
uint64_t tracer_clock_us(const struct tracer_clock *c, uint64_t ticks);

#endif
