/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/heap_scan.h"

#include "base/task.h"
#include "profile/heap/heap.h"

#include <errno.h>
#include <unistd.h>

/* Rows between two looks at whether somebody wants to stop. */
#define BATCH 65536

/* Rows that are worth a thread. */
#define WORTH ((uint32_t)1 << 18)

struct part {
	heap_scan_fn *fn;
	void *arg;
	struct progress *progress; /* borrowed; may be NULL */
	unsigned worker;
	uint32_t from, to;
};

unsigned heap_scan_threads(uint32_t n)
{
	unsigned worth = n / WORTH;
	long cpus;

	/* Few, or none, are looked at four times a second. */
	if (worth <= 1)
		return 1;
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (worth > HEAP_SCAN_MOST)
		worth = HEAP_SCAN_MOST;
	return cpus < 1 ? 1 : worth < (unsigned long)cpus ? worth : (unsigned)cpus;
}

static int scan_part(void *arg)
{
	const struct part *p = arg;
	uint32_t at = p->from;

	while (at < p->to) {
		uint32_t to = p->to - at > BATCH ? at + BATCH : p->to;

		if (progress_cancelled(p->progress))
			return -ECANCELED;
		p->fn(p->arg, p->worker, at, to);
		at = to;
	}
	return 0;
}

/* Where the part of a thread begins: with a group. */
static uint32_t border(uint32_t n, unsigned thread, unsigned n_threads)
{
	uint32_t at = (uint32_t)((uint64_t)n * thread / n_threads);

	return thread < n_threads ? at - at % HEAP_GROUP : n;
}

int heap_scan(uint32_t n, unsigned n_threads, struct progress *progress, heap_scan_fn *fn,
	      void *arg)
{
	struct part part[HEAP_SCAN_MOST];
	struct task *task[HEAP_SCAN_MOST] = { 0 };
	int rc = 0;

	for (unsigned i = 0; i < n_threads; i++) {
		part[i] = (struct part){ fn, arg, progress, i, 0, 0 };
		part[i].from = border(n, i, n_threads);
		part[i].to = border(n, i + 1, n_threads);
		if (i > 0)
			task[i] = task_start(scan_part, &part[i], -1);
	}
	for (unsigned i = 0; i < n_threads; i++) {
		/* Those for which no thread could be started are done here. */
		int one = task[i] ? task_join(task[i]) : scan_part(&part[i]);

		rc = one < 0 ? one : rc;
	}
	return rc;
}
