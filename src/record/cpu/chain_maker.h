/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples with a copy of the user stack → samples with a callchain, while they are recorded: what unwind tables
 * make of thousands of bytes is some dozens.
 *
 * A chain has the kernel's part and behind it PERF_CTX_USER and the frames: where the thread was, then return
 * addresses; behind a frame that a signal interrupted, the address after it. How the chain
 * ends (enum walk_end) is in the sample's `misc`, see PERF_MISC_CHAIN_END.
 */
#ifndef PROFTOP_RECORD_CHAIN_MAKER_H
#define PROFTOP_RECORD_CHAIN_MAKER_H

#include "walk.h"

#include <stdbool.h>
#include <stdint.h>

struct chain_maker;
struct perf_events;
struct perf_put;
struct perf_records;

struct chain_stats {
	uint64_t n_walked;              /* copied stacks */
	uint64_t n_frames;              /* of these */
	uint64_t n_by_end[N_WALK_ENDS]; /* how they ended */
};

/* kernels: the events as the kernel was asked for them; borrowed. NULL where stacks of this machine cannot be walked. */
struct chain_maker *chain_maker_new(struct perf_events *kernels);
void chain_maker_free(struct chain_maker *m);

/* The events as their samples are when they come from here, of the same ids. Borrowed. */
struct perf_events *chain_maker_events(struct chain_maker *m);

/* Records of before the samples that are walked next: what is mapped, who was forked. */
void chain_maker_look(struct chain_maker *m, const struct perf_records *records);

/*
 * Forgets who ended some seconds ago, as samples tell the time; and all that it was told if that has become much nevertheless:
 * true when it has, and wants to be told of what runs. Between two turns.
 */
bool chain_maker_forget(struct chain_maker *m);

/* All records go to `to`, samples with their chains. */
void chain_maker_take(struct chain_maker *m, const struct perf_records *records,
		      struct perf_put *to);

const struct chain_stats *chain_maker_stats(const struct chain_maker *m);

#endif
