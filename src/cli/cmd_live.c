/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop live: the screens of something that is being recorded, by others or by a recorder of ours. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "cli/cmd_explore.h"
#include "cli/live/live_heap.h"
#include "cli/live/live_recorder.h"
#include "cli/live/live_target.h"
#include "cli/load/load_heaps.h"
#include "cli/options/command.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/live_command.h"
#include "formats/file_type_hint.h"
#include "query/core/filter.h"

/* Shows one file. */
static enum status show(struct explore_wish *w, const char *path)
{
	w->read.paths = &path;
	w->read.n_paths = 1;
	return explore(w);
}

static struct explore_wish wish_of(const struct options *o)
{
	return (struct explore_wish){ .o = o, .read = load_of(o), .lens = query_options_of(o) };
}

static bool wants_recorder(const struct options *o)
{
	return o->divided || o->attach || o->tasks || o->all_cpus || o->cpus || o->cgroup;
}

/*
 * A clock finds processors of a machine, too, where they have nothing to do. Unless something else is asked for, that is
 * not what somebody wants to see; whoever does takes the term away, which is on the screen.
 */
static struct filter *filter_of(const struct options *o)
{
	struct filter *f = filter_copy(o->filter);

	if ((o->all_cpus || o->cpus) && !o->cgroup && filter_n_terms(f) == 0)
		filter_add(f, "!is:idle", NULL);
	return f;
}

/* Ends the recording, and with it a command that has not ended: whoever thought that it would go on is told how it would. */
static void end_recording(struct live_recorder *r)
{
	const struct live_command *c = live_recorder_command(r);
	int pid = c && atomic_load(&c->status) == LIVE_GOES_ON ? atomic_load(&c->pid) : 0;
	char *name = xstrdup(live_recorder_name(r));

	live_recorder_free(r);
	if (pid > 0 && kill(pid, 0) < 0 && errno == ESRCH)
		message("%s was stopped; to leave a process running, attach with -p", name);
	free(name);
}

static enum status show_recording(const struct options *o)
{
	enum status status;
	struct explore_wish w = wish_of(o);
	struct live_recorder *r = live_recorder_start(o, &status);
	struct filter *filter;

	if (!r)
		return status;
	filter = filter_of(o);
	w.lens.filter = filter;
	w.lens.n_events = 0; /* they are those that are recorded */
	w.lens.hides_tracer = !o->tracer && o->cpu && o->heap;
	w.watched = live_target_new(o, live_recorder_command(r));
	w.read.recorder = live_recorder_pid(r);
	w.read.title = live_recorder_name(r);
	w.ends_command = o->files.n > 0;
	status = show(&w, live_recorder_path(r));
	live_target_free(w.watched);
	filter_free(filter);
	end_recording(r);
	return status;
}

/* A trace that others have written. They are not told of us, and go on when we end. */
static enum status show_theirs(const struct options *o, const char *path)
{
	char *title = xasprintf("%s (recorded by others)", path_last_part(path));
	struct explore_wish w = wish_of(o);
	enum status status;

	w.watched = live_target_new(o, NULL);
	w.read.title = title;
	status = show(&w, path);
	live_target_free(w.watched);
	free(title);
	return status;
}

static enum status show_what_runs(const struct options *o)
{
	enum status status;
	char *path = live_heap_trace(o, &status);

	if (path)
		status = show_theirs(o, path);
	else if (status == STATUS_GOOD)
		status = show_recording(o);
	free(path);
	return status;
}

/* What was meant by a word that is no file is a process, or a command: how these are said. */
static bool is_nothing(const char *path)
{
	if (strcmp(path, "-") == 0 || access(path, F_OK) == 0 || errno != ENOENT)
		return false;
	message("%s: there is no such file; a process is watched by proftop live -p PID, a command by proftop live -- COMMAND",
		path);
	return true;
}

/* A program, which is no recording however long it grows, was meant to be run. */
static bool is_program(const char *path)
{
	uint8_t begin[4];
	struct stat st;
	int fd = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC)
							     : -1;
	ssize_t n = fd >= 0 ? read(fd, begin, sizeof(begin)) : 0;

	if (fd >= 0)
		close(fd);
	if (n <= 0 || !file_type_hint_like_program(begin, (size_t)n))
		return false;
	message("%s: not a profile, but a program; to run and watch it: proftop live -- %s%s", path,
		strchr(path, '/') ? "" : "./", path);
	return true;
}

static enum status live(const struct options *o)
{
	struct explore_wish w = wish_of(o);

	if (o->n_before > 0) {
		message("live shows a file or a command, not both");
		return STATUS_USAGE;
	}
	if (wants_recorder(o))
		return show_what_runs(o);
	if (o->files.n > 0 && is_nothing(o->files.at[0]))
		return STATUS_UNUSABLE;
	if (o->files.n == 1 && is_program(o->files.at[0]))
		return STATUS_UNUSABLE;
	w.lens = load_heaps_lens(o);
	if (o->files.n > 0)
		return explore(&w);
	if (!isatty(STDIN_FILENO))
		return show(&w, "-"); /* what is piped in is meant where nothing is named */
	message("live wants to be told what: proftop live -p PID, live -a, live -- COMMAND, or a recording that is being written: live FILE, or live - for what is piped in");
	return STATUS_USAGE;
}

const struct command cmd_live = {
	.name = "live",
	.synopsis =
		"[--cpu] [--heap] -- COMMAND…, or [--cpu | --heap] -p PID, or -a, or FILE, or - for what is piped in",
	.summary =
		"Shows what a process, a command or a machine does while it does it, or a recording while it is being written.",
	.verb = ON_LIVE,
	.run = live,
};
