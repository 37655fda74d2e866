/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which allocations are recorded when not all are: a Poisson process over the bytes that a thread
 * allocates. An allocation of s bytes is hit with probability 1 - exp(-s / mean), whatever came before,
 * so what was recorded tells what was allocated without bias.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACER_SAMPLE_H
#define PROFTOP_RECORD_HEAP_TRACER_SAMPLE_H

#include "tracer.h"

#include <stdbool.h>
#include <stdint.h>

/* Draws how many bytes it is to the next hit. */
void tracer_sample_draw(struct tracer_thread *t);

/* Is this allocation to be recorded? If not, that it passed is remembered. */
static inline bool tracer_sampled(struct tracer_thread *t, uint64_t size)
{
	const struct tracer_options *o = &recorder.options;

	if (__builtin_expect(atomic_load_explicit(&recorder.paused, memory_order_relaxed), 0)) {
		t->passed = true;
		return false;
	}
	if (__builtin_expect(o->sample_bytes == 0, 1))
		return true;
	if (o->sample_exact && size >= o->sample_exact)
		return true;
	if (__builtin_expect(t->seed == 0, 0))
		tracer_sample_draw(t);
	if (size <= t->sample_left) {
		t->sample_left -= size;
		t->passed = true;
		return false;
	}
	tracer_sample_draw(t);
	return true;
}

#endif
