/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An entry is one word, put in its place whole: threads that put at the same time make one of them forgotten, no more.
 * A larger table begins empty, as the trie knows all that was in the smaller one.
 */
#include "config.h"

#include "record/heap/stack/stack_cache.h"

#include "record/heap/trace/tracer_memory.h"

#define PAGE_BYTES 4096u

static size_t bytes_of(uint64_t n_sets)
{
	return sizeof(struct stack_table) + n_sets * sizeof(struct stack_set);
}

static struct stack_table *make(uint64_t n_sets)
{
	struct stack_table *t = tracer_map(bytes_of(n_sets));

	if (t)
		t->n_sets = n_sets;
	return t;
}

bool stack_cache_init(struct stack_cache *c)
{
	atomic_store(&c->table, make(STACK_SETS));
	return atomic_load(&c->table) != NULL;
}

/* Its number of sets stays, for who may be looking there. */
static void empty(struct stack_table *t)
{
	uint8_t *end = (uint8_t *)t + bytes_of(t->n_sets), *page = (uint8_t *)t + PAGE_BYTES;

	for (struct stack_set *set = t->set; (uint8_t *)set < page; set++)
		for (unsigned i = 0; i < STACK_WAYS; i++)
			atomic_store_explicit(&set->entry[i], 0, memory_order_relaxed);
	tracer_empty(page, (size_t)(end - page));
}

void stack_cache_empty(struct stack_cache *c)
{
	empty(atomic_load(&c->table));
	atomic_store(&c->n_forgotten, 0);
}

/* Twice the sets instead of those of t, if there is memory and nobody else was quicker. */
static void grow(struct stack_cache *c, struct stack_table *t)
{
	struct stack_table *larger = make(2 * t->n_sets), *expected = t;

	atomic_store(&c->n_forgotten, 0);
	if (!larger)
		return;
	if (atomic_compare_exchange_strong(&c->table, &expected, larger))
		empty(t);
	else
		tracer_unmap(larger, bytes_of(larger->n_sets));
}

void stack_cache_put(struct stack_cache *c, const struct stack_key *key, uint32_t node,
		     uint32_t lot)
{
	struct stack_table *t = atomic_load_explicit(&c->table, memory_order_acquire);
	struct stack_set *set = stack_cache_set(t, key);
	unsigned i = 0;

	while (i < STACK_WAYS && atomic_load_explicit(&set->entry[i], memory_order_relaxed) != 0)
		i++;
	atomic_store_explicit(&set->entry[i < STACK_WAYS ? i : lot % STACK_WAYS],
			      (key->hash & ~STACK_NODE) | node, memory_order_release);
	if (i == STACK_WAYS && t->n_sets < STACK_MOST_SETS &&
	    /* As many as it has places. */
	    atomic_fetch_add_explicit(&c->n_forgotten, 1, memory_order_relaxed) ==
		    t->n_sets * STACK_WAYS)
		grow(c, t);
}
