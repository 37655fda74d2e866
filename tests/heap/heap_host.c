/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A program that runs before it is recorded: heap_host THREADS does what lines of its input say, with threads that
 * are there from the beginning, and tells how many calls that were, as count_shim counted them. heap_host wait WHAT
 * waits a second in a system call and tells how that ended; heap_host busy computes and allocates until its input
 * ends. heap_host calls, and heap_host thread in a second thread, makes calls that who comes in must not interrupt,
 * between two SIGSTOPs of the thread. Nothing is printed by stdio, which allocates.
 */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "record/heap/proftop.h"

#define MOST_THREADS 200u
#define KEEP         64u

/* count_shim's: allocs, reallocs, frees, bytes so far. */
void count_shim_counts(uint64_t out[4]) __attribute__((weak));

enum order { WORK, HOLD, DROP, LEAVE };

static pthread_barrier_t gate;
static enum order order; /* what all threads do next */
static unsigned amount;  /* how much of it */
static uint32_t *held[MOST_THREADS][KEEP];
static _Atomic unsigned n_bad; /* blocks whose content was not what was put there */

/* A line: what, and four numbers. */
static void say(const char *what, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "%s %llu %llu %llu %llu\n", what,
			 (unsigned long long)a, (unsigned long long)b, (unsigned long long)c,
			 (unsigned long long)d);

	if (write(STDOUT_FILENO, line, (size_t)n) != n)
		_exit(9);
}

static void put(uint32_t **slot, uint32_t size)
{
	uint32_t words = size / 4 + 2, *p = *slot;

	if (p && (p[0] != (uint32_t)(uintptr_t)slot || p[p[1]] != ~p[0]))
		n_bad++;
	if (p && size % 3 == 0) {
		p = realloc(p, words * 4 + 4);
	} else {
		free(p);
		p = size % 5 == 0 ? calloc(words + 1, 4)
				  : (size % 7 == 0 ? aligned_alloc(64, (words * 4 + 64) / 64 * 64)
						   : malloc(words * 4 + 4));
	}
	*slot = p;
	if (!p)
		_exit(8);
	p[0] = (uint32_t)(uintptr_t)slot;
	p[1] = words;
	p[words] = ~p[0];
}

static void empty(uint32_t **slots)
{
	for (unsigned i = 0; i < KEEP; i++) {
		free(slots[i]);
		slots[i] = NULL;
	}
}

static void work(unsigned seed, unsigned n)
{
	uint32_t *mine[KEEP] = { 0 };

	for (unsigned i = 0; i < n; i++) {
		seed = seed * 1103515245 + 12345;
		put(&mine[seed >> 16 & (KEEP - 1)], (seed >> 8 & 1023) + 1);
	}
	empty(mine);
}

static void *serve(void *arg)
{
	unsigned self = (unsigned)(uintptr_t)arg;

	for (;;) {
		pthread_barrier_wait(&gate);
		if (order == LEAVE)
			return NULL;
		if (order == WORK)
			work(self, amount);
		for (unsigned i = 0; order == HOLD && i < KEEP; i++)
			put(&held[self][i], i + 1);
		if (order == DROP)
			empty(held[self]);
		pthread_barrier_wait(&gate);
	}
}

static void all_do(enum order what, unsigned n)
{
	uint64_t before[4] = { 0 }, after[4] = { 0 };

	order = what;
	amount = n;
	if (count_shim_counts)
		count_shim_counts(before);
	pthread_barrier_wait(&gate);
	if (what == LEAVE)
		return;
	pthread_barrier_wait(&gate);
	if (count_shim_counts)
		count_shim_counts(after);
	say("did", after[0] - before[0], after[1] - before[1], after[2] - before[2],
	    after[3] - before[3]);
}

static void load(const char *path, unsigned n)
{
	void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	void (*run)(unsigned) = NULL;

	if (plugin)
		*(void **)&run = dlsym(plugin, "plug");
	if (run)
		run(n);
	say("loaded", run != NULL, 0, 0, 0);
}

static void fork_one(unsigned n)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		work(7, n);
		_exit(5);
	}
	waitpid(pid, &status, 0);
	say("forked", WIFEXITED(status) && WEXITSTATUS(status) == 5, 0, 0, 0);
}

/* One line of input, read byte by byte. False: the end. */
static bool next_line(char *line, size_t room)
{
	size_t n = 0;
	ssize_t got;

	while ((got = read(STDIN_FILENO, line + n, 1)) != 0) {
		if (got < 0)
			say("read", (uint64_t)errno, 0, 0, 0);
		else if (line[n] == '\n' || ++n == room - 1)
			break;
	}
	line[n] = '\0';
	return got > 0;
}

static int serve_lines(unsigned n_threads)
{
	pthread_t thread[MOST_THREADS];
	char line[4096], word[16], path[4096];

	pthread_barrier_init(&gate, NULL, n_threads + 1);
	for (unsigned i = 0; i < n_threads; i++)
		if (pthread_create(&thread[i], NULL, serve, (void *)(uintptr_t)i))
			return 1;
	say("ready", (uint64_t)getpid(), 0, 0, 0);
	while (next_line(line, sizeof(line))) {
		unsigned n = 0;

		*path = '\0';
		sscanf(line, "%15s %u %4095s", word, &n, path);
		if (strcmp(word, "work") == 0)
			all_do(WORK, n);
		else if (strcmp(word, "hold") == 0)
			all_do(HOLD, n);
		else if (strcmp(word, "drop") == 0)
			all_do(DROP, n);
		else if (strcmp(word, "load") == 0)
			load(path, n);
		else if (strcmp(word, "fork") == 0)
			fork_one(n);
		else if (strcmp(word, "mark") == 0)
			proftop_mark("from within");
		if (strcmp(word, "mark") == 0)
			say("marked", 0, 0, 0, 0);
	}
	all_do(LEAVE, 0);
	for (unsigned i = 0; i < n_threads; i++)
		pthread_join(thread[i], NULL);
	say("bad", n_bad, 0, 0, 0);
	return n_bad != 0;
}

