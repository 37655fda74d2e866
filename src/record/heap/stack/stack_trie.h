/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All stacks seen, as one trie of frames with their callers; every thread's stacks share it.
 *
 * Nodes are numbered from 1 in the order in which they came, a caller before what it called. Adding takes the trie's
 * lock; looking up and reading nodes below the count take none.
 */
#ifndef PROFTOP_RECORD_HEAP_STACK_STACK_TRIE_H
#define PROFTOP_RECORD_HEAP_STACK_STACK_TRIE_H

#include "record/heap/trace/tracer_lock.h"

#include <stdbool.h>
#include <stdint.h>

#define TRIE_NODE_BITS   28u /* of a node's number */
#define TRIE_CHUNK_NODES 65536u
#define TRIE_MAX_CHUNKS  ((1u << TRIE_NODE_BITS) / TRIE_CHUNK_NODES)
#define TRIE_FIRST_BITS  13u /* of a bucket's number in the first table of buckets: 32 KiB */
#define TRIE_MAX_TABLES  (TRIE_NODE_BITS - TRIE_FIRST_BITS + 1)

struct trie_node {
	uint64_t ip; /* << 1 | exact, as heap_node */
	uint32_t parent;
	_Atomic uint32_t next; /* an older node of the same bucket, or 0 */
};

struct stack_trie {
	struct trie_node *chunk[TRIE_MAX_CHUNKS]; /* [TRIE_CHUNK_NODES] each; never moved */
	/* Tables of buckets, each [2 << n] of the one before: the newest node with that hash, or 0. The last one counts. */
	_Atomic uint32_t *table[TRIE_MAX_TABLES];
	_Atomic uint32_t n_tables;
	/* On lines of the cache for which those who look up need not wait: */
	_Atomic uint32_t n_nodes __attribute__((aligned(64))); /* nodes 1 … n_nodes are whole */
	struct tracer_lock lock; /* of those who change anything here */
	/* Where chunks and their count are told to whoever comes after us; NULL: nowhere. */
	struct trie_node *_Atomic *told_chunk;
	_Atomic uint32_t *told_nodes;
} __attribute__((aligned(64)));

bool stack_trie_init(struct stack_trie *t);

/* Forgets all nodes, whose memory is gone already. Nobody may be looking. */
void stack_trie_forget(struct stack_trie *t);

/*
 * The node for ip called from parent, or 0: it is not there, or it is about to be. From any state, a handler of
 * signals too, without the lock.
 */
uint32_t stack_trie_find(const struct stack_trie *t, uint32_t parent, uint64_t ip);

/* The same; made if it is new. 0: no memory. With the lock held. */
uint32_t stack_trie_child(struct stack_trie *t, uint32_t parent, uint64_t ip);

static inline struct trie_node *stack_trie_node(const struct stack_trie *t, uint32_t id)
{
	return &t->chunk[id / TRIE_CHUNK_NODES][id % TRIE_CHUNK_NODES];
}

#endif
