/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples with a copy of the user stack → samples with a callchain, while they are recorded: what unwind tables
 * make of thousands of bytes is some dozens.
 *
 * A chain has the kernel's part and behind it PERF_CTX_USER and the frames: where the thread was, then return
 * addresses; behind a frame that a signal interrupted, the address after it. How the chain
 * ends (enum walk_end) is in the sample's `misc`, see PERF_MISC_CHAIN_END.
 */
#ifndef PROFTOP_RECORD_CPU_CALLCHAIN_UNWINDER_H
#define PROFTOP_RECORD_CPU_CALLCHAIN_UNWINDER_H

#include "unwind/walk.h"

#include <stdbool.h>
#include <stdint.h>

struct callchain_unwinder;
struct perf_events;
struct perf_put;
struct perf_records;

struct chain_stats {
	uint64_t n_walked;              /* copied stacks */
	uint64_t n_frames;              /* of these */
	uint64_t n_by_end[N_WALK_ENDS]; /* how they ended */
};

/* kernels: the events as the kernel was asked for them; borrowed. NULL where stacks of this machine cannot be walked. */
struct callchain_unwinder *callchain_unwinder_new(struct perf_events *kernels);
void callchain_unwinder_free(struct callchain_unwinder *m);

/* The events as their samples are when they come from here, of the same ids. Borrowed. */
struct perf_events *callchain_unwinder_events(struct callchain_unwinder *m);

/* Records of before the samples that are walked next: what is mapped, who was forked. */
void callchain_unwinder_look(struct callchain_unwinder *m, const struct perf_records *records);

/*
 * Forgets who ended some seconds ago, as samples tell the time; and all that it was told if that has become much nevertheless:
 * true when it has, and wants to be told of what runs. Between two turns.
 */
bool callchain_unwinder_forget(struct callchain_unwinder *m);

/* All records go to `to`, samples with their chains. */
void callchain_unwinder_take(struct callchain_unwinder *m, const struct perf_records *records,
			     struct perf_put *to);

const struct chain_stats *callchain_unwinder_stats(const struct callchain_unwinder *m);

#endif
