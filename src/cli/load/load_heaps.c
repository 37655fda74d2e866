/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread looks for traces and starts another for each that it finds. What they read goes to one profile, whose pen passes between them. */
#include "config.h"

#include "cli/load/load_heaps.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "cli/options/options.h"
#include "formats/format.h"
#include "formats/heap_trace.h"
#include "input/dir_parts.h"
#include "input/input.h"
#include "profile/profile.h"
#include "query/core/lens.h"
#include "query/heap/tracer_overhead.h"

/* Between two looks for new traces, or at whether all have ended. */
#define LOOK_MS      100
/* Of more processes than that at once, those that come later wait until others have ended. */
#define MOST_READERS 64
#define MOST_NUMBER  65536u

/* One trace that is followed. */
struct reader {
	const struct load_heaps *of; /* borrowed */
	char *path;                  /* owned */
	struct progress progress;    /* how far it is; cancelling ends it */
	struct task *task;
};

struct load_heaps {
	struct profile *profile; /* borrowed, as are */
	capture_id capture;
	const char *directory;
	const struct read_options *options;
	struct progress *all;         /* of the whole recording; borrowed */
	struct progress looking;      /* of the thread that looks for traces: likewise */
	struct task *looks;           /* it */
	VEC(struct reader *) readers; /* its own until it has ended, as are */
	VEC(bool) taken;              /* by number: has, or had, a reader */
	uint32_t read;                /* traces up to this number are read by others; 0: none */
	int rc;                       /* how those ended whose readers are gone; 0: well */
	bool any;                     /* there was one at all */
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
		if (o->scratch)
			input_scratch(in);
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
	struct tracer_overhead_share share;

	if (!tracer_overhead_share(p, &share))
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
	struct reader *r = arg;
	struct load_heaps *h = (struct load_heaps *)r->of;
	int rc;

	builder_begin(h->profile);
	build_part_aside(h->profile, h->capture, r->path, format_heap_trace.name);
	rc = builder_end(h->profile);
	if (rc == 0)
		rc = read_trace(h->profile, h->capture, r->path, h->options, &r->progress);
	builder_begin(h->profile);
	build_part_done(h->profile);
	builder_end(h->profile);
	return rc;
}

/* More than recorders make are left out, too. */
static bool is_taken(const struct load_heaps *h, uint32_t number)
{
	return number <= h->read || number > MOST_NUMBER ||
	       (number < h->taken.n && h->taken.at[number]);
}

/* A trace that has begun and that nobody reads gets a reader. */
static void take_trace(struct load_heaps *h, const char *path, uint32_t number)
{
	struct reader *r;
	struct stat st;

	if (h->readers.n == MOST_READERS || stat(path, &st) || st.st_size == 0)
		return;
	r = xcalloc(1, sizeof(*r));
	r->of = h;
	r->path = xstrdup(path);
	r->task = task_start(follow_trace, r, -1);
	if (r->task) {
		vec_push(&h->readers, r);
		while (h->taken.n <= number)
			vec_push(&h->taken, false);
		h->taken.at[number] = h->any = true;
		return;
	}
	free(r->path);
	free(r);
}

/* Waits for the reader. */
static void end_reader(struct load_heaps *h, struct reader *r)
{
	int rc = task_join(r->task);

	h->rc = h->rc ? h->rc : rc;
	free(r->path);
	free(r);
}

/* Others take the places of those that have ended. */
static void end_finished(struct load_heaps *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->readers.n; i++) {
		struct reader *r = h->readers.at[i];

		if (task_finished(r->task))
			end_reader(h, r);
		else
			h->readers.at[n++] = r;
	}
	h->readers.n = n;
}

/* How far the one is behind that is most. */
static void tell_behind(struct load_heaps *h)
{
	uint32_t most = 0;

	for (size_t i = 0; i < h->readers.n; i++) {
		uint32_t ms = progress_behind_ms(&h->readers.at[i]->progress);

		most = ms > most ? ms : most;
	}
	atomic_store(&h->all->beside_ms, most);
}

static void cancel_readers(struct load_heaps *h)
{
	for (size_t i = 0; i < h->readers.n; i++)
		progress_cancel(&h->readers.at[i]->progress);
}

/* Gives readers to traces that have none. True: there are such for which there is no place. */
static bool look_once(struct load_heaps *h)
{
	struct dir_parts parts = { 0 };
	bool more = false;

	end_finished(h);
	tell_behind(h);
	dir_parts_find(&parts, DIR_PARTS_HEAPS, h->directory);
	for (size_t i = 0; i < parts.number.n; i++) {
		char *path;

		if (is_taken(h, parts.number.at[i]))
			continue;
		path = dir_parts_path(&parts, i);
		take_trace(h, path, parts.number.at[i]);
		more |= h->readers.n == MOST_READERS;
		free(path);
	}
	dir_parts_done(&parts);
	return more;
}

static int look(void *arg)
{
	struct load_heaps *h = arg;
	bool last, more;

	do {
		last = progress_cancelled(&h->looking);
		more = look_once(h);
		if (!last || more)
			poll(NULL, 0, LOOK_MS);
	} while ((!last || more) && !progress_cancelled(h->all));
	return 0;
}

struct load_heaps *load_heaps_follow(struct profile *p, capture_id c, const char *directory,
				     const char *read, const struct read_options *o,
				     struct progress *all)
{
	struct load_heaps *h = xcalloc(1, sizeof(*h));
	const char *slash = read ? strrchr(read, '/') : NULL;

	h->profile = p;
	h->capture = c;
	h->directory = directory;
	h->options = o;
	h->all = all;
	if (read)
		dir_parts_name(DIR_PARTS_HEAPS, slash ? slash + 1 : read, &h->read);
	h->looks = task_start(look, h, -1);
	if (h->looks)
		return h;
	free(h);
	return NULL;
}

/* Of the thread that looks, too, which has more to begin where there are many. */
static bool all_ended(const struct load_heaps *h)
{
	if (!task_finished(h->looks))
		return false;
	for (size_t i = 0; i < h->readers.n; i++)
		if (!task_finished(h->readers.at[i]->task))
			return false;
	return true;
}

int load_heaps_end(struct load_heaps *h)
{
	int rc;

	if (!h)
		return 0;
	progress_cancel(&h->looking);
	while (!all_ended(h) && !progress_cancelled(h->all)) {
		poll(NULL, 0, LOOK_MS);
		if (task_finished(h->looks))
			tell_behind(h);
	}
	rc = all_ended(h) ? 0 : -ECANCELED;
	task_join(h->looks);
	if (rc)
		cancel_readers(h);
	if (h->any && rc == 0)
		state_tracer(h->profile, h->capture);
	for (size_t i = 0; i < h->readers.n; i++)
		end_reader(h, h->readers.at[i]);
	rc = rc ? rc : h->rc;
	atomic_store(&h->all->beside_ms, 0);
	vec_done(&h->readers);
	vec_done(&h->taken);
	free(h);
	return rc;
}

/* Is a file a directory with samples of the CPU and, beside them, a heap of the same run? */
static bool is_of_both(const struct options *o)
{
	bool both = false;

	for (size_t i = 0; i < o->files.n && !both; i++) {
		struct dir_parts parts = { 0 };

		dir_parts_find(&parts, DIR_PARTS_HEAPS, o->files.at[i]);
		both = parts.number.n > 0;
		dir_parts_done(&parts);
	}
	return both;
}

struct lens_wish load_heaps_lens(const struct options *o)
{
	struct lens_wish w = query_options_of(o);

	w.hides_tracer = !o->tracer && is_of_both(o);
	return w;
}
