/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes in chunks, found through a hash table of chains that doubles when it is full. */
#include "config.h"

#include "stack_trie.h"

#include "hash.h"
#include "tracer_memory.h"

#include <stddef.h>

#define FIRST_BUCKETS 131072u

static uint32_t bucket_of(uint32_t parent, uint64_t ip, uint32_t n_buckets)
{
	return (uint32_t)hash_u64(ip ^ (uint64_t)parent << 40 ^ parent) & (n_buckets - 1);
}

bool stack_trie_init(struct stack_trie *t)
{
	t->n_buckets = FIRST_BUCKETS;
	t->bucket = tracer_map(FIRST_BUCKETS * sizeof(*t->bucket));
	return t->bucket != NULL;
}

static struct trie_node *writable(struct stack_trie *t, uint32_t id)
{
	struct trie_node **chunk = &t->chunk[id / TRIE_CHUNK_NODES];

	if (!*chunk)
		*chunk = tracer_map(TRIE_CHUNK_NODES * sizeof(**chunk));
	return *chunk ? &(*chunk)[id % TRIE_CHUNK_NODES] : NULL;
}

/* Twice the buckets, if there is memory; else chains become longer. */
static void grow(struct stack_trie *t, uint32_t n_nodes)
{
	uint32_t n = t->n_buckets * 2;
	uint32_t *bucket = tracer_map(n * sizeof(*bucket));

	if (!bucket)
		return;
	for (uint32_t id = 1; id <= n_nodes; id++) {
		struct trie_node *node = writable(t, id);
		uint32_t *head = &bucket[bucket_of(node->parent, node->ip, n)];

		node->next = *head;
		*head = id;
	}
	tracer_unmap(t->bucket, t->n_buckets * sizeof(*t->bucket));
	t->bucket = bucket;
	t->n_buckets = n;
}

uint32_t stack_trie_child(struct stack_trie *t, uint32_t parent, uint64_t ip)
{
	uint32_t n = atomic_load_explicit(&t->n_nodes, memory_order_relaxed);
	uint32_t *head = &t->bucket[bucket_of(parent, ip, t->n_buckets)];
	struct trie_node *node;

	for (uint32_t id = *head; id; id = node->next) {
		node = writable(t, id);
		if (node->ip == ip && node->parent == parent)
			return id;
	}
	if (n + 1 >= TRIE_CHUNK_NODES * TRIE_MAX_CHUNKS)
		return 0;
	node = writable(t, n + 1);
	if (!node)
		return 0;
	*node = (struct trie_node){ .ip = ip, .parent = parent, .next = *head };
	*head = n + 1;
	atomic_store_explicit(&t->n_nodes, n + 1, memory_order_release);
	if (n + 1 > t->n_buckets)
		grow(t, n + 1);
	return n + 1;
}
