/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread, one function, one result. */
#include "config.h"

#include "base/task.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

void progress_cancel(struct progress *p)
{
	const uint64_t one = 1;

	atomic_store_explicit(&p->cancel, true, memory_order_relaxed);
	if (p->wake_fd > 0)
		while (write(p->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
}

struct task {
	pthread_t thread;
	task_fn *fn;
	void *arg;
	int wake_fd;
	int rc;                /* what fn returned; valid once finished */
	_Atomic bool finished; /* set after rc */
};

static void *run(void *task)
{
	struct task *t = task;
	uint64_t one = 1;

	t->rc = t->fn(t->arg);
	atomic_store_explicit(&t->finished, true, memory_order_release);
	if (t->wake_fd >= 0)
		while (write(t->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR)
			;
	return NULL;
}

/*
 * Asynchronous signals belong to the main thread. Faults are left open: were they blocked, the kernel
 * would end the program without the handler that gives the terminal back.
 */
static void signals_to_block(sigset_t *set)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS };

	sigfillset(set);
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
		sigdelset(set, faults[i]);
}

struct task *task_start(task_fn *fn, void *arg, int wake_fd)
{
	struct task *t = calloc(1, sizeof(*t));
	sigset_t blocked, before;
	int rc;

	if (!t)
		return NULL;
	t->fn = fn;
	t->arg = arg;
	t->wake_fd = wake_fd;
	signals_to_block(&blocked);
	pthread_sigmask(SIG_SETMASK, &blocked, &before);
	rc = pthread_create(&t->thread, NULL, run, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc != 0) {
		free(t);
		return NULL;
	}
	return t;
}

bool task_finished(const struct task *t)
{
	return atomic_load_explicit(&t->finished, memory_order_acquire);
}

int task_join(struct task *t)
{
	int rc;

	if (!t)
		return 0;
	pthread_join(t->thread, NULL);
	rc = t->rc;
	free(t);
	return rc;
}
