/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A thread that names and inlines until it is told that reading has ended. The resolver counts its
 * own progress; it gets a progress that nobody sees, as the screen shows how far the file is read.
 */
#include "config.h"

#include "perf_naming.h"

#include "mem.h"
#include "resolver.h"
#include "task.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

/* Between two rounds, so that the pen is not taken all the time. */
#define PAUSE_NS (5 * 1000 * 1000L)

struct perf_naming {
	struct resolver *resolver;
	const struct progress *outer;
	struct progress own; /* cancelled with outer */
	_Atomic bool stop;   /* reading has ended */
	struct task *task;
};

static void pause_ns(long ns)
{
	struct timespec t = { .tv_nsec = ns };

	nanosleep(&t, NULL);
}

static int name_on(void *arg)
{
	struct perf_naming *n = arg;
	int rc = 0;

	while (rc == 0 && !atomic_load(&n->stop)) {
		rc = resolver_name(n->resolver, &n->own);
		if (rc == 0)
			rc = resolver_inline_ahead(n->resolver, &n->own);
		pause_ns(PAUSE_NS);
	}
	return rc;
}

struct perf_naming *perf_naming_start(struct resolver *r, const struct progress *outer)
{
	struct perf_naming *n = xcalloc(1, sizeof(*n));

	n->resolver = r;
	n->outer = outer;
	n->task = task_start(name_on, n, -1);
	if (n->task)
		return n;
	free(n);
	return NULL;
}

int perf_naming_finish(struct perf_naming *n)
{
	int rc;

	if (!n)
		return 0;
	atomic_store(&n->stop, true);
	while (!task_finished(n->task)) {
		if (progress_cancelled(n->outer))
			progress_cancel(&n->own);
		pause_ns(PAUSE_NS / 10);
	}
	rc = task_join(n->task);
	free(n);
	return rc;
}
