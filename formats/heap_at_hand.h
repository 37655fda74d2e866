/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a thread of a heap trace does again and again: a node and what was done there → origin, without asking the profile. */
#ifndef PROFTOP_FORMATS_HEAP_AT_HAND_H
#define PROFTOP_FORMATS_HEAP_AT_HAND_H

#include <stddef.h>
#include <stdint.h>

struct heap_hand {
	uint64_t key; /* 0: empty */
	uint32_t origin;
};

/* Zeroed: holds nothing, and may not be asked. */
struct heap_at_hand {
	struct heap_hand *at; /* [1 << bits], at least half of them empty; owned */
	unsigned bits;
	uint32_t n; /* places that are taken */
};

/* Forgets all. The caller ends with heap_at_hand_done(). */
void heap_at_hand_begin(struct heap_at_hand *h);
void heap_at_hand_done(struct heap_at_hand *h);

/* Where a key, which is not 0, is, or else should be. */
static inline struct heap_hand *heap_at_hand_find(const struct heap_at_hand *h, uint64_t key)
{
	size_t mask = ((size_t)1 << h->bits) - 1;
	size_t i = (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - h->bits));

	while (h->at[i].key && h->at[i].key != key)
		i = (i + 1) & mask;
	return &h->at[i];
}

/* Adds a key that is not there; may forget others. */
void heap_at_hand_add(struct heap_at_hand *h, uint64_t key, uint32_t origin);

#endif
