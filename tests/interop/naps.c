// SPDX-License-Identifier: GPL-3.0-or-later
/* A program to record that leaves the cpu in known places: naps of two lengths, and a thread that waits for its end. */
#include <pthread.h>
#include <stdint.h>
#include <time.h>

static volatile uint64_t sink;

__attribute__((noinline)) static void nap(long ms)
{
	struct timespec t = { .tv_nsec = ms * 1000000 };

	nanosleep(&t, NULL);
	sink++;
}

__attribute__((noinline)) static void short_naps(void)
{
	for (int i = 0; i < 20; i++)
		nap(3);
	sink++;
}

__attribute__((noinline)) static void long_naps(void)
{
	for (int i = 0; i < 6; i++)
		nap(20);
	sink++;
}

__attribute__((noinline)) static void burn(void)
{
	for (uint64_t i = 0; i < 20000000; i++)
		sink += i;
}

static void *in_thread(void *arg)
{
	(void)arg;
	long_naps();
	burn();
	return NULL;
}

int main(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, in_thread, NULL);
	short_naps();
	burn();
	pthread_join(thread, NULL);
	return 0;
}
