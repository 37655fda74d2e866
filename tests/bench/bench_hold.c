/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program whose recording is opened for measuring: bench_hold THREADS PAIRS. Each thread allocates that
 * often, at the end of one of 256 ways down 20 calls, and frees as often: three in four at once, else
 * the block that chance picks from the 65,536 that the thread keeps. Every way has its size.
 */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define DEPTH    20u
#define WAY_BITS 8u
#define N_HELD   65536u

struct work {
	uint64_t n_pairs;
	void **held; /* [N_HELD] */
};

static __attribute__((noinline)) void exchange(void **place, unsigned way)
{
	void *was = *place;

	*place = malloc(way % 64 ? 16 + 8 * (way & 31) : 16384);
	free(was);
}

static __attribute__((noinline)) void pass(unsigned way)
{
	void *p = malloc(24 + way);

	/* Else the compiler may leave both out. */
	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}

/* Bits of `ways` say which of two places calls on; the asm keeps the two from becoming one. */
static __attribute__((noinline)) void down(unsigned depth, unsigned ways, unsigned way,
					   void **place)
{
	if (depth == 0) {
		if (place)
			exchange(place, way);
		else
			pass(way);
		__asm__ volatile("# the end" : : : "memory");
	} else if (ways & 1) {
		down(depth - 1, ways >> 1, way, place);
		__asm__ volatile("# one way" : : : "memory");
	} else {
		down(depth - 1, ways >> 1, way, place);
		__asm__ volatile("# the other" : : : "memory");
	}
}

/* Calls down to where the ways part, and stays there. */
static __attribute__((noinline)) void work_at(unsigned depth, const struct work *w)
{
	if (depth > WAY_BITS)
		work_at(depth - 1, w);
	else
		for (uint64_t i = 0; i < w->n_pairs; i++) {
			uint64_t chance = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
			unsigned way;

			chance = (chance ^ chance >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
			way = (unsigned)(chance >> 40) & ((1u << WAY_BITS) - 1);
			down(WAY_BITS, way, way, i % 4 ? NULL : &w->held[chance >> 48]);
		}
	__asm__ volatile("" : : : "memory");
}

static void *work(void *arg)
{
	work_at(DEPTH, arg);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned n_threads = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	struct work w[64] = { 0 };
	pthread_t thread[64];

	if (n_threads == 0 || n_threads > 64) {
		fprintf(stderr, "usage: bench_hold THREADS PAIRS\n");
		return 2;
	}
	for (unsigned i = 0; i < n_threads; i++) {
		w[i].n_pairs = strtoull(argv[2], NULL, 10);
		w[i].held = calloc(N_HELD, sizeof(*w[i].held));
		if (!w[i].held || pthread_create(&thread[i], NULL, work, &w[i]))
			return 1;
	}
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
