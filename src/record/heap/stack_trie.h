/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All stacks seen, as one trie of frames with their callers; every thread's stacks share it.
 *
 * Nodes are numbered from 1 in the order in which they came, a caller before what it called. Looking
 * up and adding takes the trie's lock; reading nodes below the count takes none.
 */
#ifndef PROFTOP_RECORD_HEAP_STACK_TRIE_H
#define PROFTOP_RECORD_HEAP_STACK_TRIE_H

#include "tracer_lock.h"

#include <stdbool.h>
#include <stdint.h>

#define TRIE_NODE_BITS   28u /* of a node's number */
#define TRIE_CHUNK_NODES 65536u
#define TRIE_MAX_CHUNKS  ((1u << TRIE_NODE_BITS) / TRIE_CHUNK_NODES)

struct trie_node {
	uint64_t ip; /* << 1 | exact, as heap_node */
	uint32_t parent;
	uint32_t next; /* node with the same hash, or 0 */
};

struct stack_trie {
	struct trie_node *chunk[TRIE_MAX_CHUNKS]; /* [TRIE_CHUNK_NODES] each; never moved */
	uint32_t *bucket;                         /* [n_buckets] newest node with that hash, or 0 */
	uint32_t n_buckets;                       /* a power of two */
	_Atomic uint32_t n_nodes;                 /* nodes 1 … n_nodes are whole */
	struct tracer_lock lock;                  /* of everything above */
};

bool stack_trie_init(struct stack_trie *t);

/* The node for ip called from parent; made if it is new. 0: no memory. With the lock held. */
uint32_t stack_trie_child(struct stack_trie *t, uint32_t parent, uint64_t ip);

static inline const struct trie_node *stack_trie_node(const struct stack_trie *t, uint32_t id)
{
	return &t->chunk[id / TRIE_CHUNK_NODES][id % TRIE_CHUNK_NODES];
}

#endif
