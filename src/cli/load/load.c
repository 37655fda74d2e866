/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One worker reads the inputs one after the other into the same profile, while other threads unpack the next ones. The
 * worker alone writes `error`, and others look at that only after the task has finished.
 */
#include "config.h"

#include "cli/load/load.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/consulted_files.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/process.h"
#include "base/system_limits.h"
#include "base/task.h"
#include "cli/load/export_file.h"
#include "cli/load/live_save.h"
#include "cli/load/load_ahead.h"
#include "cli/load/load_heaps.h"
#include "cli/load/load_index.h"
#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "code/annotate.h"
#include "formats/format.h"
#include "formats/heap_trace.h"
#include "formats/perf_data.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/core/filter.h"
#include "query/core/filter_term.h"
#include "query/core/name_rules.h"
#include "record/attach/heap_salvage.h"
#include "symbols/resolver.h"
#include "tui/app/tui.h"

/* A person hears of progress when reading takes longer than this, and then as often. */
#define TELL_AFTER_MS 400
#define TELL_EVERY_MS 200
/* Between two looks at whether the recorder has ended. */
#define LOOK_MS       100

struct load {
	const char *const *paths; /* [n_paths] borrowed from the options */
	size_t n_paths;
	size_t n_before; /* of a comparison's two sides, the files before; else all */
	struct resolver_options resolve;       /* for the readers */
	struct read_options read;              /* for the readers too */
	struct annotate_options annotate;      /* where code and sources are */
	struct profile *profile;               /* owned */
	const char *called;                    /* what the only file is called, or NULL; borrowed */
	struct progress progress;              /* of the file being read */
	struct err error;                      /* the worker's, until it has finished */
	struct task *task;                     /* NULL once joined */
	char *title;                           /* owned */
	int wake_fd;                           /* written when the worker is done */
	_Atomic(const struct format *) format; /* of what is read; NULL: not known yet */
	int recorder; /* process that writes one heap trace after the other; 0: none */
	struct resolver_options code; /* as resolve, for annotations */
	struct consulted_files *
		consulted; /* files that symbols were looked for in; owned; NULL: no index is wanted */
	struct load_index *index; /* the worker's, until it has finished; or NULL */
	bool hurries;             /* a person who leaves does not wait for an index to be written */
};

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* As long as there is a recorder, programs may begin whose heaps are to be seen. */
static void wait_recorder(struct load *l)
{
	atomic_store(&l->progress.grows, true);
	while (!process_has_ended(l->recorder) && !progress_cancelled(&l->progress))
		poll(NULL, 0, LOOK_MS);
	atomic_store(&l->progress.grows, false);
}

/* The first heap trace that a recorder of ours wrote, and those that come beside it. */
static int read_heaps(struct load *l, const char *path, struct input *in, capture_id c)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup(".");
	struct load_heaps *heaps = load_heaps_follow(l->profile, c, directory, path, &l->read,
						     &l->progress);
	int rc = format_heap_trace.read(in, l->profile, c, &l->read, &l->progress, &l->error);
	int ended;

	if (rc == 0)
		wait_recorder(l);
	ended = load_heaps_end(heaps);
	free(directory);
	return rc ? rc : ended;
}

/* The input of a capture, and what lies beside it. */
static int read_capture(struct load *l, const struct format *format, struct input *in, capture_id c,
			void *prepared)
{
	struct read_options read = l->read;
	const char *directory = input_directory(in);
	struct load_heaps *heaps = NULL;
	int rc, ended;

	if (directory && input_follows(in))
		heaps = load_heaps_follow(l->profile, c, directory, NULL, &l->read, &l->progress);
	read.prepared = prepared;
	rc = format->read(in, l->profile, c, &read, &l->progress, &l->error);
	ended = load_heaps_end(heaps);
	if (rc == 0)
		rc = ended;
	if (rc == 0 && directory && !heaps)
		rc = load_heaps_read(l->profile, c, directory, &l->read, &l->progress);
	return rc;
}

/* The input, or the index of it. */
static int read_or_recall(struct load *l, const char *path, const struct format *format,
			  struct input *in, capture_id c, void *prepared)
{
	int64_t begin = now_ns();
	int rc;

