/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What programs do to a heap and to a recorder of it, one thing a time: heap_work WHAT [N]. Prints what
 * it did, so that a run with the recorder can be compared with one without.
 */
#include "heap_works.h"
#include "record/heap/proftop.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <setjmp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define KEEP 512u

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed >> 16;
}

/* One of all the ways to get memory. */
static FRAME void *get(uint64_t r)
{
	size_t n = r >> 8 & 1023;
	void *p = NULL;

	switch (r & 15) {
	case 0:
		return calloc(n, 3);
	case 1:
		return memalign(64, n);
	case 2:
		return aligned_alloc(32, n & ~(size_t)31);
	case 3:
		return posix_memalign(&p, 128, n) ? NULL : p;
	case 4:
		return realloc(NULL, n);
	case 5:
		return valloc(n);
	case 6:
		return strdup("some words to keep");
	default:
		return malloc(n);
	}
}

static FRAME void step(void **kept, uint64_t *seed)
{
	uint64_t r = next_random(seed);
	void **slot = &kept[r % KEEP];

	r >>= 10;
	if (*slot && r % 4 == 0) {
		*slot = realloc(*slot, 1 + (r >> 8 & 4095));
	} else {
		free(*slot);
		*slot = r % 16 == 1 ? NULL : get(r >> 4);
	}
}

static void *steps(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg;
	void *kept[KEEP] = { 0 };

	for (uint64_t i = 0, n = seed >> 8; i < n; i++)
		step(kept, &seed);
	/* Some of it is left: it is to be told as leaked. */
	for (unsigned i = 0; i < KEEP; i += 2)
		free(kept[i]);
	return NULL;
}

static int work_single(uint64_t n)
{
	steps((void *)(uintptr_t)(n << 8 | 77));
	return 0;
}

static int work_threads(uint64_t n)
{
	pthread_t thread[8];

	for (unsigned i = 0; i < 8; i++)
		if (pthread_create(&thread[i], NULL, steps, (void *)(uintptr_t)(n << 8 | (i + 1))))
			return 1;
	for (unsigned i = 0; i < 8; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

/* Blocks that one thread makes and another frees. */
#define RING 64u
static void *_Atomic ring[RING];

static void *give(void *arg)
{
	uint64_t n = (uint64_t)(uintptr_t)arg;

	for (uint64_t i = 0; i < n; i++) {
		void *p = malloc(1 + i % 500);

		while (ring[i % RING])
			sched_yield();
		ring[i % RING] = p;
	}
	return NULL;
}

/* More blocks at once than the recorder remembers. */
static int work_many(uint64_t n)
{
	void **p = calloc(n, sizeof(*p));

	for (unsigned round = 0; p && round < 2; round++) {
		for (uint64_t i = 0; i < n; i++)
			p[i] = malloc(8 + i % 24);
		for (uint64_t i = 0; i < n; i += 2)
			p[i] = realloc(p[i], 40);
		for (uint64_t i = 0; i < n; i++)
			free(p[i * 7919 % n]);
	}
	free(p);
	return !p;
}

static int work_pass(uint64_t n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, give, (void *)(uintptr_t)n))
		return 1;
	for (uint64_t i = 0; i < n; i++) {
		while (!ring[i % RING])
			sched_yield();
		free(ring[i % RING]);
		ring[i % RING] = NULL;
	}
	return pthread_join(thread, NULL);
}

/* Many threads that end, one after the other. */
static int work_short_threads(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, steps,
				   (void *)(uintptr_t)(20u << 8 | (i % 250 + 1))))
			return 1;
		pthread_join(thread, NULL);
	}
	return 0;
}

static int work_exit(uint64_t n)
{
	work_single(n);
	tell_counts();
	_exit(7);
}

static int work_abort(uint64_t n)
{
	work_single(n);
	tell_counts();
	abort();
}

