/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Recorded chains that came before, and the stacks that they turned out to be.
 *
 * Programs go the same ways again and again: of a hundred samples of a callchain some seventy are of one that was
 * seen. What is kept of a chain is a hash of 128 bits of all that its stack depends on, so that equal hashes mean
 * equal stacks.
 */
#ifndef PROFTOP_PERF_CALLCHAIN_CALLCHAIN_CACHE_H
#define PROFTOP_PERF_CALLCHAIN_CALLCHAIN_CACHE_H

#include "base/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callchain_cache;

struct known_chain {
	struct hash128 hash;
	uint32_t stack;    /* stack_id */
	uint32_t n_frames; /* that were recorded */
	uint32_t leaf;     /* as perf_frames_leaf() */
	uint32_t unused;   /* to 32 bytes, half a line of the cache */
};

struct callchain_cache *callchain_cache_new(void);
void callchain_cache_free(struct callchain_cache *k);

/* The chain with that hash, valid until the next one is added, or NULL. */
const struct known_chain *callchain_cache_find(const struct callchain_cache *k,
					       struct hash128 hash);

/* Look-ups wait for memory. A caller with several of them calls this for all of them first. */
void callchain_cache_fetch(const struct callchain_cache *k, struct hash128 hash);

/* How many are known. */
size_t callchain_cache_n(const struct callchain_cache *k);
/* Forgets all of them. */
void callchain_cache_forget(struct callchain_cache *k);

/* Adds one, unless it is there. Where there are too many, an older one is forgotten. */
void callchain_cache_add(struct callchain_cache *k, const struct known_chain *c);

#endif