	l->index = l->consulted ? load_index_new(path, &l->read) : NULL;
	rc = l->index ? load_index_read(l->index, l->profile, c, &l->progress) : 0;
	if (rc == -EIO)
		err_set(&l->error, rc, "%s: its index changed while it was read; open it again",
			path);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	rc = read_capture(l, format, in, c, prepared);
	if (rc == 0 && l->index)
		load_index_write(l->index, l->profile, now_ns() - begin);
	return rc;
}

/* Takes over what is ready. */
static int read_one(struct load *l, const char *path, struct load_ready ready)
{
	const struct format *format;
	struct input *in = ready.in;
	capture_id capture;
	int rc = in ? 0 : input_open(path, &in, &l->error);

	if (rc)
		return rc;
	input_watch(in, &l->progress);
	input_follow(in, l->read.live);
	if (l->read.scratch)
		input_scratch(in);
	format = ready.prepared ? ready.format : format_probe(in, &l->error);
	if (!format) {
		input_close(in);
		return -EBADMSG;
	}
	atomic_store(&l->format, format);
	builder_begin(l->profile);
	capture = build_capture(l->profile, l->called ? l->called : path, format->name);
	rc = builder_end(l->profile);
	if (!rc && l->recorder && format == &format_heap_trace)
		rc = read_heaps(l, path, in, capture);
	else if (!rc)
		rc = read_or_recall(l, path, format, in, capture, ready.prepared);
	input_close(in);
	return rc;
}

/* Which side is read from now on: compilers number functions anew. */
static void set_apart(struct load *l, bool (*numbered)(const char *name), bool after)
{
	builder_begin(l->profile);
	build_apart(l->profile, numbered, after);
	builder_end(l->profile);
}

static int read_all(void *arg)
{
	struct load *l = arg;
	struct load_ahead *ahead = NULL;
	int rc = 0;

	if (l->n_paths > 1 && !l->read.live && !l->recorder)
		ahead = load_ahead_new(l->paths, l->n_paths, &l->progress);
	for (size_t i = 0; i < l->n_paths && rc == 0; i++) {
		struct load_ready ready = { 0 };

		if (ahead)
			ready = load_ahead_take(ahead, i);
		if (l->n_before < l->n_paths)
			set_apart(l, name_rules_numbered, i >= l->n_before);
		rc = read_one(l, l->paths[i], ready);
		if (rc && rc != -ECANCELED)
			err_set(&l->error, rc, "%s: %s", l->paths[i], strerror(-rc));
	}
	load_ahead_free(ahead);
	if (l->n_before < l->n_paths)
		set_apart(l, NULL, false);
	if (!l->read.live) {
		builder_begin(l->profile);
		build_stacks_end(l->profile);
		builder_end(l->profile);
	}
	return rc == -ECANCELED ? 0 : rc; /* what is there is kept */
}

static char *make_title(const struct load_wish *w)
{
	const char *slash = strrchr(w->paths[0], '/');
	const char *name = slash && slash[1] ? slash + 1 : w->paths[0];

	if (w->title)
		return xstrdup(w->title);
	if (!strcmp(name, "-"))
		name = "standard input";
	return w->n_paths == 1 ? xstrdup(name) : xasprintf("%s + %zu more", name, w->n_paths - 1);
}

/* What tables of the profile may take: what the user says, else half of what there is. */
static uint64_t memory_bytes(void)
{
	const char *said = getenv("PROFTOP_MEMORY");
	uint64_t bytes;

	if (said && *said && system_limits_parse_bytes(said, &bytes))
		return bytes > 0 ? bytes : 1;
	return system_limits_memory_bytes() / 2;
}

/* Only a person watches something grow; of several files one would keep the others waiting. */
static bool follows(const struct options *o, const struct load_wish *w)
{
	return o->command == &cmd_explore && w->n_paths == 1 && !o->keys && !o->cols &&
	       tui_possible(NULL) == 0;
}

static int check_inputs(const struct load_wish *w, struct err *e)
{
	size_t n_stdin = 0;

	for (size_t i = 0; i < w->n_paths; i++)
		n_stdin += !strcmp(w->paths[i], "-");
	if (n_stdin > 1)
		return err_set(e, -EINVAL, "standard input (-) can be read only once");
	if (n_stdin && isatty(STDIN_FILENO))
		return err_set(e, -EINVAL,
			       "standard input is the terminal; pipe a profile into: proftop -");
	return 0;
}

