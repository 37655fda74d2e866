/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * close_range(2) makes the table of the calling thread its own (CLOSE_RANGE_UNSHARE) where filters of containers forbid
 * unshare(2).
 */
#include "config.h"

#include "record/cpu/event_fds.h"

#include <errno.h>
#include <limits.h>
#include <linux/close_range.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/task.h"

#define MOST_USUAL  512 /* where the limit is not known */
#define KEEPERS_MAX 256 /* a limit as low as theirs would be is no matter of many threads */

/* A thread with a table of files of its own. */
struct keeper {
	int *fds; /* [n] ascending, of its own table; owned */
	size_t n;
	sem_t asked, done;
	event_file_fn *each; /* what is asked; NULL: to end */
	void *arg;
	int rc; /* of that; of its beginning at first */
	struct task *task;
};

struct event_fds {
	VEC(int) fds; /* in the table of the process */
	VEC(struct keeper *) keepers;
	size_t most;
};

static size_t usual_most(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return MOST_USUAL;
	return limit.rlim_cur > 2 ? (size_t)limit.rlim_cur / 2 : 1;
}

struct event_fds *event_fds_new(size_t most)
{
	struct event_fds *f = xcalloc(1, sizeof(*f));

	f->most = most ? most : usual_most();
	return f;
}

static int each_of(const int *fds, size_t n, event_file_fn *each, void *arg)
{
	int rc = 0;

	for (size_t i = 0; i < n && rc == 0; i++)
		rc = each(fds[i], arg);
	return rc;
}

static void wait_for(sem_t *s)
{
	while (sem_wait(s) && errno == EINTR)
		;
}

static int close_range_of(unsigned from, unsigned to, unsigned flags)
{
	return syscall(SYS_close_range, from, to, flags) == 0 ? 0 : -errno;
}

/* A table of our own with nothing in it but what we keep: whoever waits for the end of another file is not kept waiting. */
static int take_table(const struct keeper *k)
{
	unsigned next = 0;
	int rc = close_range_of((unsigned)k->fds[k->n - 1] + 1, UINT_MAX, CLOSE_RANGE_UNSHARE);

	for (size_t i = 0; i < k->n && rc == 0; i++) {
		unsigned fd = (unsigned)k->fds[i];

		if (fd > next)
			rc = close_range_of(next, fd - 1, 0);
		next = fd + 1;
	}
	return rc;
}

static int close_one(int fd, void *arg)
{
	(void)arg;
	close(fd);
	return 0;
}

static int keep(void *arg)
{
	struct keeper *k = arg;
	bool own = false;

	k->rc = take_table(k);
	own = k->rc == 0;
	sem_post(&k->done);
	while (own) {
		wait_for(&k->asked);
		if (!k->each)
			break;
		k->rc = each_of(k->fds, k->n, k->each, k->arg);
		sem_post(&k->done);
	}
	if (own)
		each_of(k->fds, k->n, close_one, NULL);
	return 0;
}

static int ask(struct keeper *k, event_file_fn *each, void *arg)
{
	k->each = each;
	k->arg = arg;
	sem_post(&k->asked);
	wait_for(&k->done);
	return k->rc;
}

/* The task has ended, or was never there. */
static void keeper_free(struct keeper *k)
{
	sem_destroy(&k->asked);
	sem_destroy(&k->done);
	free(k->fds);
	free(k);
}

static int compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static struct keeper *keeper_new(const int *fds, size_t n)
{
	struct keeper *k = xcalloc(1, sizeof(*k));

	k->fds = xreallocarray(NULL, n, sizeof(*fds));
	memcpy(k->fds, fds, n * sizeof(*fds));
	qsort(k->fds, n, sizeof(*fds), compare_fds);
	k->n = n;
	sem_init(&k->asked, 0, 0);
	sem_init(&k->done, 0, 0);
	return k;
}

/* Hands all of the process's table to a thread. */
static int begin_keeper(struct event_fds *f)
{
	struct keeper *k = keeper_new(f->fds.at, f->fds.n);
	int rc = -EAGAIN;

	k->task = task_start(keep, k, -1);
	if (k->task) {
		wait_for(&k->done);
		rc = k->rc;
	}
	if (rc) {
		task_join(k->task);
		keeper_free(k);
		return rc;
	}
	each_of(f->fds.at, f->fds.n, close_one, NULL);
	vec_clear(&f->fds);
	vec_push(&f->keepers, k);
	return 0;
}

void event_fds_free(struct event_fds *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->keepers.n; i++) {
		struct keeper *k = f->keepers.at[i];

		k->each = NULL;
		sem_post(&k->asked);
		task_join(k->task);
		keeper_free(k);
	}
	each_of(f->fds.at, f->fds.n, close_one, NULL);
	vec_done(&f->keepers);
	vec_done(&f->fds);
	free(f);
}

void event_fds_add(struct event_fds *f, int fd)
{
	vec_push(&f->fds, fd);
}

int event_fds_make_room(struct event_fds *f)
{
	if (f->fds.n < f->most)
		return 0;
	return f->keepers.n < KEEPERS_MAX ? begin_keeper(f) : -EMFILE;
}

size_t event_fds_count(const struct event_fds *f)
{
	size_t n = f->fds.n;

	for (size_t i = 0; i < f->keepers.n; i++)
		n += f->keepers.at[i]->n;
	return n;
}

int event_fds_each(struct event_fds *f, event_file_fn *each, void *arg)
{
	int rc = 0;

	for (size_t i = 0; i < f->keepers.n && rc == 0; i++)
		rc = ask(f->keepers.at[i], each, arg);
	return rc ? rc : each_of(f->fds.at, f->fds.n, each, arg);
}
