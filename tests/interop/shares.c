/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program to record whose functions take known shares of its time: 1, 2, 4 and 8 of 15, from two callers and in two
 * threads, each for as many seconds of the cpu as said, however busy the machine is.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#define UNIT 3000u

static volatile uint64_t sink;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static __attribute__((noinline)) void burn(unsigned n, uint64_t *state)
{
	/* By lot, or samples that come as often as rounds do would see the same part of each. */
	for (unsigned i = n / 2 + (unsigned)(*state >> 33) % n; i > 0; i--)
		*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
}

#define SHARE(name, times) \
	static __attribute__((noinline)) void name(uint64_t *state) \
	{ \
		for (volatile unsigned i = 0; i < (times); i++) \
			burn(UNIT, state); \
		sink += *state; \
	}

SHARE(share_1, 1)
SHARE(share_2, 2)
SHARE(share_4, 4)
SHARE(share_8, 8)

static __attribute__((noinline)) void small_ones(uint64_t *state)
{
	share_1(state);
	share_2(state);
	sink++;
}

static __attribute__((noinline)) void large_ones(uint64_t *state)
{
	share_4(state);
	share_8(state);
	sink++;
}

static void *work(void *seconds)
{
	double end = now() + *(const double *)seconds;
	uint64_t state = 1;

	while (now() < end) {
		small_ones(&state);
		large_ones(&state);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	pthread_t other;

	if (pthread_create(&other, NULL, work, &seconds))
		return 1;
	work(&seconds);
	return pthread_join(other, NULL);
}