static int work_fork(uint64_t n)
{
	int bad = 0;

	for (uint64_t i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			work_single(50);
			exit((int)(i % 50));
		}
		use(10);
		if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		    WEXITSTATUS(status) != (int)(i % 50))
			bad = 1;
	}
	return bad;
}

static int work_vfork(uint64_t n)
{
	for (volatile uint64_t i = 0; i < n; i++) {
		int status;
		pid_t pid = vfork();

		if (pid == 0) {
			execl("/nonexistent", "nonexistent", (char *)NULL);
			_exit(3);
		}
		use(10);
		if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 3)
			return 1;
	}
	return 0;
}

static int work_exec(uint64_t n)
{
	work_single(n);
	tell_counts();
	/* What comes counts for itself. */
	unsetenv("COUNT_SHIM");
	execlp("true", "true", (char *)NULL);
	return 1;
}

/* Tells now and then how many blocks it has made, until it is killed. */
static int work_endless(uint64_t n)
{
	for (uint64_t i = 1;; i++) {
		use(i % 100);
		if (i % n == 0) {
			char line[32];
			int len = snprintf(line, sizeof(line), "%llu\n", (unsigned long long)i);

			if (write(STDOUT_FILENO, line, (size_t)len) != len)
				return 1;
		}
	}
}

static _Atomic uint64_t n_handled;

static void handle(int number)
{
	(void)number;
	use(24);
	n_handled++;
}

static int work_signals(uint64_t n)
{
	struct sigaction act = { .sa_handler = handle };

	sigaction(SIGUSR1, &act, NULL);
	for (uint64_t i = 0; i < n; i++) {
		raise(SIGUSR1);
		use(1 + i % 50);
	}
	return n_handled != n;
}

static int work_altstack(uint64_t n)
{
	stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
	struct sigaction act = { .sa_handler = handle, .sa_flags = SA_ONSTACK };

	sigaltstack(&stack, NULL);
	sigaction(SIGUSR1, &act, NULL);
	for (uint64_t i = 0; i < n; i++) {
		raise(SIGUSR1);
		use(1 + i % 50);
	}
	return n_handled != n;
}

static jmp_buf back;

static FRAME int jump(unsigned depth)
{
	static volatile bool never; /* not known to the compiler */
	int more = 0;

	use(depth + 1);
	if (never)
		return 0;
	if (depth)
		more = jump(depth - 1);
	else
		longjmp(back, 1);
	__asm__ volatile("" : "+r"(more));
	return more;
}

static int work_longjmp(uint64_t n)
{
	static volatile uint64_t i; /* keeps its value over a jump */

	for (i = 0; i < n; i++) {
		if (setjmp(back) == 0)
			return jump((unsigned)(i % 40));
		use(9);
	}
	return 0;
}

static ucontext_t outer, inner;

static FRAME void inside(void)
{
	for (;;) {
		use(33);
		swapcontext(&inner, &outer);
	}
}

static int work_contexts(uint64_t n)
{
	char *stack = malloc(16384);

	if (!stack || getcontext(&inner))
		return 1;
	inner.uc_stack.ss_sp = stack;
	inner.uc_stack.ss_size = 16384;
	inner.uc_link = NULL;
	makecontext(&inner, inside, 0);
	for (uint64_t i = 0; i < n; i++) {
		swapcontext(&outer, &inner);
		use(44);
	}
	free(stack);
	return 0;
}

static FRAME uint64_t deep(uint64_t depth)
{
	uint64_t sum;

	if (depth == 0) {
		for (unsigned i = 0; i < 20; i++)
			use(i + 1);
		return 1;
	}
	sum = depth + deep(depth - 1);
	if (depth % 1000 == 0)
		use(8);
	return sum;
}

static int work_deep(uint64_t n)
{
	return deep(n) == 0;
}

