/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The tracer in the process says where its trace is, as the process sees files: that may be in another root than ours,
 * and the file may be one that we may not read.
 */
#include "config.h"

#include "cli/live/live_heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"
#include "cli/options/message.h"
#include "cli/options/options.h"
#include "cli/record/record_running.h"
#include "heaptrace/heap_wire.h"
#include "record/attach/attach.h"

/* The file that the process calls so, by a name that leads to it from here; the caller frees. */
static char *path_from_here(int pid, const char *path)
{
	char *theirs = *path == '/' ? xasprintf("/proc/%d/root%s", pid, path)
				    : xasprintf("/proc/%d/cwd/%s", pid, path);
	struct stat here, there;

	if (*path == '/' && stat(path, &here) == 0 &&
	    (stat(theirs, &there) ||
	     (here.st_dev == there.st_dev && here.st_ino == there.st_ino))) {
		free(theirs);
		return xstrdup(path);
	}
	if (stat(theirs, &there) == 0)
		return theirs;
	free(theirs);
	return xstrdup(path);
}

/* Says why the trace cannot be opened, and what helps. */
static void say_closed(int pid, const char *path, int why)
{
	const char *help =
		why == ENOENT ? "it was removed or renamed, and what is written to it is lost to "
				"us: end that recording and begin another"
		: why == EACCES || why == EPERM
			? "run proftop as a user who may read it, or have it made readable"
			: "end that recording and begin another";

	message("process %d: its heap is being recorded already, to %s, which cannot be followed from here: %s; %s",
		pid, path, strerror(why), help);
}

/* Does whoever began it take out of the trace what was read? */
static bool is_kept(int pid, int fd)
{
	uint8_t bytes[HEAP_FILE_HEADER_SIZE];
	struct heap_file_header head;

	if (pread(fd, bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes) ||
	    heap_take_file_header(bytes, sizeof(bytes), &head) != HEAP_OK || !head.spent)
		return true;
	message("process %d: its heap is being watched already, by a live view that keeps nothing of what it has read: end that one, "
		"or record and watch that: proftop record --heap -p %d",
		pid, pid);
	return false;
}

/* How a heap is recorded is for who began it. */
static bool is_as_asked(const struct options *o, int pid, const char *path)
{
	const char *option = o->free_stacks    ? "--free-stacks"
			     : o->no_patch     ? "--no-patch"
			     : o->sample       ? "--sample"
			     : o->max_overhead ? "--max-overhead"
			     : o->cull         ? "--cull"
			     : o->max_size     ? "--max-size"
			     : o->duration     ? "--duration"
					       : NULL;

	if (option)
		message("process %d: its heap is being recorded already, to %s, and %s is for who begins a recording: leave it out to follow that one",
			pid, path, option);
	return !option;
}

char *live_heap_trace(const struct options *o, enum status *status)
{
	struct attach *a = NULL;
	struct err e = ERR_INIT;
	char *path = NULL;
	int pid, fd;

	*status = STATUS_GOOD;
	if (!o->heap || o->cpu || !o->attach)
		return NULL;
	pid = record_pid(o);
	if (!pid || attach_find(pid, &a, &e)) {
		err_clear(&e);
		*status = pid ? STATUS_GOOD : STATUS_USAGE;
		return NULL;
	}
	path = path_from_here(pid, attach_path(a));
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		say_closed(pid, attach_path(a), errno);
		*status = STATUS_UNUSABLE;
	} else if (!is_kept(pid, fd) || !is_as_asked(o, pid, attach_path(a))) {
		*status = STATUS_USAGE;
	}
	if (fd >= 0)
		close(fd);
	if (*status != STATUS_GOOD) {
		free(path);
		path = NULL;
	}
	attach_free(a);
	return path;
}