/* Collapsed stacks are as scripts of others make them, without inlined functions; formats with a place for them have them. */
static bool leaves_inlined_out(const struct options *o)
{
	const struct format *format = o->to ? format_by_name(o->to) : NULL;

	return o->command == &cmd_export && !o->inlined && !(format && format->inlined);
}

/* Lines come from the same debug information as inlined functions, which --no-inline leaves unread where nobody sees lines. */
static bool shows_lines(const struct options *o)
{
	bool reports = o->command == &cmd_report || o->command == &cmd_diff;
	bool by_line = o->group && (!strcmp(o->group, "line") || !strcmp(o->group, "file"));
	size_t n;
	const struct term *t = filter_terms(o->filter, &n);

	while (n > 0 && t[n - 1].kind != TERM_FILE)
		n--;
	return !reports || by_line || n > 0 || (o->view && !strcmp(o->view, "annotate"));
}

static void complete_one(const char *path)
{
	struct err e = ERR_INIT;

	if (heap_salvage(path, HEAP_STOP_GONE, 0, &e) < 0)
		message("%s", err_text(&e));
	err_clear(&e);
}

/* What programs that were killed had noted, with nobody there to wait for them, is added to their traces before they are read. */
static void complete_traces(const struct load_wish *w)
{
	for (size_t i = 0; i < w->n_paths; i++) {
		DIR *dir = opendir(w->paths[i]);
		const struct dirent *d;

		if (!dir)
			complete_one(w->paths[i]);
		while (dir && (d = readdir(dir))) {
			size_t n = strlen(d->d_name);
			char *path;

			if (n < strlen(".heap") || strcmp(d->d_name + n - strlen(".heap"), ".heap"))
				continue;
			path = xasprintf("%s/%s", w->paths[i], d->d_name);
			complete_one(path);
			free(path);
		}
		if (dir)
			closedir(dir);
	}
}

struct load_wish load_of(const struct options *o)
{
	return (struct load_wish){ .paths = o->files.at, .n_paths = o->files.n };
}

/* How many files are before, of sides that are files. */
static size_t n_before(const struct options *o, size_t n)
{
	if (o->command != &cmd_diff || n < 2 || (o->side_a && n > 2))
		return n;
	return o->n_before ? o->n_before : 1;
}

struct load *load_start(const struct options *o, const struct load_wish *w, struct err *e)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	struct load *l;

	if (check_inputs(w, e))
		return NULL;
	complete_traces(w);
	l = xcalloc(1, sizeof(*l));
	l->paths = w->paths;
	l->n_paths = w->n_paths;
	l->n_before = n_before(o, w->n_paths);
	l->called = w->title;
	l->recorder = w->recorder;
	l->resolve = (struct resolver_options){
		.symbol_dirs = o->symbols.at,
		.n_symbol_dirs = o->symbols.n,
		/* Stacks are exported as perf script prints them, unless more is asked for. */
		.no_inlines = (o->no_inline && !shows_lines(o)) || leaves_inlined_out(o),
		.debug_servers = o->debuginfod || (servers && *servers),
		.same_machine = true, /* readers compare what the file says of its machine */
		.addresses = o->addrs,
	};
	l->read = (struct read_options){
		.resolve = &l->resolve,
		.root_names = o->tid   ? ROOT_TID
			      : o->pid ? ROOT_PID
				       : ROOT_COMM,
		.fields = o->fields,
		.stitch = o->stitch,
		.addresses = o->addrs,
		.as_printed = o->to && !strncmp(o->to, "folded", strlen("folded")),
		.live = o->command == &cmd_live,
		.scratch = w->recorder != 0,
		.memory_bytes = memory_bytes(),
		.follow = follows(o, w) || o->command == &cmd_live,
	};
	l->code = l->resolve;
	/* what grows or goes away is read once, and of several files each would need a profile of its own */
	if (w->n_paths == 1 && !w->recorder && !l->read.live && load_index_wanted(o))
		l->consulted = consulted_files_new();
	l->resolve.consulted = l->consulted;
	l->hurries = follows(o, w);
	l->annotate = (struct annotate_options){
		.symbols = &l->code,
		.sources = { .dirs = o->sources.at,
			     .n_dirs = o->sources.n,
			     .maps = o->source_maps.at,
			     .n_maps = o->source_maps.n },
	};
	l->profile = profile_new();
	if (l->read.live) {
		system_limits_settle_malloc_for_hours();
		build_folding(l->profile, build_folding_live());
	}
	l->title = make_title(w);
	l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->progress.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	l->task = l->wake_fd < 0 ? NULL : task_start(read_all, l, l->wake_fd);
	if (l->task)
		return l;
	err_set(e, -EAGAIN, "no thread could be started to read the input");
	load_free(l);
	return NULL;
}

