/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Allocates and frees as fast as it can, for measuring recorders: prints nanoseconds a pair, by the clock
 * and of its threads' time on a processor.
 *
 * bench_heap leaf|churn DEPTH THREADS PAIRS [SECONDS]. leaf: calls down to DEPTH once and stays there. churn:
 * returns 14 calls (all of them, if there are fewer) and calls down again for each pair, each time on
 * another of the 2^14 ways, one after the other. With SECONDS, so many pairs a second for so long.
 */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAY_BITS     14u
#define BENCH_END_FD 9

struct work {
	uint64_t n_pairs;
	/* of a paced one, so far: who comes late goes the same ways as who does not */
	uint64_t done;
	unsigned depth;
	int churn;
	unsigned seconds;    /* 0: as fast as it can */
	uint64_t ns, cpu_ns; /* that it took */
};

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static __attribute__((noinline)) void pairs(uint64_t n, unsigned way)
{
	for (uint64_t i = 0; i < n; i++) {
		void *p = malloc(16 + ((i + way) & 255));

		/* Else the compiler may leave both out. */
		__asm__ volatile("" : : "r"(p) : "memory");
		free(p);
	}
}

/*
 * Two places of call on each level: bits of `way` say which. The asm keeps calls from being jumps, and
 * the two places from becoming one.
 */
static __attribute__((noinline)) void down(unsigned depth, unsigned way, uint64_t n)
{
	if (depth == 0) {
		pairs(n, way);
		__asm__ volatile("# the end" : : : "memory");
	} else if (way & 1) {
		down(depth - 1, way >> 1, n);
		__asm__ volatile("# one way" : : : "memory");
	} else {
		down(depth - 1, way >> 1, n);
		__asm__ volatile("# the other" : : : "memory");
	}
}

/* Calls down to where the ways part, and stays there, for pairs from one on. */
static __attribute__((noinline)) void churn(unsigned depth, unsigned bits, uint64_t from,
					    uint64_t n)
{
	if (depth > bits)
		churn(depth - 1, bits, from, n);
	else
		for (uint64_t i = from; i < from + n; i++)
			down(bits, (unsigned)(i * 2654435761u >> 7) & ((1u << bits) - 1), 1);
	__asm__ volatile("" : : : "memory");
}

static void run(const struct work *w, uint64_t n)
{
	if (w->churn)
		churn(w->depth, w->depth < WAY_BITS ? w->depth : WAY_BITS, w->done, n);
	else
		down(w->depth, 0, n);
}

/* Whoever comes late after a pause does what was left to do. */
static void run_paced(struct work *w)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	uint64_t start = now_ns(CLOCK_MONOTONIC), end_ns = w->seconds * UINT64_C(1000000000);
	uint64_t ns;

	while ((ns = now_ns(CLOCK_MONOTONIC) - start) < end_ns) {
		uint64_t due = (uint64_t)((double)w->n_pairs * (double)ns / 1e9);

		run(w, due - w->done);
		w->done = due;
		nanosleep(&pause, NULL);
	}
}

static void *work(void *arg)
{
	struct work *w = arg;
	uint64_t start = now_ns(CLOCK_MONOTONIC), cpu_start = now_ns(CLOCK_THREAD_CPUTIME_ID);

	if (w->seconds)
		run_paced(w);
	else
		run(w, w->n_pairs);
	w->ns = now_ns(CLOCK_MONOTONIC) - start;
	w->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_start;
	return NULL;
}

/* Tells bench_exit when main ended. */
static void tell_end(void)
{
	uint64_t ns = now_ns(CLOCK_MONOTONIC);

	if (getenv("BENCH_END") && write(BENCH_END_FD, &ns, sizeof(ns)) != sizeof(ns))
		perror("write");
}

int main(int argc, char **argv)
{
	unsigned n_threads = argc > 3 ? (unsigned)atoi(argv[3]) : 1;
	struct work w[64] = { 0 };
	pthread_t thread[64];
	double ns = 0, cpu_ns = 0;

	if (argc < 5 || n_threads == 0 || n_threads > 64) {
		fprintf(stderr, "usage: bench_heap leaf|churn DEPTH THREADS PAIRS [SECONDS]\n");
		return 2;
	}
	for (unsigned i = 0; i < n_threads; i++) {
		w[i].churn = strcmp(argv[1], "churn") == 0;
		w[i].depth = (unsigned)atoi(argv[2]);
		w[i].n_pairs = strtoull(argv[4], NULL, 10);
		w[i].seconds = argc > 5 ? (unsigned)atoi(argv[5]) : 0;
		if (n_threads == 1)
			work(&w[i]);
		else if (pthread_create(&thread[i], NULL, work, &w[i]))
			return 1;
	}
	for (unsigned i = 0; i < n_threads; i++) {
		if (n_threads > 1)
			pthread_join(thread[i], NULL);
		ns += (double)w[i].ns / (double)w[i].n_pairs / n_threads;
		cpu_ns += (double)w[i].cpu_ns / (double)w[i].n_pairs / n_threads;
	}
	printf("%.1f %.1f\n", ns, cpu_ns);
	tell_end();
	return 0;
}
