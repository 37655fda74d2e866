/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks by their parent and location: a hash table of four bytes a slot, as there may be tens of millions of them.
 *
 * A slot holds a stack's number, and above it as many bits of its hash as there is room for. The table knows of a stack no more
 * than this: it compares, and grows, by the columns of the trie. Private to this room.
 */
#ifndef PROFTOP_PROFILE_STACK_INDEX_H
#define PROFTOP_PROFILE_STACK_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store_trie;

/* Zeroed is an empty one. */
struct stack_index {
	uint32_t *slot;   /* [n_slots] bits of the hash above the stack_id; 0: empty; owned */
	size_t n_slots;   /* power of two, or 0 */
	size_t n;         /* stacks held */
	unsigned id_bits; /* of a slot that are the stack's */
};

void stack_index_done(struct stack_index *x);

/*
 * Room for so many stacks more, of numbers below n_stacks + more; the table grows by all of the trie's n_stacks whose parent says
 * that its children are mapped.
 */
void stack_index_reserve(struct stack_index *x, const struct store_trie *t, uint32_t n_stacks,
			 uint32_t more);
/* Adds a stack, which is not there, and for which there is room. */
void stack_index_add(struct stack_index *x, uint64_t hash, uint32_t stack);

/* hash is hash_pair(parent, location), here and above. The stack, or MAP_NONE. */
uint32_t stack_index_find(const struct stack_index *x, const struct store_trie *t, uint64_t hash,
			  uint32_t parent, uint32_t location);

/* As map_fetch() and map_likely(): begins to load a slot; the first stack that may be the one, or MAP_NONE. */
void stack_index_fetch(const struct stack_index *x, uint64_t hash);
uint32_t stack_index_likely(const struct stack_index *x, uint64_t hash);

#endif
