/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A library for heap_work: allocates when it is loaded, when it is called, and when it goes. */
#include <stdlib.h>

void plug(unsigned depth);

/* Resolved by the loader, before any constructor. */
static int one(void)
{
	free(malloc(77));
	return 1;
}

typedef int number_fn(void);

__attribute__((used)) static number_fn *choose(void)
{
	return one;
}

int plugged(void) __attribute__((ifunc("choose")));

static void *kept[3];

__attribute__((constructor)) static void come(void)
{
	for (unsigned i = 0; i < 3; i++)
		kept[i] = malloc(50 + (size_t)plugged());
}

__attribute__((destructor)) static void go(void)
{
	for (unsigned i = 0; i < 3; i++)
		free(kept[i]);
}

__attribute__((visibility("default"), noinline)) void plug(unsigned depth)
{
	void *p = malloc(depth + 1);

	if (depth)
		plug(depth - 1);
	__asm__ volatile("" : : "r"(p) : "memory");
	free(p);
}
