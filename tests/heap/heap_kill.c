/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that dies at any moment, and counts what it does to its heap in a file that others read afterwards: each call before it
 * is made, and once more when it came back.
 *
 * heap_kill run FILE THREADS RATE CALLS END: THREADS threads make RATE calls a second each (0: as many as they can). After CALLS
 * of them the first thread ends the process as END says; the others go on until then.
 * Of gate:END the threads wait for heap_kill go FILE before they begin; of fork:END the process is a child of a fork; of all:END
 * every thread makes CALLS calls and no more, and the process ends when all of them have.
 * heap_kill kill FILE SIGNAL US: waits until a program that has FILE is at work, and so long; kills it.
 * heap_kill pid FILE, show FILE: print who is at work, and the counts.
 */
#include "config.h"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_THREADS 64u
#define N_HELD       64u
#define LARGE        ((size_t)1 << 20)

struct counts {
	_Atomic uint64_t begun[2], done[2]; /* mallocs, frees */
	_Atomic uint64_t bytes_begun, bytes_done;
	char pad[16];
};

struct book {
	_Atomic int pid; /* at work */
	_Atomic int go;  /* the gate is open */
	uint32_t pad[14];
	struct counts of[MOST_THREADS];
};

static struct work {
	struct book *book;
	uint32_t n_threads;
	uint64_t rate, calls;
	const char *end;
	bool gate, all;
} work;

static struct book *open_book(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT, 0644);
	void *p;

	if (fd < 0 || ftruncate(fd, sizeof(struct book)))
		exit(2);
	p = mmap(NULL, sizeof(struct book), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		exit(2);
	return p;
}

static void wait_us(uint64_t us)
{
	struct timespec t = { .tv_sec = (time_t)(us / 1000000),
			      .tv_nsec = (long)(us % 1000000 * 1000) };

	nanosleep(&t, NULL);
}

__attribute__((noinline)) static void *take(struct counts *c, size_t size)
{
	void *p;

	atomic_fetch_add(&c->bytes_begun, size);
	atomic_fetch_add(&c->begun[0], 1);
	p = malloc(size);
	atomic_fetch_add(&c->done[0], 1);
	atomic_fetch_add(&c->bytes_done, size);
	return p;
}

__attribute__((noinline)) static void give(struct counts *c, void *p)
{
	atomic_fetch_add(&c->begun[1], 1);
	free(p);
	atomic_fetch_add(&c->done[1], 1);
}

/* Until the kernel ends it for want of memory, where it writes to what it was given. */
__attribute__((noinline)) static void eat_all(struct counts *c)
{
	for (;;) {
		char *p = take(c, LARGE);

		if (!p)
			_exit(3);
		memset(p, 1, LARGE);
	}
}

/*
 * The same, where libc copies what is there to a larger place. All that was there before stays in memory: with 48 MB there are 96 in
 * use, and what is too much for 120 MB comes while these are copied.
 */
__attribute__((noinline)) static void grow_all(struct counts *c)
{
	char *p;

	mallopt(M_MMAP_MAX, 0);
	p = take(c, LARGE / 4 * 3);
	for (size_t size = LARGE / 4 * 3; p; size *= 2) {
		memset(p, 1, size);
		/* The heap cannot grow where it is. */
		if (sbrk(4096) == (void *)-1)
			_exit(4);
		atomic_fetch_add(&c->bytes_begun, 2 * size);
		atomic_fetch_add(&c->begun[0], 1);
		p = realloc(p, 2 * size);
		atomic_fetch_add(&c->done[0], 1);
		atomic_fetch_add(&c->bytes_done, 2 * size);
	}
	_exit(3);
}

