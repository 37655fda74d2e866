/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "perf/file/readahead.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "perf/file/perf_stream.h"

#include <pthread.h>
#include <stdlib.h>

/* Windows that may wait: together with the one being filled they fit into the cache that cores share. */
#define N_AHEAD 3u

/* A window, and what the stream said when it had read it. */
struct fetched {
	int rc; /* of perf_stream_next() */
	struct perf_records window;
	uint64_t done, n_records;
	const uint8_t *tracing; /* [n_tracing]; all there when it is there at all */
	size_t n_tracing;
};

struct readahead {
	struct perf_stream *stream; /* the thread's, while there is one */
	struct task *task;          /* NULL: the taker does the work */
	struct fetched last;        /* the taker's */
	unsigned kept;              /* the taker's: what the next call leaves as it is */
	struct err broken;          /* why the end is one; written before that is handed over */
	pthread_mutex_t lock;       /* guards what follows */
	pthread_cond_t moved;
	struct fetched ring[N_AHEAD];
	uint64_t n_made, n_taken;         /* windows */
	const struct perf_events *events; /* as told */
	unsigned held;                    /* of those taken, so many last ones may be looked at */
	bool stop;
};

static void fetch(struct readahead *a, struct fetched *to)
{
	to->rc = perf_stream_next(a->stream, &to->window, &a->broken);
	to->done = perf_stream_done(a->stream);
	to->n_records = perf_stream_stats(a->stream)->n_records;
	to->tracing = perf_stream_tracing(a->stream, &to->n_tracing);
}

/* Waits until another window may be filled. NULL: no more is wanted. The lock is held. */
static struct fetched *wait_for_room(struct readahead *a)
{
	while (!a->stop && (a->n_made - a->n_taken == N_AHEAD ||
			    a->held + (a->n_made - a->n_taken) > PERF_WINDOWS_MOST))
		pthread_cond_wait(&a->moved, &a->lock);
	/* What waits is not to be filled anew either. From here on, windows are only let go of. */
	perf_stream_digest(a->stream, a->events);
	perf_stream_keep(a->stream, a->held + (unsigned)(a->n_made - a->n_taken));
	return a->stop ? NULL : &a->ring[a->n_made % N_AHEAD];
}

static int fetch_ahead(void *arg)
{
	struct readahead *a = arg;
	struct fetched *to;

	pthread_mutex_lock(&a->lock);
	while ((to = wait_for_room(a)) != NULL) {
		pthread_mutex_unlock(&a->lock);
		fetch(a, to);
		pthread_mutex_lock(&a->lock);
		a->n_made++;
		a->stop = a->stop || to->rc <= 0;
		pthread_cond_signal(&a->moved);
	}
	pthread_mutex_unlock(&a->lock);
	return 0;
}

struct readahead *readahead_new(struct perf_stream *s, bool thread)
{
	struct readahead *a = xcalloc(1, sizeof(*a));

	a->stream = s;
	a->held = a->kept = 1;
	pthread_mutex_init(&a->lock, NULL);
	pthread_cond_init(&a->moved, NULL);
	a->task = thread ? task_start(fetch_ahead, a, -1) : NULL;
	return a;
}

void readahead_free(struct readahead *a)
{
	if (!a)
		return;
	pthread_mutex_lock(&a->lock);
	a->stop = true;
	pthread_cond_signal(&a->moved);
	pthread_mutex_unlock(&a->lock);
	task_join(a->task);
	pthread_cond_destroy(&a->moved);
	pthread_mutex_destroy(&a->lock);
	err_clear(&a->broken);
	free(a);
}

int readahead_next(struct readahead *a, struct perf_records *w, struct err *e)
{
	if (!a->task) {
		fetch(a, &a->last);
	} else {
		pthread_mutex_lock(&a->lock);
		a->held = a->kept;
		pthread_cond_signal(&a->moved);
		while (a->n_made == a->n_taken)
			pthread_cond_wait(&a->moved, &a->lock);
		a->last = a->ring[a->n_taken % N_AHEAD];
		/* The end stays where it is: nothing comes behind it. */
		if (a->last.rc > 0) {
			a->n_taken++;
			a->held++;
		}
		pthread_cond_signal(&a->moved);
		pthread_mutex_unlock(&a->lock);
	}
	if (a->last.rc < 0)
		return err_set(e, a->last.rc, "%s", err_text(&a->broken));
	*w = a->last.window;
	return a->last.rc;
}

void readahead_keep(struct readahead *a, unsigned n)
{
	a->kept = n;
	if (!a->task)
		perf_stream_keep(a->stream, n);
}

void readahead_digest(struct readahead *a, const struct perf_events *e)
{
	pthread_mutex_lock(&a->lock);
	a->events = e;
	pthread_mutex_unlock(&a->lock);
}

uint64_t readahead_done(const struct readahead *a)
{
	return a->last.done;
}

uint64_t readahead_n_records(const struct readahead *a)
{
	return a->last.n_records;
}

const uint8_t *readahead_tracing(const struct readahead *a, size_t *n)
{
	*n = a->last.n_tracing;
	return a->last.tracing;
}
