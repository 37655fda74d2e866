/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One task at a time. A request that arrives meanwhile cancels the running one and waits for its
 * end, which comes within milliseconds.
 */
#include "config.h"

#include "worker.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "analysis.h"
#include "err.h"
#include "mem.h"
#include "task.h"

struct worker {
	const struct profile *profile; /* borrowed */
	int wake_fd;                   /* eventfd; owned */
	struct task *task;             /* the running one, or NULL */
	struct progress progress;      /* of it */
	struct lens lens;              /* of it; only while there is a task */
	struct analysis *made;         /* by it; the task's until it is joined */
	struct lens next;              /* the waiting request's */
	bool waiting;                  /* is there one? */
	struct task *sweeping;         /* frees `swept`, or NULL */
	struct analysis *swept;        /* the task's until it is joined */
	struct {
		struct analysis **at;
		size_t n, cap;
	} dropped; /* nobody wants these any more; owned */
};

static int analyse(void *arg)
{
	struct worker *w = arg;

	/* What callers and memory show first is made here too: nobody waits for it at a key. */
	int rc = analysis_new_parts(w->profile, &w->lens, ANALYSIS_TREE | ANALYSIS_MEMORY,
				    &w->progress, &w->made);

	if (rc < 0)
		return rc;
	if (!progress_cancelled(&w->progress))
		analysis_inverted(w->made);
	return 0;
}

/* Joins the task; its analysis, or NULL when it was cancelled. */
static struct analysis *finish(struct worker *w)
{
	struct analysis *made = NULL;

	if (task_join(w->task) == 0)
		made = w->made;
	w->task = NULL;
	w->made = NULL;
	lens_done(&w->lens);
	return made;
}

static void start(struct worker *w)
{
	w->lens = w->next;
	w->waiting = false;
	atomic_store(&w->progress.cancel, false);
	progress_set(&w->progress, 0, 0);
	w->task = task_start(analyse, w, w->wake_fd);
	if (w->task)
		return;
	/* no thread: better late than never */
	if (analyse(w) == 0) {
		uint64_t one = 1;
		ssize_t ignored = write(w->wake_fd, &one, sizeof(one));

		(void)ignored;
	}
	lens_done(&w->lens);
}

static int free_swept(void *arg)
{
	struct worker *w = arg;

	analysis_free(w->swept);
	return 0;
}

static void finish_sweeping(struct worker *w)
{
	if (w->sweeping)
		task_join(w->sweeping);
	w->sweeping = NULL;
}

/* Frees one of what was dropped, if nothing is being freed. */
static void sweep(struct worker *w)
{
	if (w->sweeping && !task_finished(w->sweeping))
		return;
	finish_sweeping(w);
	if (w->dropped.n == 0)
		return;
	w->swept = w->dropped.at[--w->dropped.n];
	w->sweeping = task_start(free_swept, w, w->wake_fd);
	if (!w->sweeping)
		free_swept(w);
}

struct worker *worker_new(const struct profile *p, struct err *e)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	struct worker *w;

	if (fd < 0) {
		err_set(e, -errno, "no event descriptor: %s", strerror(errno));
		return NULL;
	}
	w = xcalloc(1, sizeof(*w));
	w->profile = p;
	w->wake_fd = fd;
	return w;
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	if (w->task) {
		progress_cancel(&w->progress);
		analysis_free(finish(w));
	}
	if (w->waiting)
		lens_done(&w->next);
	analysis_free(w->made);
	finish_sweeping(w);
	while (w->dropped.n > 0)
		analysis_free(w->dropped.at[--w->dropped.n]);
	vec_done(&w->dropped);
	close(w->wake_fd);
	free(w);
}

void worker_request(struct worker *w, const struct lens *lens)
{
	if (w->waiting)
		lens_done(&w->next);
	lens_copy(&w->next, lens);
	w->waiting = true;
	if (w->task)
		progress_cancel(&w->progress);
	else
		start(w);
}

void worker_drop(struct worker *w, struct analysis *an)
{
	vec_push(&w->dropped, an);
	sweep(w);
}

int worker_fd(const struct worker *w)
{
	return w->wake_fd;
}

struct analysis *worker_take(struct worker *w)
{
	struct analysis *made;
	uint64_t count;
	ssize_t ignored = read(w->wake_fd, &count, sizeof(count));

	(void)ignored;
	sweep(w);
	if (w->task && !task_finished(w->task))
		return NULL;
	if (w->task) {
		made = finish(w);
	} else {
		made = w->made;
		w->made = NULL;
	}
	if (w->waiting)
		start(w);
	return made;
}

bool worker_busy(const struct worker *w)
{
	return w->task || w->waiting || w->made;
}
