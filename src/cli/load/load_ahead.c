/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A task per file, one more of them at a time than there are processors: the reader waits for memory, too. */
#include "config.h"

#include "cli/load/load_ahead.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "formats/format.h"
#include "input/input.h"

/* Files at a time: each takes some times INPUT_AHEAD_BYTES at most. */
#define MOST_SLOTS 8

struct slot {
	const char *path;                /* borrowed */
	const struct progress *progress; /* borrowed */
	struct load_ready ready;         /* the task's, until it has ended */
	void *spent; /* that of a file before, and of which format; the task's, until it has ended; or NULL */
	const struct format *spent_format;
	struct task *task; /* NULL: joined, or none could be started */
};

struct load_ahead {
	const char *const *paths; /* [n_paths] borrowed */
	size_t n_paths;
	size_t n_begun; /* of them: they have or had a slot */
	size_t n_slots;
	struct slot slots[MOST_SLOTS]; /* [n_slots] of file i it is i % n_slots */
};

static void drop_spent(struct slot *s)
{
	if (s->spent)
		s->spent_format->discard(s->spent);
	s->spent = NULL;
}

/* Of large files only the beginning is unpacked. What is wrong with a file is found again when it is read. */
static void prepare(struct slot *s)
{
	struct input *in = s->ready.in;
	struct err later = ERR_INIT;

	input_ahead(in);
	if (!input_all_ahead(in) &&
	    !(input_seekable(in) && input_file_bytes(in) <= INPUT_AHEAD_BYTES))
		return;
	s->ready.format = format_probe(in, &later);
	if (s->ready.format && s->ready.format->prepare) {
		if (s->ready.format != s->spent_format)
			drop_spent(s);
		s->ready.prepared = s->ready.format->prepare(in, s->spent);
		s->spent = NULL;
	}
	err_clear(&later);
}

static int open_ahead(void *slot)
{
	struct slot *s = slot;
	struct err later = ERR_INIT;

	if (input_open(s->path, &s->ready.in, &later) == 0) {
		input_watch(s->ready.in, s->progress);
		prepare(s);
	}
	err_clear(&later);
	return 0;
}

/* The next file's task, in its slot. */
static void begin_next(struct load_ahead *a)
{
	struct slot *s = &a->slots[a->n_begun % a->n_slots];

	if (a->n_begun == a->n_paths)
		return;
	s->path = a->paths[a->n_begun++];
	s->ready = (struct load_ready){ 0 };
	s->task = task_start(open_ahead, s, -1);
}

struct load_ahead *load_ahead_new(const char *const *paths, size_t n_paths,
				  const struct progress *progress)
{
	struct load_ahead *a = xcalloc(1, sizeof(*a));
	long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

	a->paths = paths;
	a->n_paths = n_paths;
	a->n_slots = n_cpus < 1 ? 2 : n_cpus >= MOST_SLOTS ? MOST_SLOTS : (size_t)n_cpus + 1;
	for (size_t i = 0; i < a->n_slots; i++) {
		a->slots[i].progress = progress;
		begin_next(a);
	}
	return a;
}

/* What the file before is done with goes to the task that takes its slot. */
static void pass_on(struct slot *last)
{
	if (!last->ready.prepared)
		return;
	drop_spent(last);
	last->spent = last->ready.prepared;
	last->spent_format = last->ready.format;
	last->ready.prepared = NULL;
}

struct load_ready load_ahead_take(struct load_ahead *a, size_t i)
{
	struct slot *s = &a->slots[i % a->n_slots];
	struct load_ready ready;

	if (i > 0) {
		pass_on(&a->slots[(i - 1) % a->n_slots]);
		begin_next(a);
	}
	task_join(s->task);
	s->task = NULL;
	ready = s->ready;
	s->ready.in = NULL;
	return ready;
}

void load_ahead_free(struct load_ahead *a)
{
	for (size_t i = 0; a && i < a->n_slots; i++) {
		struct slot *s = &a->slots[i];

		task_join(s->task);
		pass_on(s);
		drop_spent(s);
		input_close(s->ready.in);
	}
	free(a);
}