static int wait_in(const char *what)
{
	struct timespec second = { 1, 0 }, left = { 0 };
	struct sembuf op = { 0, -1, 0 };
	int set = semget(IPC_PRIVATE, 1, 0600), ret = -2, fd = epoll_create1(0);
	struct epoll_event event;
	sigset_t none;
	sem_t sem;

	sigemptyset(&none);
	sigaddset(&none, SIGUSR2);
	sem_init(&sem, 0, 0);
	alarm(20);
	say("ready", (uint64_t)getpid(), 0, 0, 0);
	errno = 0;
	if (strcmp(what, "nanosleep") == 0)
		ret = nanosleep(&second, &left);
	else if (strcmp(what, "poll") == 0)
		ret = poll(NULL, 0, 1000);
	else if (strcmp(what, "epoll") == 0)
		ret = epoll_wait(fd, &event, 1, 1000);
	else if (strcmp(what, "select") == 0)
		ret = pselect(0, NULL, NULL, NULL, &second, NULL);
	else if (strcmp(what, "sigwait") == 0)
		ret = sigtimedwait(&none, NULL, &second);
	else if (strcmp(what, "semop") == 0)
		ret = semtimedop(set, &op, 1, &second);
	else if (strcmp(what, "sem") == 0) {
		clock_gettime(CLOCK_REALTIME, &left);
		left.tv_sec += 1;
		ret = sem_timedwait(&sem, &left);
	}
	say("ended", (uint64_t)(ret + 5), (uint64_t)errno, 0, 0);
	semctl(set, 0, IPC_RMID);
	return 0;
}

/* A sum that is the same however often the thread is stopped, in vector registers most of the time. */
static double sum_up(unsigned n)
{
	double sum[8] = { 0 };

	for (unsigned i = 1; i <= n; i++)
		for (unsigned j = 0; j < 8; j++)
			sum[j] += 1.0 / ((double)i + (double)j);
	for (unsigned j = 1; j < 8; j++)
		sum[0] += sum[j];
	return sum[0];
}

static int keep_busy(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };
	double first = sum_up(200000);
	uint64_t rounds = 0, wrong = 0;

	say("ready", (uint64_t)getpid(), 0, 0, 0);
	while (poll(&in, 1, 0) == 0) {
		wrong += fabs(sum_up(200000) - first) > 0;
		work((unsigned)rounds++, 2000);
	}
	say("faults", wrong, n_bad, 0, 0);
	return wrong || n_bad;
}

/* Each call of the family, of sizes that take each way through it: the heap grows, from the system and back to it. */
static void call_all(void)
{
	static const size_t sizes[] = { 1, 24, 100, 700, 1040, 5000, 60000, 200000 };
	void *p[40];
	size_t n = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		p[n++] = malloc(sizes[i]);
		p[n++] = aligned_alloc(64, (sizes[i] + 63) / 64 * 64);
		p[n++] = calloc(1, sizes[i] > 2000 ? 300000 : sizes[i]);
		if (posix_memalign(&p[n], 4096, sizes[i] / 2 + 1) == 0)
			n++;
		p[n++] = realloc(sizes[i] < 2000 ? malloc(sizes[i]) : NULL, sizes[i] * 2);
	}
	for (size_t i = 0; i < n; i += 2)
		free(p[i]);
	for (size_t i = 1; i < n; i += 2)
		free(p[i]);
	/* What is at the end of the heap goes back. */
	n = 0;
	while (n < 12)
		p[n++] = malloc(50000);
	while (n > 0)
		free(p[--n]);
	free(aligned_alloc(128, 90112));
}

static void *call_in_thread(void *arg)
{
	call_all();
	return arg;
}

static int call_in_steps(bool thread)
{
	pthread_t other;

	if (!thread) {
		raise(SIGSTOP);
		call_all();
		if (sbrk(4096) == (void *)-1)
			return 1;
	}
	if (pthread_create(&other, NULL, call_in_thread, NULL) || pthread_join(other, NULL))
		return 1;
	if (!thread) {
		free(dlopen("libm.so.6", RTLD_NOW) ? malloc(8) : NULL);
		raise(SIGSTOP);
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 2 && (strcmp(argv[1], "calls") == 0 || strcmp(argv[1], "thread") == 0))
		return call_in_steps(*argv[1] == 't');
	if (argc == 3 && strcmp(argv[1], "wait") == 0)
		return wait_in(argv[2]);
	if (argc == 2 && strcmp(argv[1], "busy") == 0)
		return keep_busy();
	if (argc == 2 && atoi(argv[1]) > 0 && atoi(argv[1]) <= (int)MOST_THREADS)
		return serve_lines((unsigned)atoi(argv[1]));
	return 2;
}
