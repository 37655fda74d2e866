/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which node of the trie a stack is, by its hash, for all threads: a table that forgets, and grows when it forgets much.
 *
 * What one thread has learnt the others need not; and where threads take turns on a processor they find the same lines
 * in that one's own cache, rather than each lines of its own in memory.
 */
#ifndef PROFTOP_RECORD_HEAP_STACK_STACK_CACHE_H
#define PROFTOP_RECORD_HEAP_STACK_STACK_CACHE_H

#include "record/heap/stack/stack_trie.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define STACK_WAYS      8u
#define STACK_SETS      2048u  /* of the first table: each page of it is touched by any program */
#define STACK_MOST_SETS 65536u /* of the last one: 4 MiB */
#define STACK_NODE      ((UINT64_C(1) << TRIE_NODE_BITS) - 1)

/* A line of the processor's cache. The upper 36 bits of an entry are those of a stack's hash, the others its node. 0: none. */
struct stack_set {
	_Atomic uint64_t entry[STACK_WAYS];
} __attribute__((aligned(64)));

/* Never given back while anyone may read it, only emptied. */
struct stack_table {
	uint64_t n_sets; /* a power of 2 */
	struct stack_set set[];
};

struct stack_cache {
	_Atomic(struct stack_table *) table;
	/* Not on the line that all who look read. */
	_Atomic uint32_t n_forgotten __attribute__((aligned(64))); /* since this table came */
} __attribute__((aligned(64)));

/* What a stack is known by. */
struct stack_key {
	uint64_t hash;    /* of the whole stack */
	uint64_t callers; /* hash of all but its innermost frame */
	uint64_t pc;      /* of that one */
};

/* False: no memory. */
bool stack_cache_init(struct stack_cache *c);

/* Forgets all and gives the memory back. Nobody may be looking. */
void stack_cache_empty(struct stack_cache *c);

/*
 * From now on, until it is forgotten, that stack has this node, which is not 0 and is counted. lot: any number, so that not
 * always the same is forgotten. May interrupt another call on the same thread.
 */
void stack_cache_put(struct stack_cache *c, const struct stack_key *key, uint32_t node,
		     uint32_t lot);

/* Calls at a distance of less than 256 bytes in one function, as those of malloc and of free often are, are in one set. */
static inline struct stack_set *stack_cache_set(struct stack_table *t, const struct stack_key *key)
{
	return &t->set[(key->callers >> 48 ^ key->pc >> 8) & (t->n_sets - 1)];
}

/* The node of that stack, which whoever finds it sees counted; 0: not known. */
static inline uint32_t stack_cache_find(const struct stack_cache *c, const struct stack_key *key)
{
	struct stack_table *t = atomic_load_explicit(&c->table, memory_order_acquire);
	const struct stack_set *set = stack_cache_set(t, key);
	uint64_t found = 0;

	/* All of them, rather than a jump that depends on which it is. */
#pragma GCC unroll 8
	for (unsigned i = 0; i < STACK_WAYS; i++) {
		uint64_t e = atomic_load_explicit(&set->entry[i], memory_order_acquire);

		found = (e ^ key->hash) <= STACK_NODE ? e : found;
	}
	return (uint32_t)(found & STACK_NODE);
}

#endif