void load_free(struct load *l)
{
	if (!l)
		return;
	progress_cancel(&l->progress);
	task_join(l->task);
	load_index_free(l->index, !l->hurries);
	consulted_files_free(l->consulted);
	if (l->wake_fd >= 0)
		close(l->wake_fd);
	if (l->progress.wake_fd > 0)
		close(l->progress.wake_fd);
	err_clear(&l->error);
	profile_free(l->profile);
	free(l->title);
	free(l);
}

static bool is_over(const struct load *l)
{
	return !l->task || task_finished(l->task);
}

bool load_ended(const struct load *l, int ms)
{
	struct pollfd end = { .fd = l->wake_fd, .events = POLLIN };

	while (!is_over(l)) {
		int rc = poll(&end, 1, ms);

		if (rc == 0)
			return is_over(l);
		if (rc < 0 && errno != EINTR)
			return false;
		if (rc > 0)
			break; /* written just before the task counts as finished */
	}
	return true;
}

static void tell_progress(const struct load *l)
{
	uint64_t done = atomic_load(&l->progress.done), total = atomic_load(&l->progress.total);

	if (total)
		fprintf(stderr, "\rreading %.0f %% ", 100.0 * (double)done / (double)total);
	else
		fputs("\rreading ", stderr);
}

int load_wait(struct load *l, struct err *e)
{
	bool tell = isatty(STDERR_FILENO), told = false;
	int rc;

	while (!load_ended(l, !tell ? -1 : told ? TELL_EVERY_MS : TELL_AFTER_MS)) {
		tell_progress(l);
		told = true;
	}
	if (told)
		fputs("\r              \r", stderr);
	rc = task_join(l->task);
	l->task = NULL;
	return rc ? err_set(e, rc, "%s", err_text(&l->error)) : 0;
}

void load_stop(struct load *l)
{
	progress_cancel(&l->progress);
}

bool load_wait_event(struct load *l)
{
	struct profile_counts counts;

	do {
		profile_counts_read(l->profile, &counts);
	} while (!counts.n_samples && !load_ended(l, 10));
	return !is_over(l);
}

const struct profile *load_profile(const struct load *l)
{
	return l->profile;
}

static bool source_finished(void *arg, struct err *e)
{
	struct load *l = arg;

	if (!is_over(l))
		return false;
	if (l->error.code)
		err_set(e, l->error.code, "%s", err_text(&l->error));
	return true;
}

/* Of live: others record, and it is not known how often they pass on what they have. */
static const char *waiting(void *arg)
{
	const struct load *l = arg;
	const struct format *format = atomic_load(&l->format);

	if (!format)
		return "nothing has been written yet";
	if (format == &format_perf_data)
		return "no sample has been written yet: perf record waits until a buffer is half full, and "
		       "with -m 16 or less it is sooner";
	return NULL;
}

static void keep_apart(void *arg, int64_t first_ns, int64_t second_ns)
{
	struct load *l = arg;

	profile_fences(l->profile, (int64_t[BUILD_FENCES]){ first_ns, second_ns });
}

/* For a terminal program, on a thread of its own. */
static int annotate_function(void *arg, const struct analysis *an, const struct code_wish *wish,
			     struct progress *progress, struct annotation **out)
{
	const struct load *l = arg;

	return annotate(an, &l->annotate, wish, progress, out);
}

const struct annotate_options *load_annotate(const struct load *l)
{
	return &l->annotate;
}

void load_source(struct load *l, struct tui_source *out)
{
	*out = (struct tui_source){
		.profile = l->profile,
		.title = l->title,
		.progress = &l->progress,
		.annotate = annotate_function,
		.annotate_arg = l,
		.finished = source_finished,
		.arg = l,
		.wake_fd = l->wake_fd,
		.live = l->read.live,
		.waiting = waiting,
		.save = live_save,
		.export_file = export_file,
		.keep_apart = keep_apart,
	};
}
