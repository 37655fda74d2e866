/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One analysis at a time, and beside it more of the one that is on screen. A request that arrives meanwhile
 * cancels the running one of its kind and waits for its end, which comes within milliseconds.
 */
#include "config.h"

#include "tui/app/worker.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/analysis_cache.h"

/* Over time, of an analysis that somebody else has. */
struct drawing {
	struct task *task;              /* or NULL */
	struct progress progress;       /* of it */
	const struct analysis *reading; /* what it looks at; borrowed */
	struct analysis_cache cache;    /* what several threads may know; borrowed */
	struct over_time_wish wish;     /* that it is making */
	struct over_time *made;         /* by it; the task's until it is joined */
	const struct analysis *wanted;  /* whose answers somebody waits for, or NULL */
	struct over_time_wish next;     /* wanted after the task; n 0: nothing is */
};

struct worker {
	const struct profile *profile;       /* borrowed */
	int wake_fd;                         /* eventfd; owned */
	struct task *task;                   /* the running one, or NULL */
	struct progress progress;            /* of it */
	struct analysis_cache *cache;        /* what it found out for those that follow; owned */
	struct lens lens;                    /* of it; only while there is a task */
	struct over_time_wishes wishes;      /* what it makes with the analysis */
	enum ready_parts ready;              /* likewise */
	struct analysis *made;               /* by it; the task's until it is joined */
	int64_t cost_ns;                     /* likewise: what that took of a processor */
	int64_t taken_ns;                    /* the same of the one that was taken last */
	struct lens next;                    /* the waiting request's */
	struct over_time_wishes next_wishes; /* likewise */
	enum ready_parts next_ready;         /* likewise */
	bool waiting;                        /* is there one? */
	struct profile_counts of;            /* the state that the running task looks at */
	bool held;                           /* that is always this one: */
	struct profile_counts hold;
	struct drawing drawing;
	struct task *sweeping;  /* frees `swept`, or NULL */
	struct analysis *swept; /* the task's until it is joined */
	struct {
		struct analysis **at;
		size_t n, cap;
	} dropped; /* nobody wants these any more; owned */
};

static void add_over_time(struct worker *w, enum over_time_kind kind)
{
	const struct over_time_wish *wish = &w->wishes.of[kind];
	struct over_time *made;

	if (wish->span.n > 0 && over_time_possible(w->made, kind) &&
	    over_time_new(w->made, wish, w->cache, &w->progress, &made) == 0)
		analysis_set_over(w->made, made);
}

static int64_t own_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int make(struct worker *w)
{
	unsigned tree = w->ready == READY_TABLE ? ANALYSIS_LATER : ANALYSIS_TREE;
	int rc = analysis_new_of(w->profile, &w->of, &w->lens, tree | ANALYSIS_MEMORY, &w->progress,
				 &w->made);

	if (rc < 0)
		return rc;
	if (w->ready == READY_CALLERS && !progress_cancelled(&w->progress))
		analysis_inverted(w->made);
	/* Lines of sides are made when somebody looks at them: they take as long as all the rest. */
	for (int i = 0; i < N_OVER_TIME; i++)
		if (i != OVER_SIDES)
			add_over_time(w, (enum over_time_kind)i);
	return 0;
}

static int analyse(void *arg)
{
	struct worker *w = arg;
	int64_t begin_ns = own_cpu_ns();
	int rc = make(w);

	w->cost_ns = own_cpu_ns() - begin_ns;
	return rc;
}

static void end_of_task(struct worker *w)
{
	lens_done(&w->lens);
	profile_release(w->profile, &w->of);
}

/* Joins the task; its analysis, or NULL when it was cancelled. */
static struct analysis *finish(struct worker *w)
{
	struct analysis *made = NULL;

	if (task_join(w->task) == 0)
		made = w->made;
	w->taken_ns = w->cost_ns;
	w->task = NULL;
	w->made = NULL;
	end_of_task(w);
	return made;
}

static void wake(const struct worker *w)
{
	uint64_t one = 1;
	ssize_t ignored = write(w->wake_fd, &one, sizeof(one));

	(void)ignored;
}

