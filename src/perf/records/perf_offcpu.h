/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * When threads left the cpu and came back → samples of an event "offcpu", in nanoseconds.
 *
 * A wait has the stack at which the thread left: that of its last sample before, which is the one of
 * sched:sched_switch where that was recorded. It ends when the thread comes back, ends, or the
 * recording does. Moments may be told in any order; the waits come out at the end, or when all of their time was told.
 */
#ifndef PROFTOP_PERF_RECORDS_PERF_OFFCPU_H
#define PROFTOP_PERF_RECORDS_PERF_OFFCPU_H

#include "profile/builder.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_offcpu;

#define PERF_OFFCPU_NAME "offcpu" /* of the event */

struct perf_offcpu_stats {
	uint64_t n_waits;    /* that came into the profile */
	uint64_t n_borrowed; /* of these, with the stack of a sample before */
	uint64_t n_open;     /* of which nothing says when they ended */
	uint64_t n_too_long; /* left out, as sums of times would not hold them */
	int64_t sum_ns;      /* of those that came into the profile */
};

/* Borrows p. */
struct perf_offcpu *perf_offcpu_new(struct profile *p);
void perf_offcpu_free(struct perf_offcpu *o);

/*
 * A sample of a thread, as it came into the profile. is_proof: nothing else may say when the thread came
 * back, so take it from this.
 */
void perf_offcpu_sample(struct perf_offcpu *o, int32_t tid, const struct sample *s, bool is_proof);

/* The thread leaves the cpu; at has the time, the cpu, the thread and a stack should it have no sample. */
void perf_offcpu_out(struct perf_offcpu *o, int32_t tid, const struct sample *at);
/* It comes back; it ends. */
void perf_offcpu_in(struct perf_offcpu *o, int32_t tid, int64_t time_ns);
void perf_offcpu_end(struct perf_offcpu *o, int32_t tid, int64_t time_ns);

/* What was stack i is to[i] from now on, [n]. */
void perf_offcpu_move(struct perf_offcpu *o, const uint32_t *to, uint32_t n);
/* Of these threads, which ended some seconds ago, nothing is told any more. */
void perf_offcpu_forget(struct perf_offcpu *o, const int32_t *tids, size_t n);

/*
 * Of a recording that goes on: adds waits that ended some seconds ago, now and then, so that their moments need not be kept. False when the
 * profile is full. Wants the pen.
 */
bool perf_offcpu_settle(struct perf_offcpu *o);

/* Adds the waits to the profile, once. False when it is full. Wants the pen. */
bool perf_offcpu_finish(struct perf_offcpu *o, struct perf_offcpu_stats *stats);

#endif
