/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Handlers that allocate: at any moment, on a stack of their own, while the process ends. */
#include "heap_works.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#define EVERY_US    100
#define STACK_BYTES 8192u
#define BLOCK_BYTES 888u

static _Atomic uint64_t n_handled, n_refused;

/*
 * Allocates though it may have interrupted malloc: that goes well where the thread has a free block of that size at hand,
 * which it has, as nothing else here is of that size.
 */
static FRAME void handle(int number)
{
	void *p = malloc(BLOCK_BYTES);

	(void)number;
	n_refused += !p;
	n_handled++;
	free(p);
}

static void warm_up(void)
{
	void *block[4];

	for (unsigned i = 0; i < 4; i++)
		block[i] = malloc(BLOCK_BYTES);
	for (unsigned i = 0; i < 4; i++)
		free(block[i]);
}

static void handle_on_own_stack(int number, void (*handler)(int))
{
	struct sigaction act = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };
	stack_t stack = { .ss_size = STACK_BYTES };

	/* Nothing can be read below it. */
	stack.ss_sp = mmap(NULL, 3 * STACK_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	stack.ss_sp = (char *)stack.ss_sp + STACK_BYTES;
	if (mprotect(stack.ss_sp, STACK_BYTES, PROT_READ | PROT_WRITE) || sigaltstack(&stack, NULL))
		abort();
	sigaction(number, &act, NULL);
}

/* A signal every so often, until it is called with 0. */
static void tick(suseconds_t every_us)
{
	struct itimerval t = { { 0, every_us }, { 0, every_us } };

	setitimer(ITIMER_REAL, &t, NULL);
}

static FRAME void allocate(uint64_t depth)
{
	use(1 + depth % 700);
	if (depth % 20)
		allocate(depth - 1);
	__asm__ volatile("" : : : "memory");
}

static int storm(uint64_t n)
{
	warm_up();
	tick(EVERY_US);
	while (n_handled < n)
		allocate(n_handled * 13);
	tick(0);
	return n_refused != 0;
}

static int work_storm(uint64_t n)
{
	struct sigaction act = { .sa_handler = handle, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &act, NULL);
	return storm(n);
}

static int work_storm_altstack(uint64_t n)
{
	handle_on_own_stack(SIGALRM, handle);
	return storm(n);
}

/* Handlers of three timers, each of which interrupts the others. */
static int work_storm_storm(uint64_t n)
{
	struct sigaction act = { .sa_handler = handle, .sa_flags = SA_RESTART };
	struct itimerval each = { { 0, EVERY_US }, { 0, EVERY_US } }, never = { 0 };
	int ret;

	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGPROF, &act, NULL);
	sigaction(SIGVTALRM, &act, NULL);
	warm_up();
	setitimer(ITIMER_PROF, &each, NULL);
	setitimer(ITIMER_VIRTUAL, &each, NULL);
	ret = storm(n);
	setitimer(ITIMER_PROF, &never, NULL);
	setitimer(ITIMER_VIRTUAL, &never, NULL);
	return ret;
}

/* Signals that come while libraries come and go, which the recorder looks at. */
static int work_storm_closing(uint64_t n)
{
	struct sigaction act = { .sa_handler = handle, .sa_flags = SA_RESTART };

	sigaction(SIGALRM, &act, NULL);
	warm_up();
	tick(EVERY_US);
	while (n_handled < n) {
		void *library = dlopen("libm.so.6", RTLD_NOW);

		if (library)
			dlclose(library);
	}
	tick(0);
	return n_refused != 0;
}

static volatile int *volatile nowhere;

static FRAME void die(int number)
{
	(void)number;
	allocate(10);
	tell_counts();
	_exit(7);
}

/* As reporters of crashes do: on a small stack. */
static int work_segv_exit(uint64_t n)
{
	handle_on_own_stack(SIGSEGV, die);
	for (uint64_t i = 0; i < n; i++)
		allocate(i);
	*nowhere = 1;
	return 1;
}

static FRAME void abort_here(int number)
{
	(void)number;
	allocate(10);
	tell_counts();
	abort();
}

static int work_segv_abort(uint64_t n)
{
	handle_on_own_stack(SIGSEGV, abort_here);
	for (uint64_t i = 0; i < n; i++)
		allocate(i);
	*nowhere = 1;
	return 1;
}

const struct work signal_works[] = {
	{ "storm", work_storm },
	{ "storm-altstack", work_storm_altstack },
	{ "storm-storm", work_storm_storm },
	{ "storm-closing", work_storm_closing },
	{ "segv-exit", work_segv_exit },
	{ "segv-abort", work_segv_abort },
	{ NULL, NULL },
};
