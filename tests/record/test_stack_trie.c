/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heap tracer's trie of stacks while several threads look up and add the same stacks at once, and its tables double below them. */
#include "config.h"

#include "record/heap/stack/stack_trie.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#define THREADS 4u
#define PATHS   (1u << 18) /* more than the first two tables have buckets */
#define LEVELS  4u
#define DIGIT   4u /* bits by which paths part at a level */

static struct stack_trie trie;

/* The frame of a path at a level; paths part later the more of their upper bits are the same. */
static uint64_t ip_at(uint32_t path, unsigned level)
{
	return (uint64_t)(path >> DIGIT * (LEVELS - 1 - level)) << 8 | level << 1 | 1;
}

/* Not a lock of the tracer's, which is not linked here. */
static void hold(void)
{
	uint32_t none = 0;

	while (!atomic_compare_exchange_weak(&trie.lock.word, &none, 1)) {
		none = 0;
		sched_yield();
	}
}

/* As the tracer does it: looked up without the lock; from the first frame on that is new, with it. */
static uint32_t node_of(uint32_t path)
{
	uint32_t node = 0, found;
	unsigned level = 0;

	for (; level < LEVELS; level++) {
		found = stack_trie_find(&trie, node, ip_at(path, level));
		if (!found)
			break;
		/* What takes notes writes stacks up to the count, then events. */
		cr_assert_geq(trie.n_nodes, found);
		node = found;
	}
	if (level == LEVELS)
		return node;
	hold();
	for (; level < LEVELS; level++)
		node = stack_trie_child(&trie, node, ip_at(path, level));
	atomic_store(&trie.lock.word, 0);
	return node;
}

struct climber {
	pthread_t thread;
	uint32_t step; /* odd: in which order it comes to the paths */
	uint32_t *node;
};

static void *climb(void *arg)
{
	struct climber *c = arg;

	for (uint32_t i = 0; i < PATHS; i++) {
		uint32_t path = i * c->step & (PATHS - 1);

		c->node[path] = node_of(path);
	}
	return NULL;
}

/* How many different beginnings all paths have. */
static uint32_t expected_nodes(void)
{
	uint32_t n = 0;

	for (unsigned level = 0; level < LEVELS; level++)
		n += PATHS >> DIGIT * (LEVELS - 1 - level);
	return n;
}

Test(stack_trie, one_node_for_equal_stacks_of_all_threads)
{
	/* Two go side by side, so that both want what is being made; two come from elsewhere. */
	struct climber c[THREADS] = {
		{ .step = 1 }, { .step = 1 }, { .step = 40503 }, { .step = PATHS - 1 }
	};

	cr_assert(stack_trie_init(&trie));
	for (unsigned i = 0; i < THREADS; i++) {
		c[i].node = malloc(PATHS * sizeof(*c[i].node));
		cr_assert_eq(pthread_create(&c[i].thread, NULL, climb, &c[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(c[i].thread, NULL);
	cr_assert_eq(trie.n_nodes, expected_nodes(), "%u nodes, not %u", trie.n_nodes,
		     expected_nodes());
	cr_assert_geq(trie.n_tables, 3);
	for (uint32_t path = 0; path < PATHS; path++) {
		uint32_t node = c[0].node[path];

		for (unsigned i = 1; i < THREADS; i++)
			cr_assert_eq(c[i].node[path], node, "path %u", path);
		for (unsigned level = LEVELS; level-- > 0;) {
			const struct trie_node *n = stack_trie_node(&trie, node);

			cr_assert_eq(n->ip, ip_at(path, level), "path %u", path);
			cr_assert_lt(n->parent, node);
			cr_assert_eq(stack_trie_find(&trie, n->parent, n->ip), node);
			node = n->parent;
		}
		cr_assert_eq(node, 0);
	}
	cr_assert_eq(stack_trie_find(&trie, 0, 2), 0);
	for (unsigned i = 0; i < THREADS; i++)
		free(c[i].node);
}
