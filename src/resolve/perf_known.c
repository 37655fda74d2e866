/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "perf_known.h"

#include "map.h"
#include "mem.h"

#include <stdlib.h>

/* With their places in the map 64 MB: what comes later is located again each time. */
#define CHAINS_MOST ((size_t)1 << 20)

struct perf_known {
	VEC(struct known_chain) chains;
	struct map by_hash;
};

static bool same_chain(const void *things, uint32_t value, const void *key)
{
	const struct known_chain *c = (const struct known_chain *)things + value;
	const struct hash128 *hash = key;

	return c->hash.low == hash->low && c->hash.high == hash->high;
}

struct perf_known *perf_known_new(void)
{
	return xcalloc(1, sizeof(struct perf_known));
}

void perf_known_free(struct perf_known *k)
{
	if (!k)
		return;
	vec_done(&k->chains);
	map_done(&k->by_hash);
	free(k);
}

size_t perf_known_n(const struct perf_known *k)
{
	return k->chains.n;
}

void perf_known_forget(struct perf_known *k)
{
	vec_done(&k->chains);
	map_done(&k->by_hash);
}

const struct known_chain *perf_known_find(const struct perf_known *k, struct hash128 hash)
{
	uint32_t i = map_find(&k->by_hash, hash.low, same_chain, k->chains.at, &hash);

	return i == MAP_NONE ? NULL : &k->chains.at[i];
}

void perf_known_fetch(const struct perf_known *k, struct hash128 hash)
{
	map_fetch(&k->by_hash, hash.low);
}

void perf_known_fetch_chain(const struct perf_known *k, struct hash128 hash)
{
	uint32_t likely = map_likely(&k->by_hash, hash.low);

	if (likely != MAP_NONE)
		__builtin_prefetch(&k->chains.at[likely]);
}

void perf_known_add(struct perf_known *k, const struct known_chain *c)
{
	if (k->chains.n == CHAINS_MOST || perf_known_find(k, c->hash))
		return;
	map_add(&k->by_hash, c->hash.low, (uint32_t)k->chains.n);
	vec_push(&k->chains, *c);
}
