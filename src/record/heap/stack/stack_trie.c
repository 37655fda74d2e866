/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Nodes in chunks, found through a hash table of chains that doubles when it is full.
 *
 * Who looks up takes no lock, while one other thread at most adds. What it relies on:
 * - A node's ip and parent are set once, before the node is put in front of a bucket (release). Whoever finds it there
 *   (acquire) sees them; and those of all older nodes as well, as each was added by someone who had the lock before.
 * - It is counted before it can be found: whoever is told of an event of that stack finds it below the count.
 * - A chain leads from newer nodes to older ones, in every table and while it is made anew in another: so it ends, wherever
 *   `next` changes below the reader, and leads only to nodes that the reader sees whole.
 * - A match is of ip and parent, which never change: what is found is right. What is not found may be there all the same, when
 *   the table was doubled meanwhile; who has the lock looks again.
 * - A table that was doubled is emptied, and its addresses stay: who still reads it finds nothing.
 */
#include "config.h"

#include "record/heap/stack/stack_trie.h"

#include "base/hash.h"
#include "record/heap/trace/shared_memory.h"
#include "record/heap/trace/tracer_memory.h"

#include <stddef.h>

static uint32_t n_buckets(uint32_t table)
{
	return 1u << (TRIE_FIRST_BITS + table);
}

/* The bucket in that table. */
static _Atomic uint32_t *bucket_of(const struct stack_trie *t, uint32_t table, uint32_t parent,
				   uint64_t ip)
{
	uint64_t hash = hash_u64(ip ^ (uint64_t)parent << 40 ^ parent);

	return &t->table[table][hash & (n_buckets(table) - 1)];
}

bool stack_trie_init(struct stack_trie *t)
{
	t->table[0] = tracer_map(n_buckets(0) * sizeof(**t->table));
	t->n_tables = 1;
	return t->table[0] != NULL;
}

void stack_trie_forget(struct stack_trie *t)
{
	for (uint32_t i = 0; i < TRIE_MAX_CHUNKS; i++)
		t->chunk[i] = NULL;
	for (uint32_t i = 0; i < atomic_load(&t->n_tables); i++)
		tracer_empty((void *)t->table[i], n_buckets(i) * sizeof(**t->table));
	atomic_store(&t->n_tables, 1);
	atomic_store(&t->n_nodes, 0);
}

/* Where a node goes that may be the first one of its chunk. NULL: no memory. */
static struct trie_node *new_node(struct stack_trie *t, uint32_t id)
{
	struct trie_node **chunk = &t->chunk[id / TRIE_CHUNK_NODES];

	if (!*chunk) {
		*chunk = shared_memory_map(TRIE_CHUNK_NODES * sizeof(**chunk));
		if (t->told_chunk)
			atomic_store(&t->told_chunk[id / TRIE_CHUNK_NODES], *chunk);
	}
	return *chunk ? stack_trie_node(t, id) : NULL;
}

/* Twice the buckets, if there is memory; else chains become longer. */
static void grow(struct stack_trie *t, uint32_t n_nodes)
{
	uint32_t n = atomic_load_explicit(&t->n_tables, memory_order_relaxed);

	if (n == TRIE_MAX_TABLES)
		return;
	t->table[n] = tracer_map(n_buckets(n) * sizeof(**t->table));
	if (!t->table[n])
		return;
	for (uint32_t id = 1; id <= n_nodes; id++) {
		struct trie_node *node = stack_trie_node(t, id);
		_Atomic uint32_t *head = bucket_of(t, n, node->parent, node->ip);

		atomic_store_explicit(&node->next, atomic_load_explicit(head, memory_order_relaxed),
				      memory_order_relaxed);
		atomic_store_explicit(head, id, memory_order_relaxed);
	}
	atomic_store_explicit(&t->n_tables, n + 1, memory_order_release);
	tracer_empty((void *)t->table[n - 1], n_buckets(n - 1) * sizeof(**t->table));
}

uint32_t stack_trie_find(const struct stack_trie *t, uint32_t parent, uint64_t ip)
{
	uint32_t table = atomic_load_explicit(&t->n_tables, memory_order_acquire) - 1;
	uint32_t id = atomic_load_explicit(bucket_of(t, table, parent, ip), memory_order_acquire);

	while (id) {
		const struct trie_node *node = stack_trie_node(t, id);

		if (node->ip == ip && node->parent == parent)
			return id;
		id = atomic_load_explicit(&node->next, memory_order_relaxed);
	}
	return 0;
}

uint32_t stack_trie_child(struct stack_trie *t, uint32_t parent, uint64_t ip)
{
	uint32_t n = atomic_load_explicit(&t->n_nodes, memory_order_relaxed);
	uint32_t table = atomic_load_explicit(&t->n_tables, memory_order_relaxed) - 1;
	uint32_t id = stack_trie_find(t, parent, ip);
	_Atomic uint32_t *head = bucket_of(t, table, parent, ip);
	struct trie_node *node;

	if (id)
		return id;
	if (n + 1 >= TRIE_CHUNK_NODES * TRIE_MAX_CHUNKS)
		return 0;
	node = new_node(t, n + 1);
	if (!node)
		return 0;
	node->ip = ip;
	node->parent = parent;
	atomic_store_explicit(&node->next, atomic_load_explicit(head, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&t->n_nodes, n + 1, memory_order_release);
	if (t->told_nodes)
		atomic_store_explicit(t->told_nodes, n + 1, memory_order_release);
	atomic_store_explicit(head, n + 1, memory_order_release);
	if (n + 1 > n_buckets(table))
		grow(t, n + 1);
	return n + 1;
}
