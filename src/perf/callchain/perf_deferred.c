/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Generations of chains: of the batch looked at last, those that wait to be fed, and the one that was fed last. */
#include "config.h"

#include "perf/callchain/perf_deferred.h"

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

#define N_GENERATIONS (PERF_DEFERRED_BATCHES + 2)

struct deferred_chain {
	uint64_t cookie;
	size_t at;  /* index of its first word */
	uint32_t n; /* words */
	int32_t tid;
};

struct generation {
	VEC(uint64_t) words; /* of all chains, in this machine's byte order */
	VEC(struct deferred_chain) chains;
	struct map by_cookie;
};

struct perf_deferred {
	struct generation generation[N_GENERATIONS];
	unsigned newest; /* index of the one that is being added to */
};

static bool same_cookie(const void *things, uint32_t value, const void *key)
{
	const struct deferred_chain *a = &((const struct deferred_chain *)things)[value], *b = key;

	return a->cookie == b->cookie && a->tid == b->tid;
}

static uint64_t hash_of(int32_t tid, uint64_t cookie)
{
	return hash_u64(cookie ^ hash_u64((uint32_t)tid));
}

struct perf_deferred *perf_deferred_new(void)
{
	return xcalloc(1, sizeof(struct perf_deferred));
}

void perf_deferred_free(struct perf_deferred *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < N_GENERATIONS; i++) {
		vec_done(&d->generation[i].words);
		vec_done(&d->generation[i].chains);
		map_done(&d->generation[i].by_cookie);
	}
	free(d);
}

void perf_deferred_turn(struct perf_deferred *d)
{
	struct generation *g;

	d->newest = (d->newest + 1) % N_GENERATIONS;
	g = &d->generation[d->newest];
	if (g->chains.n == 0)
		return;
	vec_clear(&g->words);
	vec_clear(&g->chains);
	map_done(&g->by_cookie);
	g->by_cookie = (struct map){ .n = 0 };
}

void perf_deferred_add(struct perf_deferred *d, int32_t tid, const struct perf_deferred_chain *c)
{
	struct generation *g = &d->generation[d->newest];
	struct deferred_chain new = {
		.cookie = c->cookie, .tid = tid, .at = g->words.n, .n = c->ips.n
	};

	for (uint32_t i = 0; i < c->ips.n; i++)
		vec_push(&g->words, perf_word(&c->ips, i));
	map_add(&g->by_cookie, hash_of(tid, c->cookie), (uint32_t)g->chains.n);
	vec_push(&g->chains, new);
}

bool perf_deferred_find(const struct perf_deferred *d, int32_t tid, uint64_t cookie,
			struct perf_words *out)
{
	struct deferred_chain key = { .cookie = cookie, .tid = tid };

	for (size_t i = 0; i < N_GENERATIONS; i++) {
		const struct generation *g = &d->generation[i];
		uint32_t at = map_find(&g->by_cookie, hash_of(tid, cookie), same_cookie,
				       g->chains.at, &key);

		if (at == MAP_NONE)
			continue;
		*out = (struct perf_words){ .n = g->chains.at[at].n };
		if (out->n > 0)
			out->at = (const uint8_t *)&g->words.at[g->chains.at[at].at];
		return true;
	}
	return false;
}
