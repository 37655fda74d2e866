/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A set-associative cache: the hash of a chain says in which four places it may be, two lines of the
 * processor's cache next to each other. In a full set the chain that was added first gives way.
 */
#include "config.h"

#include "perf/callchain/callchain_cache.h"

#include "base/huge_alloc.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define WAYS       4u
/* Sets at first, and at most: 32 MB. A chain that gave way is located anew, to the same stack. */
#define SETS_LEAST ((size_t)1 << 8)
#define SETS_MOST  ((size_t)1 << 18)

struct callchain_cache {
	struct known_chain *chain; /* [n_sets][WAYS] newest of a set first; hash 0: none; owned */
	size_t n_sets;             /* a power of two, or 0 */
	size_t n;                  /* chains in it */
};

static struct known_chain *set_of(const struct callchain_cache *k, struct hash128 hash)
{
	return &k->chain[((size_t)(hash.low >> 32) & (k->n_sets - 1)) * WAYS];
}

static bool is_empty(const struct known_chain *c)
{
	return (c->hash.low | c->hash.high) == 0;
}

static void put(struct callchain_cache *k, const struct known_chain *c)
{
	struct known_chain *set = set_of(k, c->hash);

	k->n += is_empty(&set[WAYS - 1]);
	memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
	set[0] = *c;
}

static void grow(struct callchain_cache *k)
{
	struct known_chain *old = k->chain;
	size_t n_old = k->n_sets * WAYS;

	k->n_sets = k->n_sets > 0 ? k->n_sets * 2 : SETS_LEAST;
	k->chain = huge_alloc_table_new(k->n_sets * WAYS * sizeof(*k->chain));
	k->n = 0;
	/* From the last on, so that the newest of a set is put last. */
	for (size_t i = n_old; i > 0; i--)
		if (!is_empty(&old[i - 1]))
			put(k, &old[i - 1]);
	huge_alloc_table_free(old, n_old * sizeof(*old));
}

struct callchain_cache *callchain_cache_new(void)
{
	return xcalloc(1, sizeof(struct callchain_cache));
}

void callchain_cache_free(struct callchain_cache *k)
{
	if (!k)
		return;
	callchain_cache_forget(k);
	free(k);
}

size_t callchain_cache_n(const struct callchain_cache *k)
{
	return k->n;
}

void callchain_cache_forget(struct callchain_cache *k)
{
	huge_alloc_table_free(k->chain, k->n_sets * WAYS * sizeof(*k->chain));
	*k = (struct callchain_cache){ .n = 0 };
}

const struct known_chain *callchain_cache_find(const struct callchain_cache *k, struct hash128 hash)
{
	const struct known_chain *set;

	if (k->n_sets == 0 || (hash.low | hash.high) == 0)
		return NULL;
	set = set_of(k, hash);
	for (unsigned i = 0; i < WAYS; i++)
		if (set[i].hash.low == hash.low && set[i].hash.high == hash.high)
			return &set[i];
	return NULL;
}

void callchain_cache_fetch(const struct callchain_cache *k, struct hash128 hash)
{
	const struct known_chain *set;

	if (k->n_sets == 0)
		return;
	set = set_of(k, hash);
	__builtin_prefetch(set);
	__builtin_prefetch(set + WAYS / 2);
}

void callchain_cache_add(struct callchain_cache *k, const struct known_chain *c)
{
	if (callchain_cache_find(k, c->hash) || is_empty(c))
		return;
	if (k->n >= k->n_sets * WAYS / 2 && k->n_sets < SETS_MOST)
		grow(k);
	put(k, c);
}
