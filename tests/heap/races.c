/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the hooks tell the recorder, by several threads at once, for a thread sanitizer: without hooks, as that has some of its
 * own. Blocks are addresses only, of which many want the same slot of the table of ids.
 *
 * races PAIRS: prints how many allocations and reallocations there were, then how many blocks are left.
 */
#include "config.h"

#include "heaptrace/heap_events.h"
#include "record/heap/hooks/hooks.h"
#include "record/heap/hooks/real_calls.h"
#include "record/heap/proftop.h"
#include "record/heap/trace/live_blocks.h"
#include "record/heap/trace/tracer_init.h"
#include "record/heap/trace/tracer_record.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define THREADS   4u
#define ROUNDS    3u
#define SLOTS     64u
#define ADDRESSES (SLOTS * 4)
#define DEPTH     8u

/* What hooks have, and nobody calls here. */
_Atomic uint32_t hooks_begun = 1;
void hooks_begin(void)
{
}
void hooks_begin_anew(void)
{
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t unused[ADDRESSES]; /* addresses */
static unsigned n_unused;
static uint64_t held[SLOTS]; /* blocks that threads leave to one another, or 0 */
static unsigned n_pairs;
static _Atomic unsigned n_allocs, n_reallocs;

static uint64_t take_address(void)
{
	uint64_t address;

	pthread_mutex_lock(&lock);
	address = unused[--n_unused];
	pthread_mutex_unlock(&lock);
	return address;
}

static void put_address(uint64_t address)
{
	pthread_mutex_lock(&lock);
	unused[n_unused++] = address;
	pthread_mutex_unlock(&lock);
}

/* Leaves a block in the place of another one. */
static uint64_t exchange(unsigned place, uint64_t address)
{
	uint64_t had;

	pthread_mutex_lock(&lock);
	had = held[place];
	held[place] = address;
	pthread_mutex_unlock(&lock);
	return had;
}

static uint64_t move(const struct walk_start *from, uint64_t address, unsigned size)
{
	struct tracer_old old = tracer_record_give_up((void *)address);
	uint64_t to;

	if (size % 3 == 0) {
		tracer_record_take_back(from, &old);
		return address;
	}
	to = take_address();
	tracer_record_realloc(from, &old, (void *)to, size);
	atomic_fetch_add(&n_reallocs, 1);
	put_address(address);
	return to;
}

static __attribute__((noinline)) void one_pair(unsigned i)
{
	struct walk_start from = TRACER_CALLER();
	uint64_t address = take_address();

	tracer_record_alloc(&from, (void *)address, 16 + i % 200, HEAP_MALLOC);
	atomic_fetch_add(&n_allocs, 1);
	if (i % 5 == 0)
		address = move(&from, address, i);
	if (i % 1000 == 0)
		proftop_mark("a thousand");
	if (i % 4000 == 0)
		tracer_flush();
	address = exchange(i % SLOTS, address);
	if (!address)
		return;
	tracer_record_free(&from, (void *)address);
	put_address(address);
}

/* On one of many ways, so that threads come to the same stacks as well as to new ones. */
static __attribute__((noinline)) void down(unsigned depth, unsigned way, unsigned i)
{
	if (depth == 0) {
		one_pair(i);
		__asm__ volatile("# the end" : : : "memory");
	} else if (way & 1) {
		down(depth - 1, way >> 1, i);
		__asm__ volatile("# one way" : : : "memory");
	} else {
		down(depth - 1, way >> 1, i);
		__asm__ volatile("# the other" : : : "memory");
	}
}

static void *work(void *arg)
{
	for (unsigned i = 0; i < n_pairs; i++)
		down(DEPTH, i * 2654435761u >> 7 & ((1u << DEPTH) - 1), i);
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];
	unsigned n_left = 0;

	n_pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 1000;
	for (unsigned i = 0; i < ADDRESSES; i++)
		unused[n_unused++] = slot_address_of(i % SLOTS, (uint64_t)(1 + i / SLOTS)
									<< (ID_BITS + 1));
	if (!real_calls_ready())
		return 1;
	tracer_begin();
	tracer_begin_writing();
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned i = 0; i < THREADS; i++)
			if (pthread_create(&thread[i], NULL, work, NULL))
				return 1;
		for (unsigned i = 0; i < THREADS; i++)
			pthread_join(thread[i], NULL);
		usleep(1100000); /* the writer looks around, while states of threads that ended are free */
	}
	tracer_end();
	for (unsigned i = 0; i < SLOTS; i++)
		n_left += held[i] != 0;
	printf("%u %u %u\n", n_allocs, n_reallocs, n_left);
	return 0;
}
