/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The one hash table: an index of things that are kept elsewhere by number.
 *
 * A slot holds a 32-bit value and 32 bits of the hash; whether a value really is the one sought is
 * the caller's to say (map_same), so that keys are stored once, where they live. Open addressing,
 * linear probing, a power of two slots, at most 3/4 full. Only the upper 32 bits of a hash are used,
 * for the place and for the tag, so that a table grows without asking for the keys again.
 *
 * In a large table a look-up waits for memory. Who has several to do can do so side by side:
 * map_fetch() for all, then map_likely() for all to fetch what same() will look at, then map_find().
 *
 * Values are below MAP_NONE. Zeroed is a valid empty map. One user at a time.
 */
#ifndef PROFTOP_BASE_MAP_H
#define PROFTOP_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT32_MAX

struct map {
	uint64_t *slot; /* [n_slots] hash bits << 32 | value + 1; 0: empty; owned */
	size_t n_slots; /* power of two, or 0 */
	size_t n;       /* values held */
};

/* Is the thing numbered value the one that key describes? */
typedef bool map_same(const void *things, uint32_t value, const void *key);

void map_done(struct map *m);

/* Room for n values without growing. */
void map_reserve(struct map *m, size_t n);

/* Adds value, which must not be in the map yet. */
void map_add(struct map *m, uint64_t hash, uint32_t value);

/* The value, or MAP_NONE. Inlined so that a constant same() costs no call. */
static inline uint32_t map_find(const struct map *m, uint64_t hash, map_same *same,
				const void *things, const void *key)
{
	size_t mask = m->n_slots - 1;

	if (m->n_slots == 0)
		return MAP_NONE;
	for (size_t i = (size_t)(hash >> 32) & mask;; i = (i + 1) & mask) {
		uint64_t slot = m->slot[i];

		if (slot == 0)
			return MAP_NONE;
		if (slot >> 32 == hash >> 32 && same(things, (uint32_t)slot - 1, key))
			return (uint32_t)slot - 1;
	}
}

/* Begins to load the slot that look-ups of this hash begin with. */
static inline void map_fetch(const struct map *m, uint64_t hash)
{
	if (m->n_slots > 0)
		__builtin_prefetch(&m->slot[(size_t)(hash >> 32) & (m->n_slots - 1)]);
}

static inline bool map_same_hash(const void *things, uint32_t value, const void *key)
{
	(void)things;
	(void)value;
	(void)key;
	return true;
}

/* A value with this hash, which is most likely the one sought, or MAP_NONE. */
static inline uint32_t map_likely(const struct map *m, uint64_t hash)
{
	return map_find(m, hash, map_same_hash, NULL, NULL);
}

#endif
