/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Open addressing, linear probing, at most 3/4 full. The place of a stack comes from the upper half of its hash, and the bits beside
 * its number from the lower half, so that they tell stacks of one place apart.
 */
#include "config.h"

#include "profile/stack_index.h"

#include "base/hash.h"
#include "base/huge_alloc.h"
#include "base/map.h"
#include "profile/store.h"

#include <assert.h>

#define LEAST_SLOTS   64
#define LEAST_ID_BITS 12
/* So far ahead memory is fetched while a table grows. */
#define AHEAD         24

static size_t place_of(const struct stack_index *x, uint64_t hash)
{
	return (size_t)(hash >> 32) & (x->n_slots - 1);
}

/* The part of a slot that is of the hash. */
static uint32_t tag_of(const struct stack_index *x, uint64_t hash)
{
	return (uint32_t)hash >> x->id_bits << x->id_bits;
}

static uint32_t id_of(const struct stack_index *x, uint32_t slot)
{
	return slot & ((UINT32_C(1) << x->id_bits) - 1);
}

void stack_index_done(struct stack_index *x)
{
	huge_alloc_table_free(x->slot, x->n_slots * sizeof(*x->slot));
	*x = (struct stack_index){ 0 };
}

static void put(struct stack_index *x, uint64_t hash, uint32_t stack)
{
	size_t i = place_of(x, hash);

	while (x->slot[i] != 0)
		i = (i + 1) & (x->n_slots - 1);
	x->slot[i] = tag_of(x, hash) | stack;
}

/* Numbers of stacks have more bits from now on: those of hashes are the fewer. */
static void widen(struct stack_index *x, unsigned id_bits)
{
	for (size_t i = 0; i < x->n_slots; i++) {
		uint32_t slot = x->slot[i];

		if (slot != 0)
			x->slot[i] = slot >> id_bits << id_bits | id_of(x, slot);
	}
	x->id_bits = id_bits;
}

/* In the order of their numbers, as slots do not say where they belong in a larger table. */
static void put_all(struct stack_index *x, const struct store_trie *t, uint32_t n_stacks)
{
	const uint32_t *parent = t->parent.base, *location = t->location.base;
	const struct store_child *child = t->child.base;

	for (uint32_t i = 1; i < n_stacks; i++) {
		uint32_t later = i + AHEAD, soon = i + AHEAD / 2;

		if (later < n_stacks)
			__builtin_prefetch(&child[parent[later]]);
		if (soon < n_stacks && child[parent[soon]].mapped)
			stack_index_fetch(x, hash_pair(parent[soon], location[soon]));
		if (child[parent[i]].mapped)
			put(x, hash_pair(parent[i], location[i]), i);
	}
}

void stack_index_reserve(struct stack_index *x, const struct store_trie *t, uint32_t n_stacks,
			 uint32_t more)
{
	size_t n_slots = x->n_slots ? x->n_slots : LEAST_SLOTS;
	unsigned id_bits = x->id_bits ? x->id_bits : LEAST_ID_BITS;

	while (n_stacks + more > UINT32_C(1) << id_bits)
		id_bits++;
	if (id_bits > x->id_bits)
		widen(x, id_bits);
	while (x->n + more > n_slots / 4 * 3)
		n_slots *= 2;
	if (n_slots == x->n_slots)
		return;
	/* nothing is read of the old one, so that both need no room at once */
	huge_alloc_table_free(x->slot, x->n_slots * sizeof(*x->slot));
	x->slot = huge_alloc_table_new(n_slots * sizeof(*x->slot));
	x->n_slots = n_slots;
	put_all(x, t, n_stacks);
}

void stack_index_add(struct stack_index *x, uint64_t hash, uint32_t stack)
{
	assert(x->n < x->n_slots && stack >> x->id_bits == 0);
	put(x, hash, stack);
	x->n++;
}

uint32_t stack_index_find(const struct stack_index *x, const struct store_trie *t, uint64_t hash,
			  uint32_t parent, uint32_t location)
{
	uint32_t tag = tag_of(x, hash);

	if (x->n_slots == 0)
		return MAP_NONE;
	for (size_t i = place_of(x, hash);; i = (i + 1) & (x->n_slots - 1)) {
		uint32_t slot = x->slot[i], id = id_of(x, slot);

		if (slot == 0)
			return MAP_NONE;
		if ((slot ^ tag) >> x->id_bits == 0 &&
		    STORE_AT(uint32_t, t->parent, id) == parent &&
		    STORE_AT(uint32_t, t->location, id) == location)
			return id;
	}
}

void stack_index_fetch(const struct stack_index *x, uint64_t hash)
{
	if (x->n_slots > 0)
		__builtin_prefetch(&x->slot[place_of(x, hash)]);
}

uint32_t stack_index_likely(const struct stack_index *x, uint64_t hash)
{
	uint32_t tag = tag_of(x, hash);

	if (x->n_slots == 0)
		return MAP_NONE;
	for (size_t i = place_of(x, hash);; i = (i + 1) & (x->n_slots - 1)) {
		uint32_t slot = x->slot[i];

		if (slot == 0)
			return MAP_NONE;
		if ((slot ^ tag) >> x->id_bits == 0)
			return id_of(x, slot);
	}
}
