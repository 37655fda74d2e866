/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Programs that fork twice, as daemons do. The first child does not allocate before it forks; the second one allocates more than
 * a thread can note before somebody writes.
 */
#include "heap_works.h"

#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int status_of(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status)
									       : 99;
}

static pid_t raw_fork(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

/* What the first child does before it forks. */
static void nothing(void)
{
}

static void spawn(void)
{
	char *argv[] = { (char *)(uintptr_t) "true", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) || status_of(pid))
		_exit(98);
}

/* The guest allocates in memory of the child, for which nothing has begun. */
static void lend(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		for (unsigned i = 0; i < 100; i++)
			use(20);
		_exit(0);
	}
	if (status_of(pid))
		_exit(97);
}

static struct {
	pid_t (*first)(void), (*second)(void);
	void (*between)(void);
	uint64_t n;
	int status;
} plan;

static void *fork_twice(void *arg)
{
	pid_t pid = plan.first(), inner;

	if (pid == 0) {
		plan.between();
		inner = plan.second();
		if (inner == 0) {
			for (uint64_t i = 0; i < plan.n; i++)
				use(1 + i % 100);
			exit(3);
		}
		_exit(status_of(inner));
	}
	plan.status = status_of(pid);
	return arg;
}

static int run(pid_t (*first)(void), void (*between)(void), pid_t (*second)(void), uint64_t n)
{
	use(10);
	plan.first = first;
	plan.second = second;
	plan.between = between;
	plan.n = n;
	fork_twice(NULL);
	use(10);
	printf("status %d\n", plan.status);
	return plan.status;
}

static int work_fork(uint64_t n)
{
	return run(fork, nothing, fork, n);
}

static int work_spawn(uint64_t n)
{
	return run(fork, spawn, fork, n);
}

static int work_vfork(uint64_t n)
{
	return run(fork, lend, fork, n);
}

static int work_fork_raw(uint64_t n)
{
	return run(fork, nothing, raw_fork, n);
}

static int work_raw_fork(uint64_t n)
{
	return run(raw_fork, nothing, fork, n);
}

/* The stack of the child's main thread is that of a thread. */
static int work_thread(uint64_t n)
{
	pthread_t t;

	use(10);
	plan.first = plan.second = fork;
	plan.between = nothing;
	plan.n = n;
	if (pthread_create(&t, NULL, fork_twice, NULL) || pthread_join(t, NULL))
		return 1;
	printf("status %d\n", plan.status);
	return plan.status;
}

/* By libc: who is waited for, and ends with 0, is the child of nobody. */
static int work_libc(uint64_t n)
{
	int ends[2];
	pid_t pid;
	char c;

	if (pipe(ends))
		return 1;
	use(10);
	pid = fork();
	if (pid == 0) {
		if (daemon(1, 1))
			_exit(1);
		for (uint64_t i = 0; i < n; i++)
			use(1 + i % 100);
		_exit(write(ends[1], "d", 1) != 1);
	}
	close(ends[1]);
	printf("status %d, %zd\n", status_of(pid), read(ends[0], &c, 1));
	return 3;
}

/* A child for each turn, while the parent allocates as fast as it can: what they share is noted in at the same time. */
static int work_busy(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		pid_t pid = fork();
		int status;

		if (pid == 0) {
			for (unsigned k = 0; k < 50; k++)
				use(30 + k);
			exit(0);
		}
		do {
			use(20);
		} while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0);
		if (pid < 0 || status)
			return 1;
	}
	return 3;
}

/* The same, from a handler of signals that finds the program anywhere. */
static volatile sig_atomic_t n_forked;

static void fork_here(int number)
{
	int status = 0;
	pid_t pid = fork();

	(void)number;
	if (pid == 0)
		return;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != 5)
		_exit(4);
	n_forked++;
}

static int work_handler(uint64_t n)
{
	pid_t self = getpid();

	signal(SIGALRM, fork_here);
	for (uint64_t i = 0; i < n; i++) {
		struct itimerval once = { { 0, 0 }, { 0, (suseconds_t)(200 + i * 37 % 300) } };

		setitimer(ITIMER_REAL, &once, NULL);
		while (n_forked == (sig_atomic_t)i && getpid() == self)
			for (unsigned k = 0; k < 100; k++)
				use(20);
		/* The child came back into the middle of what its parent was at. */
		if (getpid() != self)
			_exit(5);
	}
	return 3;
}

const struct work daemon_works[] = {
	{ "daemon-fork", work_fork },         { "daemon-spawn", work_spawn },
	{ "daemon-vfork", work_vfork },       { "daemon-fork-raw", work_fork_raw },
	{ "daemon-raw-fork", work_raw_fork }, { "daemon-thread", work_thread },
	{ "daemon-libc", work_libc },         { "daemon-busy", work_busy },
	{ "daemon-handler", work_handler },   { NULL, NULL },
};
