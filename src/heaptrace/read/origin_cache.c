/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heaptrace/read/origin_cache.h"

#include "base/mem.h"

#include <stdbool.h>
#include <stdlib.h>

/* Places at first and at most, as powers of two. */
#define BITS_FIRST 4u
#define BITS_MOST  18u

static void begin(struct origin_cache *h, unsigned bits)
{
	h->at = xcalloc((size_t)1 << bits, sizeof(*h->at));
	h->bits = bits;
	h->n = 0;
}

void origin_cache_begin(struct origin_cache *h)
{
	free(h->at);
	begin(h, BITS_FIRST);
}

void origin_cache_done(struct origin_cache *h)
{
	free(h->at);
	*h = (struct origin_cache){ 0 };
}

/* Room for one more: twice the places, or, where there are as many as may be, none that is taken. */
static void widen(struct origin_cache *h)
{
	struct heap_hand *was = h->at;
	size_t n = (size_t)1 << h->bits;
	bool most = h->bits == BITS_MOST;

	begin(h, h->bits + !most);
	for (size_t i = 0; i < n && !most; i++)
		if (was[i].key) {
			*origin_cache_find(h, was[i].key) = was[i];
			h->n++;
		}
	free(was);
}

void origin_cache_add(struct origin_cache *h, uint64_t key, uint32_t origin)
{
	if (h->n >> (h->bits - 1))
		widen(h);
	*origin_cache_find(h, key) = (struct heap_hand){ key, origin };
	h->n++;
}
