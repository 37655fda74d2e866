/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Inlined frames for locations; see inline_batch.h. Each thread holds the pen for a batch at a time. */
#include "config.h"

#include "symbols/inline_batch.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/task.h"
#include "profile/builder.h"
#include "symbols/inline_lookup.h"

#define RUN_MAX 64 /* frames that one address stands for */
#define BATCH   512

/* One module's addresses, which threads answer side by side. */
struct inline_job {
	struct profile *p;             /* borrowed */
	struct inline_lookup *inlines; /* borrowed */
	const uint32_t *locations;     /* location_id of each that was asked */
	const struct progress *progress;
	module_id module;
	size_t n_groups;
	_Atomic size_t next; /* group that nobody has taken yet */
};

/* What one thread has found out, and frames that wait for the pen. */
struct inline_worker {
	struct inline_job *job;
	struct inline_reader *reader; /* NULL: not needed so far; owned */
	VEC(uint32_t) functions; /* function_id by the reader's number; ID_NONE: not built yet */
	VEC(uint32_t) files;     /* string_id by the reader's number */
	struct {
		uint32_t location; /* location_id */
		uint32_t n;        /* frames */
	} of[BATCH];
	size_t n;                        /* of these */
	VEC(struct inline_frame) frames; /* of all, one run after the other */
	int rc;                          /* of handing in */
};

struct inline_batch {
	struct inline_job job;
	struct inline_worker first; /* keeps what it knows */
};

static string_id file_string(struct inline_worker *w, uint32_t file)
{
	if (file == INLINE_NONE)
		return (string_id){ 0 };
	while (w->files.n <= file) {
		const char *path = inline_reader_file(w->reader, (uint32_t)w->files.n);

		vec_push(&w->files, build_cstring(w->job->p, path).v);
	}
	return (string_id){ w->files.at[file] };
}

static function_id inlined_function(struct inline_worker *w, uint32_t number)
{
	const struct inline_function *f = inline_reader_function(w->reader, number);
	struct profile *p = w->job->p;
	uint32_t *known;

	while (w->functions.n <= number)
		vec_push(&w->functions, ID_NONE);
	known = &w->functions.at[number];
	if (*known == ID_NONE)
		*known = build_function(p, build_cstring(p, f->name), w->job->module, 0,
					file_string(w, f->declared), f->declared_line)
				 .v;
	return (function_id){ *known };
}

/* One run: the physical function has its name already. */
static void build_run(struct inline_worker *w, uint32_t location, const struct inline_frame *from,
		      uint32_t n_frames)
{
	const struct inline_function *outer = inline_reader_function(w->reader, from[0].function);
	struct profile *p = w->job->p;
	function_id physical = build_location_declared(p, (location_id){ location },
						       file_string(w, outer->declared),
						       outer->declared_line);
	struct frame run[RUN_MAX];

	for (uint32_t i = 0; i < n_frames; i++) {
		function_id f = i > 0 ? inlined_function(w, from[i].function) : physical;

		run[i] = (struct frame){ .function = f.v,
					 .file = file_string(w, from[i].file).v,
					 .line = from[i].line };
	}
	if (n_frames > 1 || run[0].line > 0)
		build_location_inlines(p, (location_id){ location }, run, n_frames);
}

static void hand_in_runs(struct inline_worker *w)
{
	const struct inline_frame *from = w->frames.at;
	struct profile *p = w->job->p;
	int rc;

	builder_begin(p);
	for (size_t i = 0; i < w->n; i++) {
		build_run(w, w->of[i].location, from, w->of[i].n);
		from += w->of[i].n;
	}
	w->n = w->frames.n = 0;
	rc = builder_end(p);
	if (w->rc == 0)
		w->rc = rc;
}

/* inline_take */
static void take_run(void *arg, size_t which, const struct inline_frame *frames, size_t n)
{
	struct inline_worker *w = arg;

	vec_reserve(&w->frames, w->frames.n + n);
	memcpy(w->frames.at + w->frames.n, frames, n * sizeof(*frames));
	w->frames.n += n;
	w->of[w->n].location = w->job->locations[which];
	w->of[w->n++].n = (uint32_t)n;
	if (w->n == BATCH)
		hand_in_runs(w);
}

/* task_fn: answers groups until there are no more. */
static int work_on_groups(void *arg)
{
	struct inline_worker *w = arg;
	struct inline_job *job = w->job;
	size_t group;

	if (!w->reader)
		w->reader = inline_reader_new(job->inlines, RUN_MAX);
	while (w->rc == 0 && (group = atomic_fetch_add(&job->next, 1)) < job->n_groups) {
		inline_reader_answer(w->reader, group, take_run, w);
		/* Function names that wait belong to the reader: they are handed in while it is there. */
		if (progress_cancelled(job->progress))
			w->rc = -ECANCELED;
	}
	hand_in_runs(w);
	return w->rc;
}

static void worker_done(struct inline_worker *w)
{
	inline_reader_free(w->reader);
	vec_done(&w->functions);
	vec_done(&w->files);
	vec_done(&w->frames);
}

struct inline_batch *inline_batch_new(struct profile *p, module_id module,
				      struct inline_lookup *inlines, bool again)
{
	struct inline_batch *x = xcalloc(1, sizeof(*x));

	x->job.p = p;
	x->job.inlines = inlines;
	x->job.module = module;
	x->first.job = &x->job;
	if (again)
		inline_lookup_keep(inlines);
	return x;
}

void inline_batch_free(struct inline_batch *x)
{
	if (!x)
		return;
	worker_done(&x->first);
	free(x);
}

/* A second thread helps where there is a second core and enough to do. */
static int run_job(struct inline_batch *x, unsigned threads)
{
	struct inline_worker *w = xcalloc(1, sizeof(*w));
	struct task *helper = NULL;
	int rc, helped;

	w->job = &x->job;
	if (threads > 1 && x->job.n_groups > 1 && sysconf(_SC_NPROCESSORS_ONLN) > 1)
		helper = task_start(work_on_groups, w, -1);
	rc = work_on_groups(&x->first);
	helped = task_join(helper);
	worker_done(w);
	free(w);
	return rc ? rc : helped;
}

int inline_batch_run(struct inline_batch *x, const uint64_t *offsets, const uint32_t *locations,
		     size_t n, unsigned threads, const struct progress *progress)
{
	x->job.locations = locations;
	x->job.progress = progress;
	x->job.next = 0;
	x->job.n_groups = inline_lookup_ask(x->job.inlines, offsets, n);
	return x->job.n_groups > 0 ? run_job(x, threads) : 0;
}