/* Errno must not be what the recorder made of it. */
static int work_errno(uint64_t n)
{
	static volatile size_t huge = SIZE_MAX / 2; /* not known to the compiler */

	for (uint64_t i = 0; i < n; i++) {
		void *p;

		errno = 1234;
		p = malloc(10 + i % 100);
		if (errno != 1234)
			return 1;
		free(p);
		if (errno != 1234)
			return 2;
	}
	errno = 0;
	return reallocarray(NULL, huge, 3) != NULL || errno != ENOMEM;
}

static int work_ranges(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		size_t size = (i % 9 + 1) * 4096;
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
		char *q = p == MAP_FAILED ? p : mremap(p, size, 2 * size, MREMAP_MAYMOVE);

		if (q == MAP_FAILED || sbrk(4096) == (void *)-1)
			return 1;
		q[2 * size - 1] = 1;
		if (munmap(q, 2 * size) || munmap((void *)1, 4096) == 0)
			return 1;
	}
	return 0;
}

/* Of n allocations each, the middle ones are not to be recorded; their frees are not either, the others' are. */
static int work_switch(uint64_t n)
{
	void **p = calloc(3 * n, sizeof(*p));

	for (uint64_t i = 0; p && i < 3 * n; i++) {
		if (i % n == 0)
			proftop_switch(i != n);
		p[i] = malloc(100);
	}
	proftop_switch(0);
	for (uint64_t i = 0; p && i < 3 * n; i++)
		free(p[i]);
	free(p);
	return !p;
}

/* n pauses, each over at once. */
static int work_pauses(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		proftop_switch(0);
		proftop_switch(0);
		use(10);
		proftop_switch(1);
		use(10);
	}
	return 0;
}

/* Sends itself a signal that would end it, were it not the one that switches. */
static int work_toggle(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		use(10);
	raise(SIGUSR1);
	for (uint64_t i = 0; i < n; i++)
		use(10);
	raise(SIGUSR1);
	for (uint64_t i = 0; i < n; i++)
		use(10);
	return 0;
}

static int work_marks(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "phase %llu", (unsigned long long)i);
		proftop_mark(name);
		use(10);
	}
	return 0;
}

static int work_descriptors(uint64_t n)
{
	long highest = sysconf(_SC_OPEN_MAX);

	/* As daemons do. */
	for (int fd = 3; fd < highest && fd < 70000; fd++)
		close(fd);
	work_single(n);
	return 0;
}

static const struct work works[] = {
	{ "single", work_single },
	{ "threads", work_threads },
	{ "pass", work_pass },
	{ "many", work_many },
	{ "short-threads", work_short_threads },
	{ "exit", work_exit },
	{ "abort", work_abort },
	{ "fork", work_fork },
	{ "vfork", work_vfork },
	{ "exec", work_exec },
	{ "endless", work_endless },
	{ "signals", work_signals },
	{ "altstack", work_altstack },
	{ "longjmp", work_longjmp },
	{ "contexts", work_contexts },
	{ "deep", work_deep },
	{ "errno", work_errno },
	{ "descriptors", work_descriptors },
	{ "marks", work_marks },
	{ "ranges", work_ranges },
	{ "switch", work_switch },
	{ "pauses", work_pauses },
	{ "toggle", work_toggle },
	{ NULL, NULL },
};

static const struct work *const tables[] = {
	works,         call_works,    code_works,   daemon_works,
	process_works, sandbox_works, signal_works, thread_works,
};

static const struct work *find(const char *name)
{
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		for (const struct work *w = tables[i]; w->name; w++)
			if (strcmp(w->name, name) == 0)
				return w;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct work *w = argc > 1 ? find(argv[1]) : NULL;
	int ret;

	if (!w) {
		fprintf(stderr, "usage: heap_work WHAT [N]\n");
		return 2;
	}
	ret = w->run(argc > 2 ? strtoull(argv[2], NULL, 10) : 1000);
	printf("%s: %d\n", argv[1], ret);
	return ret;
}
