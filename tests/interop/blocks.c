/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program to record that asks for memory in known ways: the same calls in the same order each time. */
#include <stdio.h>
#include <stdlib.h>

#define KEPT 400

static void *kept[KEPT];

__attribute__((noinline)) static void grow(unsigned round)
{
	for (unsigned i = 0; i < KEPT; i++) {
		free(kept[i]);
		kept[i] = malloc(100 + (i * 37 + round * 101) % 4000);
	}
}

__attribute__((noinline)) static void churn(void)
{
	for (unsigned i = 0; i < 5000; i++) {
		void *p = malloc(10 + i % 50);

		__asm__ volatile("" : : "r"(p) : "memory");
		free(p);
	}
}

/* Returns how often what was just allocated was allocated again: heaptrack calls these temporary. */
__attribute__((noinline)) static unsigned regrow(void)
{
	char *p = malloc(50), *more;
	unsigned n = 0;

	for (size_t bytes = 100; p && bytes <= 3000; bytes += 100, n++) {
		more = realloc(p, bytes);
		if (!more)
			break;
		p = more;
	}
	kept[0] = p; /* what was there leaks */
	return n;
}

__attribute__((noinline)) static void odd(void)
{
	void *p = NULL;

	kept[1] = calloc(10, 33);
	if (posix_memalign(&p, 64, 640) == 0)
		kept[2] = p;
	kept[3] = aligned_alloc(64, 1280);
	p = malloc(3000000); /* the peak */
	__asm__ volatile("" : : "r"(p) : "memory");
	free(kept[5]);
	kept[5] = NULL;
	free(p);
}

/* blocks [ROUNDS] */
int main(int argc, char **argv)
{
	unsigned n_rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 7;
	unsigned again = 0;
	char line[32];

	for (unsigned round = 0; round < n_rounds; round++) {
		grow(round);
		churn();
	}
	again = regrow();
	odd();
	for (unsigned i = 0; i < KEPT; i += 3)
		free(kept[i]);
	/* Not by stdio, whose buffer is a block. */
	snprintf(line, sizeof(line), "%u\n", again);
	return fputs(line, stderr) < 0;
}
