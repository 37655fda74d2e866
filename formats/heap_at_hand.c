/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heap_at_hand.h"

#include "mem.h"

#include <stdbool.h>
#include <stdlib.h>

/* Places at first and at most, as powers of two. */
#define BITS_FIRST 4u
#define BITS_MOST  18u

static void begin(struct heap_at_hand *h, unsigned bits)
{
	h->at = xcalloc((size_t)1 << bits, sizeof(*h->at));
	h->bits = bits;
	h->n = 0;
}

void heap_at_hand_begin(struct heap_at_hand *h)
{
	free(h->at);
	begin(h, BITS_FIRST);
}

void heap_at_hand_done(struct heap_at_hand *h)
{
	free(h->at);
	*h = (struct heap_at_hand){ 0 };
}

/* Room for one more: twice the places, or, where there are as many as may be, none that is taken. */
static void widen(struct heap_at_hand *h)
{
	struct heap_hand *was = h->at;
	size_t n = (size_t)1 << h->bits;
	bool most = h->bits == BITS_MOST;

	begin(h, h->bits + !most);
	for (size_t i = 0; i < n && !most; i++)
		if (was[i].key) {
			*heap_at_hand_find(h, was[i].key) = was[i];
			h->n++;
		}
	free(was);
}

void heap_at_hand_add(struct heap_at_hand *h, uint64_t key, uint32_t origin)
{
	if (h->n >> (h->bits - 1))
		widen(h);
	*heap_at_hand_find(h, key) = (struct heap_hand){ key, origin };
	h->n++;
}
