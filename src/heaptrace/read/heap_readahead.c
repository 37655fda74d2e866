/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "heaptrace/read/heap_readahead.h"

#include "base/mem.h"
#include "base/task.h"
#include "heaptrace/read/heap_merge.h"

#include <pthread.h>
#include <stdlib.h>

/* Parcels on their way, and events of one: together they stay in a core's own cache, or nearly. */
#define N_PARCELS 4u
#define N_EVENTS  4096u

/* Between two looks at what was not read yet. */
#define LOOK_BYTES (1u << 20)

struct parcel {
	struct heap_brief event[N_EVENTS];
	struct heap_run run[N_EVENTS];
	struct heap_event full[N_EVENTS]; /* touched as far as there are any */
	uint32_t n_full;
	size_t n_events, n_runs;
	uint64_t n_bytes, unread;
};

struct heap_readahead {
	struct heap_merge *merge; /* borrowed */
	struct task *task;        /* NULL: no thread could be started, the taker does the work */
	struct parcel *parcel;    /* [N_PARCELS], used round and round; owned */
	const struct heap_event *left; /* of the merge's last run, not yet in a parcel */
	size_t n_left;
	uint32_t left_thread;
	uint64_t unread; /* as of a look when so many bytes had been begun: */
	uint64_t looked_bytes;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t moved;
	uint64_t n_made, n_taken; /* parcels; the one that is being looked at is not taken yet */
	bool holds;               /* the taker looks at one */
	bool stop;
};

/* Are all numbers of the event in its brief form? */
static inline bool is_brief(const struct heap_event *e)
{
	return (e->op == HEAP_ALLOC || e->op == HEAP_FREE) && (e->id | e->size) <= UINT32_MAX;
}

static inline void put(struct parcel *to, const struct heap_event *e)
{
	struct heap_brief *b = &to->event[to->n_events++];

	*b = (struct heap_brief){ e->time,  (uint32_t)e->id, (uint32_t)e->size,
				  e->stack, e->op,           e->kind };
	if (is_brief(e))
		return;
	b->op = HEAP_TOLD_IN_FULL;
	b->id = to->n_full;
	to->full[to->n_full++] = *e;
}

/* Copies what the merge says; an empty parcel is the end. */
static void fill(struct heap_readahead *f, struct parcel *to)
{
	to->n_events = to->n_runs = 0;
	to->n_full = 0;
	while (to->n_events < N_EVENTS) {
		size_t n = N_EVENTS - to->n_events;

		if (f->n_left == 0)
			f->left = heap_merge_next(f->merge, &f->left_thread, &f->n_left);
		if (!f->left)
			break;
		n = f->n_left < n ? f->n_left : n;
		to->run[to->n_runs++] = (struct heap_run){ f->left_thread, (uint32_t)n,
							   &to->event[to->n_events] };
		for (size_t i = 0; i < n; i++)
			put(to, &f->left[i]);
		f->left += n;
		f->n_left -= n;
	}
	to->n_bytes = heap_merge_done(f->merge);
	if (to->n_bytes - f->looked_bytes >= LOOK_BYTES) {
		f->looked_bytes = to->n_bytes;
		f->unread = heap_merge_unread(f->merge);
	}
	to->unread = f->unread;
}

static int make_parcels(void *arg)
{
	struct heap_readahead *f = arg;
	bool more = true;

	while (more) {
		struct parcel *to = &f->parcel[f->n_made % N_PARCELS];

		fill(f, to);
		pthread_mutex_lock(&f->lock);
		f->n_made++;
		pthread_cond_signal(&f->moved);
		while (f->n_made - f->n_taken >= N_PARCELS && !f->stop)
			pthread_cond_wait(&f->moved, &f->lock);
		more = to->n_runs > 0 && !f->stop;
		pthread_mutex_unlock(&f->lock);
	}
	return 0;
}

struct heap_readahead *heap_readahead_new(struct heap_merge *m)
{
	struct heap_readahead *f = xcalloc(1, sizeof(*f));

	f->merge = m;
	f->looked_bytes = heap_merge_done(m);
	f->parcel = xmalloc(N_PARCELS * sizeof(*f->parcel));
	pthread_mutex_init(&f->lock, NULL);
	pthread_cond_init(&f->moved, NULL);
	f->task = task_start(make_parcels, f, -1);
	return f;
}

void heap_readahead_free(struct heap_readahead *f)
{
	if (!f)
		return;
	pthread_mutex_lock(&f->lock);
	f->stop = true;
	pthread_cond_signal(&f->moved);
	pthread_mutex_unlock(&f->lock);
	task_join(f->task);
	pthread_cond_destroy(&f->moved);
	pthread_mutex_destroy(&f->lock);
	free(f->parcel);
	free(f);
}

/* Gives the last parcel back and waits for the next. */
static struct parcel *take(struct heap_readahead *f)
{
	struct parcel *p;

	if (!f->task) {
		fill(f, f->parcel);
		return f->parcel;
	}
	pthread_mutex_lock(&f->lock);
	f->n_taken += f->holds;
	f->holds = true;
	pthread_cond_signal(&f->moved);
	while (f->n_made == f->n_taken)
		pthread_cond_wait(&f->moved, &f->lock);
	p = &f->parcel[f->n_taken % N_PARCELS];
	pthread_mutex_unlock(&f->lock);
	return p;
}

struct heap_parcel heap_readahead_next(struct heap_readahead *f)
{
	const struct parcel *p = take(f);

	/* The end stays where it is: nothing comes behind it. */
	if (p->n_runs == 0)
		f->holds = false;
	return (struct heap_parcel){
		p->run, p->n_runs, p->full, p->n_events, p->n_bytes, p->unread
	};
}
