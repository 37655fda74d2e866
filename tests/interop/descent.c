/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program to record whose stacks are deeper than what is copied of them: "one" descends from one place, "two"
 * from two places in frames of equal sizes, so that the copy's end does not tell which one it was.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FRAME __attribute__((noinline, noclone))

static volatile unsigned long sink;

/* The same numbers each time. */
static unsigned draw(unsigned *seed, unsigned below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 16) % below;
}

FRAME static void spin(void)
{
	for (unsigned i = 0; i < 20000; i++)
		sink += i * sink + 1;
}

FRAME static void descend(unsigned left)
{
	volatile char here[64];

	here[left % sizeof(here)] = (char)left;
	if (left > 0)
		descend(left - 1);
	else
		spin();
	sink += (unsigned char)here[3];
}

FRAME static void first(unsigned depth)
{
	descend(depth);
	sink++;
}

FRAME static void second(unsigned depth)
{
	descend(depth);
	sink++;
}

FRAME static void one(unsigned n)
{
	unsigned seed = 1;

	for (unsigned i = 0; i < n; i++)
		first(draw(&seed, 200));
}

FRAME static void two(unsigned n)
{
	unsigned seed = 2;

	/* Both are seen whole before anything is seen of one of them only. */
	for (unsigned i = 0; i < 500; i++) {
		first(3);
		second(3);
	}
	for (unsigned i = 0; i < n; i++) {
		if (draw(&seed, 2))
			first(draw(&seed, 200));
		else
			second(draw(&seed, 200));
	}
}

static void *thread(void *arg)
{
	one(*(unsigned *)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned n = 16000;
	pthread_t t;

	if (argc > 1 && strcmp(argv[1], "two") == 0) {
		two(n);
		return 0;
	}
	pthread_create(&t, NULL, thread, &n);
	one(n);
	pthread_join(t, NULL);
	return 0;
}
