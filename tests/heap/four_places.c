/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that leaks in one place, caches in another, churns in a third and fragments in a fourth: findings name each.
 * Its argument is the pause between steps in microseconds, 10,000 if not given.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 400

static void *cached[2000], *pieces[40000];
static unsigned at;

__attribute__((noinline)) static void leak_here(void)
{
	for (int i = 0; i < 10; i++)
		memset(malloc(2000), 1, 2000);
}

__attribute__((noinline)) static void cache_here(void)
{
	for (int i = 0; i < 40; i++) {
		unsigned slot = at++ % 2000;

		free(cached[slot]);
		cached[slot] = malloc(3000);
		memset(cached[slot], 1, 3000);
	}
}

__attribute__((noinline)) static void churn_here(void)
{
	for (int i = 0; i < 200; i++) {
		char *volatile p = malloc(100);

		p[0] = 1;
		free(p);
	}
}

__attribute__((noinline)) static void fragment_here(void)
{
	for (int i = 0; i < 40000; i++) {
		pieces[i] = malloc(1000);
		memset(pieces[i], 1, 1000);
	}
	/* One of 40 stays, so that about one page of ten is needed. */
	for (int i = 0; i < 40000; i++)
		if (i % 40 != 0)
			free(pieces[i]);
}

int main(int argc, char **argv)
{
	unsigned pause_us = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10000;

	for (int i = 0; i < STEPS; i++) {
		if (i == 10)
			fragment_here();
		leak_here();
		cache_here();
		churn_here();
		usleep(pause_us);
	}
	return 0;
}
