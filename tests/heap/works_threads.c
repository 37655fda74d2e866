/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that end in all ways there are, and such as no library knows of. */
#include "heap_works.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 4u

static FRAME void allocate(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		use(1 + i % 300);
}

static void *some(void *arg)
{
	allocate((uint64_t)(uintptr_t)arg);
	return NULL;
}

/* The main thread ends first; the process is to end with its last thread. */
static int work_main_ends(uint64_t n)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, some, (void *)(uintptr_t)n))
		return 1;
	pthread_detach(thread);
	printf("the main thread ends\n");
	fflush(stdout);
	pthread_exit(NULL);
}

/* The main thread ends by a system call, and so with a status of its own. */
static int work_main_leaves(uint64_t n)
{
	allocate(n);
	syscall(SYS_exit, 9);
	return 1;
}

/* The process ends by a system call that no library makes for it. */
static int work_vanish(uint64_t n)
{
	allocate(n);
	syscall(SYS_exit_group, 11);
	return 1;
}

/* How much memory this took; not to be compared, so it goes elsewhere. */
static void tell_memory(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];

	while (f && fgets(line, sizeof(line), f))
		if (strncmp(line, "VmHWM:", 6) == 0)
			fprintf(stderr, "peak %s", line + 6);
	if (f)
		fclose(f);
}

static int work_exit_storm(uint64_t n)
{
	for (uint64_t i = 0; i < n; i += AT_ONCE) {
		pthread_t thread[AT_ONCE];

		for (unsigned k = 0; k < AT_ONCE; k++)
			if (pthread_create(&thread[k], NULL, some, (void *)(uintptr_t)5))
				return 1;
		for (unsigned k = 0; k < AT_ONCE; k++)
			pthread_join(thread[k], NULL);
	}
	tell_memory();
	return 0;
}

static void *until_cancelled(void *arg)
{
	(void)arg;
	for (;;) {
		allocate(3);
		pthread_testcancel();
	}
	return NULL;
}

static int work_cancel(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		pthread_t thread[AT_ONCE];
		void *result;

		for (unsigned k = 0; k < AT_ONCE; k++)
			if (pthread_create(&thread[k], NULL, until_cancelled, NULL))
				return 1;
		if (i % 3 == 0)
			allocate(200);
		for (unsigned k = 0; k < AT_ONCE; k++) {
			pthread_cancel(thread[k]);
			if (pthread_join(thread[k], &result) || result != PTHREAD_CANCELED)
				return 2;
		}
	}
	return 0;
}

/* Cancelled already when it ends the process: what the recorder does then must not be where that takes effect. */
static void *exit_cancelled(void *arg)
{
	int state;

	(void)arg;
	allocate(50);
	/* It allocates, and opening a file would end the thread. */
	pthread_cancel(pthread_self());
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	tell_counts();
	pthread_setcancelstate(state, NULL);
	_exit(7);
}

static int work_cancelled_exit(uint64_t n)
{
	pthread_t thread;

	allocate(n);
	if (pthread_create(&thread, NULL, exit_cancelled, NULL))
		return 1;
	pthread_join(thread, NULL);
	return 1;
}

static pthread_key_t key;

/* Comes again, as often as it may. */
static void destroy(void *value)
{
	uint64_t rounds = *(uint64_t *)value;
	uint64_t *again = rounds ? malloc(sizeof(*again)) : NULL;

	allocate(10);
	free(value);
	if (again) {
		*again = rounds - 1;
		pthread_setspecific(key, again);
	}
}

static void *with_key(void *arg)
{
	uint64_t *value = malloc(sizeof(*value));

	if (value) {
		*value = 2;
		pthread_setspecific(key, value);
	}
	return arg;
}

static int work_destructors(uint64_t n)
{
	pthread_key_create(&key, destroy);
	for (uint64_t i = 0; i < n; i++) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, with_key, NULL))
			return 1;
		pthread_join(thread, NULL);
	}
	return pthread_key_delete(key);
}

static int in_clone(void *arg)
{
	allocate(*(uint64_t *)arg);
	return 5;
}

/* A task that shares memory and is no thread of libc's. The parent waits, as both have one errno. */
static int work_clone(uint64_t n)
{
	size_t bytes = 1 << 16;
	char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (stack == MAP_FAILED)
		return 1;
	for (unsigned i = 0; i < 20; i++) {
		int status, flags = CLONE_VM | CLONE_VFORK | SIGCHLD;
		pid_t pid = clone(in_clone, stack + bytes, flags, &n);

		if (pid < 0 || waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 5)
			return 2;
		allocate(3);
	}
	return munmap(stack, bytes);
}

static _Atomic int stop;

static void *until_stopped(void *arg)
{
	while (!stop)
		allocate(100);
	return arg;
}

/* Children of a process with other threads at work. */
static int work_fork_threads(uint64_t n)
{
	pthread_t thread[AT_ONCE];
	int bad = 0;

	for (unsigned k = 0; k < AT_ONCE; k++)
		if (pthread_create(&thread[k], NULL, until_stopped, NULL))
			return 1;
	for (uint64_t i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (pid == 0) {
			allocate(50);
			exit((int)(i % 50));
		}
		bad |= waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
		       WEXITSTATUS(status) != (int)(i % 50);
	}
	stop = 1;
	for (unsigned k = 0; k < AT_ONCE; k++)
		pthread_join(thread[k], NULL);
	return bad;
}

static int on_small_stack(void *(*run)(void *), void *arg)
{
	pthread_attr_t attr;
	pthread_t thread;
	int ret;

	pthread_attr_init(&attr);
	ret = pthread_attr_setstacksize(&attr, (size_t)PTHREAD_STACK_MIN);
	if (!ret)
		ret = pthread_create(&thread, &attr, run, arg);
	pthread_attr_destroy(&attr);
	return ret ? ret : pthread_join(thread, NULL);
}

static void *exit_here(void *arg)
{
	allocate((uint64_t)(uintptr_t)arg);
	tell_counts();
	_exit(7);
}

static int work_small_stack(uint64_t n)
{
	if (on_small_stack(some, (void *)(uintptr_t)n))
		return 1;
	on_small_stack(exit_here, (void *)(uintptr_t)n);
	return 2;
}

static void *exec_here(void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		execl("/bin/true", "true", "with", "some", "words", (char *)NULL);
		_exit(9);
	}
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status))
		*(int *)arg = WEXITSTATUS(status);
	return NULL;
}

static int work_small_stack_exec(uint64_t n)
{
	int status = 99;

	allocate(n);
	return on_small_stack(exec_here, &status) ? 1 : status;
}

/* Ends with its first event, which nobody has looked at by then. */
static void *named_work(void *arg)
{
	pthread_setname_np(pthread_self(), arg);
	use(100);
	return NULL;
}

static int work_brief_names(uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		char name[16];
		pthread_t thread;

		snprintf(name, sizeof(name), "brief-%u", (unsigned)i);
		if (pthread_create(&thread, NULL, named_work, name) || pthread_join(thread, NULL))
			return 1;
	}
	return 0;
}

const struct work thread_works[] = {
	{ "main-ends", work_main_ends },
	{ "main-leaves", work_main_leaves },
	{ "vanish", work_vanish },
	{ "exit-storm", work_exit_storm },
	{ "cancel", work_cancel },
	{ "cancelled-exit", work_cancelled_exit },
	{ "destructors", work_destructors },
	{ "clone", work_clone },
	{ "fork-threads", work_fork_threads },
	{ "small-stack", work_small_stack },
	{ "small-stack-exec", work_small_stack_exec },
	{ "brief-names", work_brief_names },
	{ NULL, NULL },
};
