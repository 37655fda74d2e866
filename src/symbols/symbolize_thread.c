/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread that names and inlines until it is told that reading has ended. The resolver counts its
 * own progress; it gets a progress that nobody sees, as the screen shows how far the file is read.
 */
#include "config.h"

#include "symbols/symbolize_thread.h"

#include "base/mem.h"
#include "base/task.h"
#include "symbols/resolver.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/*
 * Between two rounds, so that the pen is not taken all the time. The first ones are shorter: soon there is an
 * address of most files, whose symbols can be read beside the samples.
 */
#define PAUSE_NS       (5 * 1000 * 1000L)
#define FIRST_PAUSE_NS (PAUSE_NS / 8)
/* So soon it is looked at what waited for more of its kind, though nothing came. */
#define FEW_NS         (250 * 1000 * 1000L)

struct symbolize_thread {
	struct resolver *resolver;
	const struct progress *outer;
	struct progress own; /* cancelled with outer */
	pthread_mutex_t lock;
	pthread_cond_t changed; /* more, where it is waited for, stop or done */
	bool more;              /* was published since a round began, or reading has ended */
	bool idle;              /* more is waited for */
	bool stop;              /* reading has ended */
	bool done;              /* nothing more is named */
	uint64_t n_locations;   /* that there were when it was told of more last */
	struct task *task;
};

static struct timespec after_ns(long ns)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += ns;
	t.tv_sec += t.tv_nsec / 1000000000;
	t.tv_nsec %= 1000000000;
	return t;
}

/* Sleeps until then, or until one of them is so; with the lock. */
static void pause_until(struct symbolize_thread *n, const bool *so, const struct timespec *t)
{
	while (!*so && pthread_cond_timedwait(&n->changed, &n->lock, t) == 0)
		;
}

/* Sleeps until there is more to do; few: or until what waits for more has waited long enough. With the lock. */
static void await_more(struct symbolize_thread *n, bool few)
{
	struct timespec t = after_ns(FEW_NS);

	n->idle = true;
	if (few)
		pause_until(n, &n->more, &t);
	while (!few && !n->more)
		pthread_cond_wait(&n->changed, &n->lock);
	n->idle = false;
}

static int name_on(void *arg)
{
	struct symbolize_thread *n = arg;
	long pause = FIRST_PAUSE_NS;
	struct timespec next;
	bool few = false;
	int rc = 0;

	pthread_mutex_lock(&n->lock);
	while (rc == 0 && !n->stop) {
		n->more = false;
		pthread_mutex_unlock(&n->lock);
		rc = resolver_name(n->resolver, &n->own);
		if (rc == 0)
			rc = resolver_inline_ahead(n->resolver, &few, &n->own);
		pthread_mutex_lock(&n->lock);
		next = after_ns(pause);
		pause = 2 * pause < PAUSE_NS ? 2 * pause : PAUSE_NS;
		await_more(n, few);
		pause_until(n, &n->stop, &next);
	}
	n->done = true;
	pthread_cond_signal(&n->changed);
	pthread_mutex_unlock(&n->lock);
	return rc;
}

static void thread_free(struct symbolize_thread *n)
{
	pthread_cond_destroy(&n->changed);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

struct symbolize_thread *symbolize_thread_start(struct resolver *r, const struct progress *outer)
{
	struct symbolize_thread *n = xcalloc(1, sizeof(*n));
	pthread_condattr_t attr;

	n->resolver = r;
	n->outer = outer;
	pthread_mutex_init(&n->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&n->changed, &attr);
	pthread_condattr_destroy(&attr);
	n->task = task_start(name_on, n, -1);
	if (n->task)
		return n;
	thread_free(n);
	return NULL;
}

void symbolize_thread_more(struct symbolize_thread *n, uint64_t n_locations)
{
	if (!n || n->n_locations == n_locations)
		return;
	n->n_locations = n_locations;
	pthread_mutex_lock(&n->lock);
	n->more = true;
	if (n->idle)
		pthread_cond_signal(&n->changed);
	pthread_mutex_unlock(&n->lock);
}

int symbolize_thread_finish(struct symbolize_thread *n)
{
	int rc;

	if (!n)
		return 0;
	pthread_mutex_lock(&n->lock);
	n->stop = n->more = true;
	pthread_cond_signal(&n->changed);
	while (!n->done) {
		struct timespec t = after_ns(PAUSE_NS);

		if (progress_cancelled(n->outer))
			progress_cancel(&n->own);
		pause_until(n, &n->done, &t);
	}
	pthread_mutex_unlock(&n->lock);
	rc = task_join(n->task);
	thread_free(n);
	return rc;
}
