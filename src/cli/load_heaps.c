/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread looks for traces and starts another for each that it finds. What they read goes to one profile, whose pen passes between them. */
#include "config.h"

#include "load_heaps.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "dir_parts.h"
#include "err.h"
#include "fmt.h"
#include "format.h"
#include "heap_trace.h"
#include "heap_tracer.h"
#include "input.h"
#include "lens.h"
#include "mem.h"
#include "profile.h"
#include "task.h"

/* Between two looks for new traces, or at whether all have ended. */
#define LOOK_MS      100
/* Of more processes than that at once, those that come later are read when the recording is opened. */
#define MOST_READERS 64

/* One trace that is followed. */
struct reader {
	const struct load_heaps *all; /* borrowed */
	char *path;                   /* owned */
	struct task *task;
};

struct load_heaps {
	struct profile *profile; /* borrowed, as are */
	capture_id capture;
	const char *directory;
	const struct read_options *options;
	struct progress progress;     /* of all readers: cancelling ends them */
	struct progress looking;      /* of the thread that looks for traces: likewise */
	struct task *looks;           /* it */
	VEC(struct reader *) readers; /* its own until it has ended */
};

/* What cannot be read is said of the recording. */
static int read_trace(struct profile *p, capture_id c, const char *path,
		      const struct read_options *o, struct progress *progress)
{
	struct err e = ERR_INIT;
	struct input *in = NULL;
	const uint8_t *bytes;
	size_t n;
	int rc = input_open(path, &in, &e);

	/* One that is not packed is read where it is. */
	if (!rc)
		rc = input_peek(in, 1, &bytes, &n, &e);
	if (!rc) {
		input_watch(in, progress);
		rc = format_heap_trace.read(in, p, c, o, progress, &e);
	}
	if (rc && rc != -ECANCELED) {
		builder_begin(p);
		build_fact(p, c, "losses", "trace", FACT_LOSS, "%s", err_text(&e));
		rc = builder_end(p);
	}
	err_clear(&e);
	input_close(in);
	return rc;
}

/* A part of the samples of both kinds is of neither the program nor what it called. */
static void state_tracer(struct profile *p, capture_id c)
{
	char part[FMT_SIZE], *event;
	struct heap_tracer_share share;

	if (!heap_tracer_share(p, &share))
		return;
	event = metric_name(p, share.metric);
	builder_begin(p);
	build_fact(
		p, c, "file", "tracer", FACT_PLAIN,
		"%s %% of %s is what the recorder of the heap took itself, in the program and on its thread",
		fmt_percent(part, share.weight, share.total), event);
	builder_end(p);
	free(event);
}

int load_heaps_read(struct profile *p, capture_id c, const char *directory,
		    const struct read_options *o, struct progress *progress)
{
	struct read_options once = *o;
	struct dir_parts parts = { 0 };
	int rc = 0;

	once.follow = false; /* it would keep what comes behind it waiting */
	dir_parts_find(&parts, DIR_PARTS_HEAPS, directory);
	for (size_t i = 0; i < parts.number.n && rc == 0; i++) {
		char *path = dir_parts_path(&parts, i);

		builder_begin(p);
		build_part(p, c, path, format_heap_trace.name);
		rc = builder_end(p);
		if (rc == 0)
			rc = read_trace(p, c, path, &once, progress);
		free(path);
	}
	if (parts.number.n > 0 && rc == 0)
		state_tracer(p, c);
	dir_parts_done(&parts);
	return rc;
}

static int follow_trace(void *arg)
{
	const struct reader *r = arg;
	struct load_heaps *h = (struct load_heaps *)r->all;
	int rc;

	builder_begin(h->profile);
	build_part_aside(h->profile, h->capture, r->path, format_heap_trace.name);
	rc = builder_end(h->profile);
	if (rc == 0)
		rc = read_trace(h->profile, h->capture, r->path, h->options, &h->progress);
	builder_begin(h->profile);
	build_part_done(h->profile);
	builder_end(h->profile);
	return rc;
}

static bool is_read(const struct load_heaps *h, const char *path)
{
	for (size_t i = 0; i < h->readers.n; i++)
		if (strcmp(h->readers.at[i]->path, path) == 0)
			return true;
	return false;
}

/* A trace that has begun and that nobody reads gets a reader. */
static void take_trace(struct load_heaps *h, const char *path)
{
	struct reader *r;
	struct stat st;

	if (is_read(h, path) || h->readers.n == MOST_READERS || stat(path, &st) || st.st_size == 0)
		return;
	r = xcalloc(1, sizeof(*r));
	r->all = h;
	r->path = xstrdup(path);
	r->task = task_start(follow_trace, r, -1);
	if (r->task) {
		vec_push(&h->readers, r);
		return;
	}
	free(r->path);
	free(r);
}

static int look(void *arg)
{
	struct load_heaps *h = arg;
	bool last;

	do {
		struct dir_parts parts = { 0 };

		last = progress_cancelled(&h->looking);
		dir_parts_find(&parts, DIR_PARTS_HEAPS, h->directory);
		for (size_t i = 0; i < parts.number.n; i++) {
			char *path = dir_parts_path(&parts, i);

			take_trace(h, path);
			free(path);
		}
		dir_parts_done(&parts);
		if (!last)
			poll(NULL, 0, LOOK_MS);
	} while (!last);
	return 0;
}

struct load_heaps *load_heaps_follow(struct profile *p, capture_id c, const char *directory,
				     const struct read_options *o)
{
	struct load_heaps *h = xcalloc(1, sizeof(*h));

	h->profile = p;
	h->capture = c;
	h->directory = directory;
	h->options = o;
	h->looks = task_start(look, h, -1);
	if (h->looks)
		return h;
	free(h);
	return NULL;
}

static bool all_ended(const struct load_heaps *h)
{
	for (size_t i = 0; i < h->readers.n; i++)
		if (!task_finished(h->readers.at[i]->task))
			return false;
	return true;
}

int load_heaps_end(struct load_heaps *h, const struct progress *progress)
{
	int rc = 0;

	if (!h)
		return 0;
	progress_cancel(&h->looking);
	task_join(h->looks);
	while (!all_ended(h) && !progress_cancelled(progress))
		poll(NULL, 0, LOOK_MS);
	if (!all_ended(h)) {
		progress_cancel(&h->progress);
		rc = -ECANCELED;
	}
	if (h->readers.n > 0 && rc == 0)
		state_tracer(h->profile, h->capture);
	for (size_t i = 0; i < h->readers.n; i++) {
		struct reader *r = h->readers.at[i];
		int ended = task_join(r->task);

		rc = rc ? rc : ended;
		free(r->path);
		free(r);
	}
	vec_done(&h->readers);
	free(h);
	return rc;
}