/* A store where nothing is. */
static void raise_fault(void)
{
	volatile int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void end(struct counts *c)
{
	if (strcmp(work.end, "exit") == 0)
		syscall(SYS_exit_group, 7);
	if (strcmp(work.end, "segv") == 0)
		raise_fault();
	if (strcmp(work.end, "kill") == 0)
		kill(getpid(), SIGKILL);
	if (strcmp(work.end, "term") == 0)
		kill(getpid(), SIGTERM);
	if (strcmp(work.end, "abort") == 0)
		abort();
	if (strncmp(work.end, "exec:", 5) == 0)
		syscall(SYS_execve, work.end + 5, (char *[]){ (char *)(uintptr_t) "x", NULL },
			(char *[]){ NULL });
	if (strcmp(work.end, "oom") == 0)
		eat_all(c);
	if (strcmp(work.end, "oom-realloc") == 0)
		grow_all(c);
}

/* Has every thread made its calls? */
static bool have_all(void)
{
	for (uint32_t i = 0; i < work.n_threads; i++)
		if (atomic_load(&work.book->of[i].done[0]) < work.calls)
			return false;
	return true;
}

static void *run(void *arg)
{
	struct counts *c = arg;
	void *held[N_HELD] = { NULL };
	uint64_t seed = (uint64_t)(c - work.book->of) + 1;

	while (work.gate && !atomic_load(&work.book->go))
		wait_us(1000);
	for (uint64_t i = 0;; i++) {
		uint32_t at;

		while (i == work.calls && work.all && (c != work.book->of || !have_all()))
			wait_us(1000);
		if (i == work.calls && c == work.book->of)
			end(c);
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		at = (uint32_t)(seed >> 40) % N_HELD;
		if (held[at])
			give(c, held[at]);
		held[at] = take(c, 16 + (seed >> 50));
		if (work.rate)
			wait_us(1000000 / work.rate);
	}
	return NULL;
}

static int run_all(char **argv)
{
	pthread_t t;

	work = (struct work){ .book = open_book(argv[0]),
			      .n_threads = (uint32_t)atoi(argv[1]),
			      .rate = strtoull(argv[2], NULL, 10),
			      .calls = strtoull(argv[3], NULL, 10),
			      .end = argv[4] };
	work.gate = strncmp(work.end, "gate:", 5) == 0;
	work.end += work.gate ? 5 : 0;
	work.all = strncmp(work.end, "all:", 4) == 0;
	work.end += work.all ? 4 : 0;
	if (strncmp(work.end, "fork:", 5) == 0) {
		work.end += 5;
		if (fork() > 0)
			return wait(NULL) < 0;
	}
	if (work.n_threads < 1 || work.n_threads > MOST_THREADS)
		return 2;
	for (uint32_t i = 1; i < work.n_threads; i++)
		if (pthread_create(&t, NULL, run, &work.book->of[i]))
			return 2;
	atomic_store(&work.book->pid, getpid());
	run(&work.book->of[0]);
	return 0;
}

static int kill_it(char **argv)
{
	struct book *b = open_book(argv[0]);

	for (unsigned i = 0; i < 60000 && !atomic_load(&b->pid); i++)
		wait_us(1000);
	wait_us(strtoull(argv[2], NULL, 10));
	return atomic_load(&b->pid) && kill(atomic_load(&b->pid), atoi(argv[1])) == 0 ? 0 : 1;
}

static int show(const char *path)
{
	const struct book *b = open_book(path);
	uint64_t sum[6] = { 0 };
	static const char *const names[] = { "allocs-begun", "allocs-done", "frees-begun",
					     "frees-done",   "bytes-begun", "bytes-done" };

	for (uint32_t i = 0; i < MOST_THREADS; i++) {
		sum[0] += atomic_load(&b->of[i].begun[0]);
		sum[1] += atomic_load(&b->of[i].done[0]);
		sum[2] += atomic_load(&b->of[i].begun[1]);
		sum[3] += atomic_load(&b->of[i].done[1]);
		sum[4] += atomic_load(&b->of[i].bytes_begun);
		sum[5] += atomic_load(&b->of[i].bytes_done);
	}
	for (unsigned i = 0; i < 6; i++)
		printf("%s %llu\n", names[i], (unsigned long long)sum[i]);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 7 && strcmp(argv[1], "run") == 0)
		return run_all(argv + 2);
	if (argc == 5 && strcmp(argv[1], "kill") == 0)
		return kill_it(argv + 2);
	if (argc == 3 && strcmp(argv[1], "pid") == 0)
		return printf("%d\n", atomic_load(&open_book(argv[2])->pid)) < 0;
	if (argc == 3 && strcmp(argv[1], "go") == 0) {
		atomic_store(&open_book(argv[2])->go, 1);
		return 0;
	}
	if (argc == 3 && strcmp(argv[1], "show") == 0)
		return show(argv[2]);
	return 2;
}