static void start(struct worker *w)
{
	w->lens = w->next;
	w->lens.cache = w->cache;
	w->wishes = w->next_wishes;
	w->ready = w->next_ready;
	w->waiting = false;
	if (w->held) {
		w->of = w->hold;
		profile_hold_also(w->profile, &w->of);
	} else {
		profile_hold(w->profile, &w->of);
	}
	atomic_store(&w->progress.cancel, false);
	progress_set(&w->progress, 0, 0);
	w->task = task_start(analyse, w, w->wake_fd);
	if (w->task)
		return;
	/* no thread: better late than never */
	if (analyse(w) == 0)
		wake(w);
	end_of_task(w);
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

/* Frees one of what was dropped, if nothing is being freed, and none of it is being read. */
static void sweep(struct worker *w)
{
	if (w->drawing.task)
		return;
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
	w->cache = analysis_cache_new();
	w->drawing.cache.teardown = w->cache->teardown;
	return w;
}

/* Nobody wants it any more. */
static void forget_drawing(struct drawing *d)
{
	progress_cancel(&d->progress);
	d->wanted = NULL;
	d->next.span.n = 0;
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
	worker_hold(w, NULL);
	forget_drawing(&w->drawing);
	task_join(w->drawing.task);
	over_time_free(w->drawing.made);
	finish_sweeping(w);
	while (w->dropped.n > 0)
		analysis_free(w->dropped.at[--w->dropped.n]);
	vec_done(&w->dropped);
	analysis_cache_free(w->cache);
	close(w->wake_fd);
	free(w);
}

void worker_request(struct worker *w, const struct lens *lens,
		    const struct over_time_wishes *wishes, enum ready_parts ready)
{
	if (w->waiting)
		lens_done(&w->next);
	lens_copy(&w->next, lens);
	w->next_wishes = *wishes;
	w->next_ready = ready;
	w->waiting = true;
	if (w->task)
		progress_cancel(&w->progress);
	else
		start(w);
}

static int draw(void *arg)
{
	struct drawing *d = arg;

	return over_time_new(d->reading, &d->wish, &d->cache, &d->progress, &d->made);
}

static void start_drawing(struct worker *w)
{
	struct drawing *d = &w->drawing;

	d->reading = d->wanted;
	d->wish = d->next;
	d->next.span.n = 0;
	atomic_store(&d->progress.cancel, false);
	d->task = task_start(draw, d, w->wake_fd);
	if (!d->task && draw(d) == 0)
		wake(w);
}

void worker_request_over(struct worker *w, const struct analysis *an,
			 const struct over_time_wish *wish)
{
	struct drawing *d = &w->drawing;
	const struct over_time_wish *newest = d->next.span.n > 0 ? &d->next : &d->wish;

	if (worker_drawing(w) && d->wanted == an && over_time_same_wish(newest, wish))
		return;
	d->wanted = an;
	d->next = *wish;
	if (d->task)
		progress_cancel(&d->progress);
	else
		start_drawing(w);
}

struct over_time *worker_take_over(struct worker *w)
{
	struct drawing *d = &w->drawing;
	struct over_time *made;

	if (d->task && !task_finished(d->task))
		return NULL;
	task_join(d->task);
	made = d->made;
	d->task = NULL;
	d->made = NULL;
	if (made && d->reading != d->wanted) {
		over_time_free(made);
		made = NULL;
	}
	if (d->next.span.n > 0)
		start_drawing(w);
	sweep(w);
	return made;
}

bool worker_drawing(const struct worker *w)
{
	return w->drawing.task || w->drawing.next.span.n > 0 || w->drawing.made;
}

void worker_hold(struct worker *w, const struct profile_counts *counts)
{
	if (w->held)
		profile_release(w->profile, &w->hold);
	w->held = counts != NULL;
	if (!counts)
		return;
	w->hold = *counts;
	profile_hold_also(w->profile, counts);
}

void worker_drop(struct worker *w, struct analysis *an)
{
	if (w->drawing.wanted == an)
		forget_drawing(&w->drawing);
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
		w->taken_ns = w->cost_ns;
	}
	if (w->waiting)
		start(w);
	return made;
}

int64_t worker_cost_ns(const struct worker *w)
{
	return w->taken_ns;
}

bool worker_busy(const struct worker *w)
{
	return w->task || w->waiting || w->made;
}
