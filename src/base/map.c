/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Growth of the hash table. Place and tag both come from the upper half of the hash, so that a
 * slot says by itself where it belongs in a larger table.
 */
#include "config.h"

#include "base/map.h"

#include "base/huge_alloc.h"

#include <assert.h>

#define LEAST_SLOTS 64
/* Tags have 32 bits: a larger table would leave slots unused. */
#define MOST_SLOTS  ((uint64_t)1 << 32)

static void put(struct map *m, uint64_t slot)
{
	size_t mask = m->n_slots - 1, i = (size_t)(slot >> 32) & mask;

	while (m->slot[i] != 0)
		i = (i + 1) & mask;
	m->slot[i] = slot;
}

static void grow(struct map *m, size_t n_slots)
{
	uint64_t *old = m->slot;
	size_t n_old = m->n_slots;

	/* Look-ups go all over a table: with small pages each would also miss the TLB. */
	m->slot = huge_alloc_table_new(n_slots * sizeof(*m->slot));
	m->n_slots = n_slots;
	for (size_t i = 0; i < n_old; i++)
		if (old[i] != 0)
			put(m, old[i]);
	huge_alloc_table_free(old, n_old * sizeof(*old));
}

void map_done(struct map *m)
{
	huge_alloc_table_free(m->slot, m->n_slots * sizeof(*m->slot));
	*m = (struct map){ 0 };
}

void map_reserve(struct map *m, size_t n)
{
	size_t n_slots = m->n_slots ? m->n_slots : LEAST_SLOTS;

	assert(n < MOST_SLOTS / 4 * 3);
	while (n > n_slots / 4 * 3)
		n_slots *= 2;
	if (n_slots > m->n_slots)
		grow(m, n_slots);
}

void map_add(struct map *m, uint64_t hash, uint32_t value)
{
	assert(value != MAP_NONE);
	map_reserve(m, m->n + 1);
	put(m, (hash >> 32) << 32 | (value + 1));
	m->n++;
}
