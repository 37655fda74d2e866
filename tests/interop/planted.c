/* SPDX-License-Identifier: GPL-3.0-or-later */
/* planted NAME: a program with one thing that findings have to name, for a second. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t state = 1;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* No function: an inlined one is one of its own in a profile. */
#define turn(n) \
	do { \
		uint64_t x_ = state; \
		for (unsigned i_ = 0; i_ < (n); i_++) \
			x_ = x_ * 6364136223846793005u + 1442695040888963407u; \
		state = x_; \
	} while (0)

/* 32 functions alike. */
#define EACH(X) \
	X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define F(n) \
	static __attribute__((noinline)) void one##n(void) \
	{ \
		turn(3000 + n); \
	} \
	static __attribute__((noinline)) void two##n(void) \
	{ \
		turn(3001 + n); \
	}
EACH(F)

static void alike(void)
{
#define CALL(n) one##n(), two##n();
	EACH(CALL)
}

static __attribute__((noinline)) void burn(void)
{
	turn(97000);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static __attribute__((noinline)) void contend(void)
{
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&mutex);
		state++;
		pthread_mutex_unlock(&mutex);
	}
}

static double end;

static void *contending(void *arg)
{
	while (now() < end)
		contend();
	return arg;
}

static __attribute__((noinline)) void allocate(void)
{
	static void *held[64];

	for (unsigned i = 0; i < 4000; i++) {
		free(held[i % 64]);
		held[i % 64] = malloc(16 + i * 37 % 900);
	}
}

static char *from, *to;
#define COPY_BYTES ((size_t)1 << 20)

static __attribute__((noinline)) void copy(void)
{
	memcpy(to, from, COPY_BYTES);
	state++; /* no jump to memcpy at the end */
}

static __attribute__((noinline)) void touch(void)
{
	size_t n = (size_t)4 << 20;
	volatile char *at = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
				 0);

	for (size_t i = 0; i < n; i += 4096)
		at[i] = 1;
	munmap((void *)at, n);
}

static __attribute__((noinline)) unsigned walk(unsigned depth)
{
	turn(60);
	return depth == 0 ? 1 : walk(depth - 1) + walk(depth - 1);
}

static int random_fd;

static __attribute__((noinline)) void read_random(void)
{
	static char buffer[4096];

	if (read(random_fd, buffer, sizeof(buffer)) < 0)
		abort();
}

static __attribute__((noinline)) void load(void)
{
	turn(5000);
}

static __attribute__((noinline)) void compute(void)
{
	turn(7000);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	double begin = now();

	end = begin + 1;
	if (strcmp(what, "sleeps") == 0) {
		/* A few samples, so that there is a profile. */
		while (now() < begin + 0.05)
			alike();
		return usleep(900000);
	}
	if (strcmp(what, "locks") == 0) {
		pthread_t t[4];

		for (int i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, contending, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		return 0;
	}
	/* Touched before anything is copied. */
	from = malloc(COPY_BYTES);
	to = malloc(COPY_BYTES);
	memset(from, 1, COPY_BYTES);
	memset(to, 2, COPY_BYTES);
	random_fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
	while (now() < end) {
		if (strcmp(what, "alike") == 0) {
			alike();
		} else if (strcmp(what, "burns") == 0) {
			alike();
			burn();
		} else if (strcmp(what, "allocates") == 0) {
			allocate();
		} else if (strcmp(what, "copies") == 0) {
			copy();
		} else if (strcmp(what, "touches") == 0) {
			touch();
		} else if (strcmp(what, "recurses") == 0) {
			walk(12);
		} else if (strcmp(what, "reads") == 0) {
			read_random();
		} else if (strcmp(what, "phases") == 0) {
			/* What comes later is as long as all before, of each kind of work. */
			if (now() - begin < 0.4)
				load();
			else
				compute();
		} else {
			fprintf(stderr, "planted: what is %s?\n", what);
			return 2;
		}
	}
	return 0;
}
