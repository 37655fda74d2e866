/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * User callchains that the kernel took on the way back to user mode (CALLCHAIN_DEFERRED), for the samples
 * before, which hold a cookie in their place.
 *
 * The record stands behind its samples, mostly in the same round of buffers, so only those of the last
 * batches are kept.
 */
#ifndef PROFTOP_PERF_CALLCHAIN_PERF_DEFERRED_H
#define PROFTOP_PERF_CALLCHAIN_PERF_DEFERRED_H

#include "perf/abi/perf_abi.h"

#include <stdbool.h>
#include <stdint.h>

struct perf_deferred;

struct perf_deferred *perf_deferred_new(void);
void perf_deferred_free(struct perf_deferred *d);

/* Batches that may have been looked at when one is fed. */
#define PERF_DEFERRED_BATCHES 16

/* A batch of records begins: forgets what came more than that before. */
void perf_deferred_turn(struct perf_deferred *d);

/* Copies the chain of a thread. */
void perf_deferred_add(struct perf_deferred *d, int32_t tid, const struct perf_deferred_chain *c);

/* The chain of a cookie, valid until the next turn; false when there is none. */
bool perf_deferred_find(const struct perf_deferred *d, int32_t tid, uint64_t cookie,
			struct perf_words *out);

#endif
