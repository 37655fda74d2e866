/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a pass over the allocations added up, kept for the next one: of one state of a profile, and of the same
 * filters, another measure is to be had without a pass.
 */
#ifndef PROFTOP_QUERY_CORE_HEAP_SUMS_CACHE_H
#define PROFTOP_QUERY_CORE_HEAP_SUMS_CACHE_H

#include "query/core/aggregate.h"
#include "query/core/heap_measure.h"

#include <stdbool.h>
#include <stdint.h>

/* What an origin has of a kind: a measure at its moments. */
struct heap_sum {
	int64_t sum;
	uint64_t n_blocks;
};

/* Moments of a track at which something of a kind began; first above behind: none. */
struct heap_passing {
	uint32_t first;
	uint32_t behind; /* the last one */
};

struct heap_sums {
	struct heap_sum *origin; /* [n_origins][n_kinds]; owned */
	int64_t (*net)
		[WEIGH_N_SLICES]; /* [n_kinds] what slices add; of levels only of the first kind; owned */
	struct heap_passing *passing; /* [n_tracks][n_kinds]; owned */
};

void heap_sums_init(struct heap_sums *s, const struct heap_columns *c, uint32_t n_kinds);
/* The same sizes. */
void heap_sums_add(struct heap_sums *to, const struct heap_sums *from, const struct heap_columns *c,
		   uint32_t n_kinds);
void heap_sums_done(struct heap_sums *s);

/* Sums stay below what 63 bits hold, whatever sizes a file claims. */
static inline void heap_sum_add(int64_t *to, int64_t x)
{
	if (__builtin_add_overflow(*to, x, to))
		*to = x < 0 ? INT64_MIN : INT64_MAX;
}

/* Nothing yet, of one profile. One thread at a time may use it. */
struct heap_sums_cache *heap_sums_cache_new(void);
void heap_sums_cache_free(struct heap_sums_cache *k);

/* What is kept of another state is forgotten. Peaks that are known, or NULL: good until the next change. */
const struct heap_peaks *heap_sums_cache_open(struct heap_sums_cache *k,
					      const struct profile_counts *counts);
/* Sums of brief blocks; borrowed for the cache's life. */
struct heap_brief *heap_sums_cache_brief(const struct heap_sums_cache *k);

/*
 * Sums of all measures, and which kind each is: kind_of, [n]. NULL: they are not kept. key: [n_origins] what filters say of
 * each. Borrowed until the next change.
 */
const struct heap_sums *heap_sums_cache_find(const struct heap_sums_cache *k,
					     const struct heap_columns *c, const uint8_t *key,
					     const struct heap_measure *measure, uint32_t n,
					     uint32_t *kind_of);
/* How many kinds those are, and bits: which are of what is there. */
uint32_t heap_sums_cache_kinds(const struct heap_sums_cache *k, uint32_t *levels);

/* Keeps sums of the kinds, [n], and the key; both are the keeper's from now on. */
void heap_sums_cache_put(struct heap_sums_cache *k, const struct heap_columns *c, uint8_t *key,
			 const struct heap_measure *const *kind, uint32_t n,
			 struct heap_sums *sums);
/* Keeps the peaks among measures, and the newest of those before; what is kept of the measures is the keeper's. */
void heap_sums_cache_put_peaks(struct heap_sums_cache *k, const struct heap_columns *c,
			       struct heap_measure *measure, uint32_t n);

#endif
