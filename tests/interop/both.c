/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A program to record whose CPU time and whose memory go to functions of their own, with the same callers. */
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BURN_NS 300000000

#ifdef __clang__
#define STEP __attribute__((noinline))
#else
#define STEP __attribute__((noipa))
#endif

static volatile uint64_t sink;

static int64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* So much CPU time, however busy the machine. */
STEP static void burn(void)
{
	for (int64_t end = cpu_ns() + BURN_NS; cpu_ns() < end;)
		for (int i = 0; i < 20000; i++)
			sink += (uint64_t)i;
}

/* Blocks of 1000 bytes: of each ten, nine are freed again. */
STEP static void keep(int n)
{
	for (int i = 0; i < n; i++) {
		void *p = malloc(1000);

		__asm__ volatile("" : : "r"(p) : "memory");
		if (i % 10)
			free(p);
	}
}

STEP static void work(int n)
{
	burn();
	keep(n);
	__asm__ volatile("" ::: "memory");
}

static void *help(void *arg)
{
	work(500);
	return arg;
}

/* both [fork] [exec] [wait]: ends with 7 */
int main(int argc, char **argv)
{
	pthread_t helper;

	if (pthread_create(&helper, NULL, help, NULL) != 0)
		return 1;
	work(2000);
	pthread_join(helper, NULL);
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "fork") == 0) {
			pid_t child = fork();

			if (child == 0) {
				work(100);
				exit(0);
			}
			waitpid(child, NULL, 0);
		} else if (strcmp(argv[i], "exec") == 0) {
			execl(argv[0], argv[0], (char *)NULL);
			return 1;
		} else {
			puts("ready");
			fflush(stdout);
			while (getchar() != EOF)
				;
		}
	}
	return 7;
}
