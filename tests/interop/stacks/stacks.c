// SPDX-License-Identifier: GPL-3.0-or-later
/*
 * A program whose stacks are of the kinds that unwinders go wrong on: `stacks MODE [SECONDS]`.
 * dlopen's the library named by $STACKS_LIBRARY in mode "library". In mode "edges" nearly all is done before main and after it.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;

NOINLINE static void burn(unsigned rounds)
{
	uint64_t x = rounds;

	for (unsigned i = 0; i < rounds; i++)
		x = x * UINT64_C(6364136223846793005) + i;
	sink += x;
}

/* --- plain recursion --------------------------------------------------------------------- */

NOINLINE static void odd(unsigned n);

NOINLINE static void even(unsigned n)
{
	char keep[64];

	memset(keep, (int)n, sizeof(keep));
	burn(300);
	if (n > 0)
		odd(n - 1);
	sink += (uint64_t)keep[n % 64];
}

NOINLINE static void odd(unsigned n)
{
	burn(200);
	if (n > 0)
		even(n - 1);
	burn(100);
}

static void run_recursion(void)
{
	even(60);
}

/* --- frames of no fixed size ------------------------------------------------------------- */

NOINLINE static void with_alloca(unsigned n)
{
	char *p = alloca(n % 300 + 16);

	memset(p, (int)n, n % 300 + 16);
	burn(400);
	if (n % 20)
		with_alloca(n - 1);
	sink += (uint64_t)p[n % 16];
}

NOINLINE static void with_vla(unsigned n)
{
	uint64_t a[n % 90 + 1];

	for (unsigned i = 0; i <= n % 90; i++)
		a[i] = i * n;
	with_alloca(n);
	burn(300);
	sink += a[n % 90];
}

static void run_alloca(void)
{
	for (unsigned n = 0; n < 200; n += 13)
		with_vla(n);
}

/* --- realigned frames -------------------------------------------------------------------- */

typedef double wide __attribute__((vector_size(64)));

NOINLINE static double realigned(unsigned n)
{
	wide w[4] __attribute__((aligned(64)));
	volatile wide *v = w;
	double below = 0;

	for (unsigned i = 0; i < 4; i++)
		v[i] = (wide){ n, i, 1, 2, 3, 4, 5, 6 };
	burn(300);
	if (n > 0)
		below = realigned(n - 1);
	burn(100);
	return v[n % 4][n % 8] + below;
}

NOINLINE static double realigned_alloca(unsigned n)
{
	wide w[2] __attribute__((aligned(128)));
	volatile wide *v = w;
	char *p = alloca(n * 24 + 8);

	memset(p, 1, n * 24 + 8);
	v[0] = v[1] = (wide){ n, 1, 2, 3, 4, 5, 6, 7 };
	burn(300);
	return v[n % 2][n % 8] + realigned(n % 7) + p[n % 8];
}

static void run_realigned(void)
{
	for (unsigned n = 0; n < 20; n++)
		sink += (uint64_t)realigned_alloca(n);
}

/* --- signals ----------------------------------------------------------------------------- */

NOINLINE static void in_handler(void)
{
	burn(20000);
}

static void on_signal(int sig)
{
	in_handler();
	burn((unsigned)sig * 100);
}

static void arm(int flags)
{
	static char alternate[1 << 16];
	stack_t stack = { .ss_sp = alternate, .ss_size = sizeof(alternate) };
	struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART | flags };
	struct itimerval often = { { 0, 500 }, { 0, 500 } };

	if (flags & SA_ONSTACK)
		sigaltstack(&stack, NULL);
	sigaction(SIGPROF, &act, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
}

/* --- code behind stubs ------------------------------------------------------------------- */

static int by_word(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

NOINLINE static void run_plt(void)
{
	uint64_t words[256];
	char text[64];

	for (unsigned i = 0; i < 256; i++)
		words[i] = i * UINT64_C(0x9e3779b97f4a7c15);
	qsort(words, 256, sizeof(*words), by_word);
	for (unsigned i = 0; i < 50; i++) {
		sink += (uint64_t)(sin(i) * cos(i + 1) * 100);
		snprintf(text, sizeof(text), "%u %g", i, (double)i);
		sink += strlen(text) + (uint64_t)abs(atoi(text)) + (uint64_t)getppid();
	}
}

/* --- threads and libraries --------------------------------------------------------------- */

static double deadline;

/* Of the cpu: a busy machine is to give no fewer samples. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void repeat(void (*what)(void))
{
	do
		what();
	while (now() < deadline);
}

static void *thread(void *arg)
{
	union {
		void *data;
		void (*code)(void);
	} what = { arg };

	repeat(what.code);
	return NULL;
}

static void run_threads(void)
{
	static void (*const work[])(void) = { run_recursion, run_alloca, run_plt };
	pthread_t threads[3];

	for (unsigned i = 0; i < 3; i++) {
		union {
			void (*code)(void);
			void *data;
		} what = { work[i] };

		pthread_create(&threads[i], NULL, thread, what.data);
	}
	for (unsigned i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}

static void (*library_call)(void (*)(void));

static void called_back(void)
{
	burn(2000);
}

static void run_library(void)
{
	library_call(called_back);
}

static void open_library(void)
{
	const char *path = getenv("STACKS_LIBRARY");
	void *library = path ? dlopen(path, RTLD_NOW) : NULL;
	union {
		void *data;
		void (*code)(void (*)(void));
	} symbol = { library ? dlsym(library, "library_call") : NULL };

	library_call = symbol.code;
	if (!library_call)
		exit(2);
}

/* --- before main and after it ------------------------------------------------------------ */

static bool at_edges;

static void edge(void)
{
	deadline = now() + 0.04;
	if (at_edges)
		repeat(called_back);
}

/* As those of the library, these are given what main is. */
__attribute__((constructor)) static void at_start(int argc, char **argv)
{
	at_edges = argc > 1 && strcmp(argv[1], "edges") == 0;
	edge();
}

__attribute__((destructor)) static void at_end(void)
{
	edge();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} modes[] = {
		{ "recursion", run_recursion }, { "alloca", run_alloca },
		{ "realigned", run_realigned }, { "signal", run_recursion },
		{ "altstack", run_recursion },  { "plt", run_plt },
		{ "threads", run_threads },     { "library", run_library },
	};
	const char *mode = argc > 1 ? argv[1] : "recursion";

	deadline = now() + (argc > 2 ? atof(argv[2]) : 0.2);
	if (strcmp(mode, "signal") == 0)
		arm(0);
	if (strcmp(mode, "altstack") == 0)
		arm(SA_ONSTACK);
	if (strcmp(mode, "library") == 0)
		open_library();
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (strcmp(mode, modes[i].name) == 0)
			repeat(modes[i].run);
	return sink == 1;
}
