/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a call costs that is passed on unrecorded, in the program as it runs. A loop of such calls does not tell: there the
 * processor has all at hand, and guesses each branch. So in short windows all such calls are looked at twice
 * (real_calls_twice()), by turns with windows in which they are looked at once: what the program's time a call rises by is
 * what one look costs. The second look has memory of its own, as most of what a look costs are the lines and pages that it
 * takes from the program in the processor's caches. Until there are enough of these windows, and where they differ by more than that, a loop counts.
 *
 * All of this belongs to the writer.
 */
#ifndef PROFTOP_RECORD_HEAP_TRACE_PASS_COST_H
#define PROFTOP_RECORD_HEAP_TRACE_PASS_COST_H

#include "record/heap/trace/live_blocks.h"
#include "record/heap/trace/tracer.h"
#include "record/heap/trace/tracer_thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PASS_WINDOW_MS 10u

/* What the program did up to a moment, since the recording began. */
struct pass_moment {
	double program_ns; /* its CPU time, without that of the writer and of notes */
	uint64_t n_passed; /* calls */
};

/* For the second look: what is the recorder's for the first one. */
struct pass_again {
	_Atomic uint32_t *on;
	_Atomic uint8_t *known; /* no block is in it */
	bool nests;
	struct sample_rate rate;
};

extern struct pass_again pass_again __attribute__((visibility("hidden")));

/* And what is the thread's. */
struct pass_lane {
	uint64_t mean, left;
	_Atomic uint64_t n_passed;
} LINE_OF_CACHE;

/* As tracer_skips(). */
static inline bool pass_again_skips(const struct tracer_tls *tls, uint64_t size)
{
	uint64_t mean = atomic_load_explicit(&pass_again.rate.mean, memory_order_relaxed);
	struct tracer_thread *t = tls->thread;
	struct pass_lane *l = t ? t->again : NULL;

	if (!l || tls->busy || mean != l->mean || size > l->left || size > pass_again.rate.most)
		return false;
	l->left -= size;
	tracer_thread_count(&l->n_passed);
	return true;
}

/* As tracer_skips_free(). */
static inline bool pass_again_skips_free(const struct tracer_tls *tls, uint64_t address)
{
	struct tracer_thread *t = tls->thread;
	struct pass_lane *l = t ? t->again : NULL;

	if (!l || tls->busy || address_may_be_known(pass_again.known, address))
		return false;
	tracer_thread_count(&l->n_passed);
	return true;
}

/* As at the beginning of a recording. */
void pass_cost_begin(void);

/*
 * A window ends at this moment, if there was one, and another one may begin; in every other one calls are looked at twice.
 * False: that is all for a while.
 */
bool pass_cost_window(const struct pass_moment *now);

/* Is there a window? */
bool pass_cost_is_open(void);

/* Ends the window, without a result. */
void pass_cost_leave(void);

/* Are there too few results yet? */
bool pass_cost_is_new(void);

/* Calls that the second look let pass. */
uint64_t pass_cost_again(void);

/* What a call costs, ns. */
double pass_cost_ns(void);

/*
 * The same of `n` differences between two windows, which are sorted then, and of what a loop says: each counts the more the
 * more certain it is. In a loop calls are faster by several times.
 */
double pass_cost_of(double *difference, size_t n, double loop);

#endif
