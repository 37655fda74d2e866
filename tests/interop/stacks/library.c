// SPDX-License-Identifier: GPL-3.0-or-later
/* Opened while stacks.c runs, or linked to it. */
#include <string.h>

void library_call(void (*back)(void));

static volatile unsigned long spent;

static __attribute__((noinline)) void inside(unsigned n, void (*back)(void))
{
	for (unsigned i = 0; i < 2000; i++)
		spent += i;
	if (n > 0)
		inside(n - 1, back);
	else
		back();
	spent++;
}

void library_call(void (*back)(void))
{
	inside(12, back);
	spent++;
}

static int at_edges;

static void nowhere(void)
{
}

static void edge(void)
{
	for (int i = 0; at_edges && i < 800; i++)
		inside(12, nowhere);
}

__attribute__((constructor)) static void at_start(int argc, char **argv)
{
	at_edges = argc > 1 && strcmp(argv[1], "edges") == 0;
	edge();
}

__attribute__((destructor)) static void at_end(void)
{
	edge();
}
