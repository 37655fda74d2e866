/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a thread of a heap trace does again and again: a node and what was done there → origin, without asking the profile. */
#ifndef PROFTOP_HEAPTRACE_READ_ORIGIN_CACHE_H
#define PROFTOP_HEAPTRACE_READ_ORIGIN_CACHE_H

#include <stddef.h>
#include <stdint.h>

struct heap_hand {
	uint64_t key; /* 0: empty */
	uint32_t origin;
};

/* Zeroed: holds nothing, and may not be asked. */
struct origin_cache {
	struct heap_hand *at; /* [1 << bits], at least half of them empty; owned */
	unsigned bits;
	uint32_t n; /* places that are taken */
};

/* Forgets all. The caller ends with origin_cache_done(). */
void origin_cache_begin(struct origin_cache *h);
void origin_cache_done(struct origin_cache *h);

/* Where a key is that nothing else stands in the way of. */
static inline size_t origin_cache_place(const struct origin_cache *h, uint64_t key)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - h->bits));
}

/* A key will be asked for soon. A compiler may leave calls out of what does nothing else. */
static inline __attribute__((always_inline)) void origin_cache_soon(const struct origin_cache *h,
								    uint64_t key)
{
	__builtin_prefetch(&h->at[origin_cache_place(h, key)]);
}

/* Where a key, which is not 0, is, or else should be. */
static inline struct heap_hand *origin_cache_find(const struct origin_cache *h, uint64_t key)
{
	size_t mask = ((size_t)1 << h->bits) - 1, i = origin_cache_place(h, key);

	while (h->at[i].key && h->at[i].key != key)
		i = (i + 1) & mask;
	return &h->at[i];
}

/* Adds a key that is not there; may forget others. */
void origin_cache_add(struct origin_cache *h, uint64_t key, uint32_t origin);

#endif
