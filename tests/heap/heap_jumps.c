/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program with an allocator of its own that handlers of signals leave by jumps, at places that are known and at any
 * moment, and which they interrupt and call. It prints what it did, as count_shim does.
 */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAME       __attribute__((noinline, noclone))
#define STACK_BYTES ((size_t)1 << 17)
#define ARENA_BYTES ((size_t)1 << 31)
#define EVERY_US    50

void *mi_malloc(size_t n);
void mi_free(void *p);
void *mi_realloc(void *p, size_t n);

/* As mimalloc begins its messages: so it is known in a program that was stripped. */
const char *volatile message = "mimalloc: ";

static char arena[ARENA_BYTES];
static volatile size_t used;

/* So many calls from now on one is interrupted; 0: none. */
static volatile int interrupt_in;

static volatile long n_allocs, n_reallocs, n_frees, n_bytes, n_jumps;
static volatile int turn;
static sigjmp_buf back;
static ucontext_t own, task;

static void interrupt(void)
{
	if (interrupt_in && --interrupt_in == 0)
		raise(SIGUSR1);
}

/* No place is handed out twice, so that it is of no use to whoever was interrupted. */
FRAME void *mi_malloc(size_t n)
{
	void *p = arena + used;

	used += (n + 31) & ~(size_t)15;
	if (used > ARENA_BYTES - 4096)
		abort();
	interrupt();
	return memset(p, 1, n);
}

FRAME void mi_free(void *p)
{
	if (p)
		memset(p, 0, 1);
	interrupt();
}

FRAME void *mi_realloc(void *p, size_t n)
{
	void *q = mi_malloc(n);

	if (p)
		memcpy(q, p, 1);
	mi_free(p);
	return q;
}

static FRAME void work(int depth)
{
	void *p = mi_malloc(10 + (size_t)depth);

	n_allocs++;
	n_bytes += 10 + depth;
	p = mi_realloc(p, 20);
	n_allocs++;
	n_reallocs++;
	n_bytes += 20;
	mi_free(p);
	n_frees++;
	if (depth)
		work(depth - 1);
	__asm__ volatile("" : : : "memory");
}

static void handle(int number)
{
	(void)number;
	if (turn % 3 == 1)
		work(turn % 5);
	if (turn % 3 != 2)
		siglongjmp(back, 1);
}

static void jump(int number)
{
	(void)number;
	n_jumps++;
	siglongjmp(back, 1);
}

/* The allocator is interrupted here, and left; or not. */
static FRAME void enter(int depth)
{
	volatile char room[64] = { 0 };

	if (depth) {
		enter(depth - 1);
		room[0]++;
		return;
	}
	interrupt_in = 1;
	if (turn % 2) {
		mi_free(NULL);
		return;
	}
	mi_malloc(100);
	n_allocs++;
	n_bytes += 100;
}

static void take_turn(void)
{
	if (!sigsetjmp(back, 1))
		enter(turn % 4);
	work(turn % 13);
}

static void in_task(void)
{
	for (;;) {
		take_turn();
		swapcontext(&task, &own);
	}
}

static void *stack_of(size_t n)
{
	void *p = malloc(n);

	if (!p)
		abort();
	return p;
}

static void take_turns(int n, bool in_tasks, bool on_own_stack)
{
	struct sigaction act = { .sa_handler = handle, .sa_flags = on_own_stack ? SA_ONSTACK : 0 };
	stack_t stack = { .ss_sp = stack_of(STACK_BYTES), .ss_size = STACK_BYTES };

	if (sigaltstack(&stack, NULL) || sigaction(SIGUSR1, &act, NULL) || getcontext(&task))
		abort();
	task.uc_stack.ss_sp = stack_of(STACK_BYTES);
	task.uc_stack.ss_size = STACK_BYTES;
	makecontext(&task, in_task, 0);
	for (turn = 0; turn < n; turn++) {
		if (in_tasks)
			swapcontext(&own, &task);
		else
			take_turn();
	}
}

/* Left at any moment, n times. */
static void storm(int n)
{
	struct itimerval each = { { 0, EVERY_US }, { 0, EVERY_US } };

	signal(SIGALRM, jump);
	sigsetjmp(back, 1);
	setitimer(ITIMER_REAL, &each, NULL);
	while (n_jumps < n)
		work((int)(n_jumps % 30));
	signal(SIGALRM, SIG_IGN);
}

/* arguments: how, of the letters t (in tasks), s (handlers have their own stack), a (at any moment); and how often. */
int main(int argc, char **argv)
{
	char text[256];
	int n;

	if (argc != 3)
		return 2;
	if (strchr(argv[1], 'a'))
		storm(atoi(argv[2]));
	else
		take_turns(atoi(argv[2]), strchr(argv[1], 't') != NULL,
			   strchr(argv[1], 's') != NULL);
	n = snprintf(text, sizeof(text),
		     "allocs %ld\nreallocs %ld\nfrees %ld\nbytes %ld\njumps %ld\n", n_allocs,
		     n_reallocs, n_frees, n_bytes, n_jumps);
	return write(1, text, (size_t)n) == n ? 0 : 1;
}
