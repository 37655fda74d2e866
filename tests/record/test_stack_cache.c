/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heap tracer's cache of stacks while several threads put in and look up: what is found is right, and it grows. */
#include "config.h"

#include "base/hash.h"
#include "record/heap/stack/stack_cache.h"

#include <criterion/criterion.h>
#include <pthread.h>

#define THREADS 4u

static struct stack_cache cache;

/* Stack n: two to a caller, as of an allocation and its free. */
static struct stack_key key_of(uint32_t n)
{
	return (struct stack_key){ .hash = hash_u64(n + 1),
				   .callers = hash_u64((uint64_t)(n / 2) << 32 | 1),
				   .pc = 0x401000 + 8 * (n & 1) };
}

static uint32_t node_of(uint32_t n)
{
	return n + 1;
}

struct visitor {
	pthread_t thread;
	uint32_t n, step; /* stacks, a power of 2; odd: in which order it comes to them */
	uint32_t n_missed, n_wrong;
};

/* As the tracer does it: what is not found is put there. */
static void *visit(void *arg)
{
	struct visitor *v = arg;

	for (uint32_t i = 0; i < v->n; i++) {
		uint32_t n = i * v->step & (v->n - 1), found;
		struct stack_key key = key_of(n);

		found = stack_cache_find(&cache, &key);
		v->n_wrong += found != 0 && found != node_of(n);
		if (!found)
			stack_cache_put(&cache, &key, node_of(n), v->n_missed++);
	}
	return NULL;
}

static uint32_t missed_of(uint32_t n)
{
	struct visitor v = { .n = n, .step = 1 };

	visit(&v);
	cr_assert_eq(v.n_wrong, 0);
	return v.n_missed;
}

static uint64_t sets_now(void)
{
	return atomic_load(&cache.table)->n_sets;
}

/* What has room is found again, and places are not taken while others are empty. */
Test(stack_cache, keeps_what_has_room)
{
	uint32_t n = STACK_SETS * STACK_WAYS / 8;

	cr_assert(stack_cache_init(&cache));
	cr_assert_eq(missed_of(n), n);
	cr_assert_leq(missed_of(n), n / 1000);
	stack_cache_empty(&cache);
	cr_assert_eq(sets_now(), STACK_SETS);
	cr_assert_eq(missed_of(n), n);
	cr_assert_leq(missed_of(n), n / 1000);
}

Test(stack_cache, grows_when_it_forgets_much_and_ends)
{
	uint32_t n = STACK_SETS * STACK_WAYS * 2, much = STACK_MOST_SETS * STACK_WAYS * 4;

	cr_assert(stack_cache_init(&cache));
	for (unsigned i = 0; i < 30; i++)
		missed_of(n);
	cr_assert_gt(sets_now(), STACK_SETS);
	cr_assert_leq(missed_of(n), n / 10);
	for (unsigned i = 0; i < 5; i++)
		missed_of(much);
	cr_assert_eq(sets_now(), STACK_MOST_SETS);
}

Test(stack_cache, finds_what_other_threads_put)
{
	struct visitor v[THREADS];
	static const uint32_t step[THREADS] = { 1, 1, 40503, UINT32_MAX };

	cr_assert(stack_cache_init(&cache));
	for (unsigned round = 0; round < 8; round++) {
		for (unsigned i = 0; i < THREADS; i++) {
			v[i] = (struct visitor){ .n = STACK_SETS * STACK_WAYS << round % 4,
						 .step = step[i] };
			cr_assert_eq(pthread_create(&v[i].thread, NULL, visit, &v[i]), 0);
		}
		for (unsigned i = 0; i < THREADS; i++) {
			pthread_join(v[i].thread, NULL);
			cr_assert_eq(v[i].n_wrong, 0);
		}
	}
	/* All threads together missed once what one would. */
	stack_cache_empty(&cache);
	cr_assert_geq(missed_of(1024), 1024);
	cr_assert_eq(missed_of(1024), 0);
}
