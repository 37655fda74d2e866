/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which allocations are recorded when not all are: a Poisson process over the bytes that a thread
 * allocates. An allocation of s bytes is hit with probability 1 - exp(-s / mean), whatever came before,
 * so what was recorded tells what was allocated without bias.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_TRACER_SAMPLE_H
#define PROFTOP_RECORD_HEAP_TRACE_TRACER_SAMPLE_H

#include "record/heap/trace/live_blocks.h"
#include "record/heap/trace/tracer_thread.h"

#include <stdbool.h>
#include <stdint.h>

/* The mean is about to change: which holds is a matter of the clock. */
#define SAMPLE_CHANGES UINT64_MAX

/* Draws how many bytes it is to the next hit. */
void tracer_sample_draw(struct tracer_thread *t, uint64_t mean);

/*
 * The recorder's mean is not the one with which the thread drew: returns the one that holds now, and has drawn with it
 * unless that is 0. How far it is to the next hit does not depend on how far the thread has come. *ticks, >> tick_shift:
 * set where that is a matter of the clock, for an allocation of now.
 */
uint64_t tracer_sample_follow(struct tracer_thread *t, uint64_t mean, uint64_t *ticks);

/* Are all allocations recorded now? */
static inline bool tracer_records_all(void)
{
	return __builtin_expect(
		atomic_load_explicit(&recorder.rate.mean, memory_order_relaxed) == 0, 1);
}

/*
 * The short way of an allocation that is not to be recorded, where not all are: true, and that it passed is remembered; nothing
 * else is to be done. False: it may be one. The thread does not say that it is at an event here. So one that is held up in
 * between skips one allocation by a mean that has changed meanwhile.
 */
static inline bool tracer_skips(const struct tracer_tls *tls, const struct sample_rate *rate,
				uint64_t size)
{
	uint64_t mean = atomic_load_explicit(&rate->mean, memory_order_relaxed);
	struct tracer_thread *t = tls->thread;

	if (!t || tls->busy || mean != t->sample_mean || size > t->sample_left || size > rate->most)
		return false;
	t->sample_left -= size;
	tracer_thread_count(&t->n_passed);
	return true;
}

/* The same of a free: of a block that was not recorded. */
static inline bool tracer_skips_free(const struct tracer_tls *tls, _Atomic uint8_t *known,
				     uint64_t address)
{
	struct tracer_thread *t = tls->thread;

	if (!t || tls->busy || address_may_be_known(known, address))
		return false;
	tracer_thread_count(&t->n_passed);
	return true;
}

/*
 * Is this allocation to be recorded? If not, that it passed is remembered. *ticks is set when it is to be told with this
 * time and no other, as that decided.
 */
static inline bool tracer_sampled(struct tracer_thread *t, uint64_t size, uint64_t *ticks)
{
	const struct tracer_options *o = &recorder.options;
	uint64_t mean = atomic_load_explicit(&recorder.rate.mean, memory_order_relaxed);

	if (__builtin_expect(atomic_load_explicit(&recorder.n_switches, memory_order_relaxed) & 1,
			     0)) {
		/* Or the next hit would be near when it goes on, as those that were far have been skipped meanwhile. */
		t->sample_mean = 0;
		tracer_thread_pass(t);
		return false;
	}
	if (__builtin_expect(mean == 0, 1))
		return true;
	if (__builtin_expect(mean != t->sample_mean, 0)) {
		mean = tracer_sample_follow(t, mean, ticks);
		if (mean == 0)
			return true;
	}
	if (o->sample_exact && size >= o->sample_exact)
		return true;
	if (size <= t->sample_left) {
		t->sample_left -= size;
		tracer_thread_pass(t);
		return false;
	}
	tracer_sample_draw(t, mean);
	return true;
}

#endif
