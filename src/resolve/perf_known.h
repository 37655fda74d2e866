/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded chains that came before, and the stacks that they turned out to be.
 *
 * Programs go the same ways again and again: of a hundred samples of a callchain some seventy are of one that was
 * seen. What is kept of a chain is a hash of 128 bits of all that its stack depends on, so that equal hashes mean
 * equal stacks.
 */
#ifndef PROFTOP_RESOLVE_PERF_KNOWN_H
#define PROFTOP_RESOLVE_PERF_KNOWN_H

#include "hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_known;

struct known_chain {
	struct hash128 hash;
	uint32_t stack;    /* stack_id */
	uint32_t n_frames; /* that were recorded */
	uint32_t leaf;     /* as perf_frames_leaf() */
	uint32_t unused;   /* to 32 bytes, half a line of the cache */
};

struct perf_known *perf_known_new(void);
void perf_known_free(struct perf_known *k);

/* The chain with that hash, valid until the next one is added, or NULL. */
const struct known_chain *perf_known_find(const struct perf_known *k, struct hash128 hash);

/* Look-ups wait for memory. A caller with several of them calls this for all of them first. */
void perf_known_fetch(const struct perf_known *k, struct hash128 hash);

/* How many are known. */
size_t perf_known_n(const struct perf_known *k);
/* Forgets all of them. */
void perf_known_forget(struct perf_known *k);

/* Adds one, unless it is there. Where there are too many, an older one is forgotten. */
void perf_known_add(struct perf_known *k, const struct known_chain *c);

#endif
