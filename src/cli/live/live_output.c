/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file, and not a pipe: whoever writes never waits for us. A thread gives back the room of its middle (fallocate(2), a hole)
 * several times a second while it is written (inotify(7), or all the time); where the file system knows no holes, all of it
 * stays until the end.
 */
#include "config.h"

#include "cli/live/live_output.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "base/tmpfile.h"
#include "cli/options/message.h"

#define PART_BYTES ((off_t)32 << 10) /* of the beginning, and of the end; whole blocks */
#define LOOK_MS    100

struct live_output {
	int fd;            /* owned */
	int ends;          /* eventfd that tells the task to; owned; -1: none */
	int written;       /* inotify that tells of writing; owned; -1: none */
	struct task *task; /* NULL: none; owned */
};

struct live_output *live_output_new(const char *what, struct err *e)
{
	struct live_output *o;
	int fd = tmpfile_open(what, e);

	if (fd < 0)
		return NULL;
	o = xcalloc(1, sizeof(*o));
	o->fd = fd;
	o->ends = o->written = -1;
	return o;
}

int live_output_fd(const struct live_output *o)
{
	return o->fd;
}

static off_t size_of(const struct live_output *o)
{
	struct stat st;

	return fstat(o->fd, &st) == 0 ? st.st_size : 0;
}

/* Until more was written, but for LOOK_MS at least, however fast that goes. False: the task shall end. */
static bool wait_for_more(const struct live_output *o)
{
	struct pollfd p[] = { { .fd = o->ends, .events = POLLIN },
			      { .fd = o->written, .events = POLLIN } };
	char events[1024];

	poll(p, 1, LOOK_MS);
	if (p[0].revents == 0 && o->written >= 0) {
		poll(p, 2, -1);
		if (p[1].revents && read(o->written, events, sizeof(events)) < 0)
			return false;
	}
	return p[0].revents == 0;
}

static int drop_middle(void *arg)
{
	struct live_output *o = arg;
	off_t dropped = PART_BYTES;

	do {
		off_t end = size_of(o) - PART_BYTES;

		if (end > dropped && fallocate(o->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
					       dropped, end - dropped) == 0)
			dropped = end / PART_BYTES *
				  PART_BYTES; /* of a block, only zeros are written */
	} while (wait_for_more(o));
	return 0;
}

/* The file has no name but that of its descriptor. */
static int watch(int fd)
{
	int written = inotify_init1(IN_CLOEXEC);
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (written >= 0 && inotify_add_watch(written, path, IN_MODIFY) < 0) {
		close(written);
		written = -1;
	}
	return written;
}

void live_output_bound(struct live_output *o)
{
	o->ends = eventfd(0, EFD_CLOEXEC);
	o->written = watch(o->fd);
	if (o->ends >= 0)
		o->task = task_start(drop_middle, o, -1);
}

static void end_task(struct live_output *o)
{
	const uint64_t one = 1;

	/* An eventfd that has room takes it. */
	if (o->task && write(o->ends, &one, sizeof(one)) == sizeof(one))
		task_join(o->task);
	if (o->ends >= 0)
		close(o->ends);
	if (o->written >= 0)
		close(o->written);
}

/* The lines that begin from one byte on and end before another; of a part, none that it cuts. */
static void put_lines(int fd, off_t from, off_t to, bool cut_first, bool cut_last, FILE *out,
		      const char *without)
{
	size_t n = (size_t)(to - from), at = 0;
	char *text = xmalloc(n + 1), *end;
	ssize_t got = pread(fd, text, n, from);

	n = got > 0 ? (size_t)got : 0;
	text[n] = '\0';
	end = cut_first ? memchr(text, '\n', n) : NULL;
	at = end ? (size_t)(end - text) + 1 : 0;
	while (at < n) {
		char *line = text + at;
		size_t length;

		end = memchr(line, '\n', n - at);
		if (!end && cut_last && at > 0)
			break;
		length = end ? (size_t)(end - line) + 1 : n - at;
		if (!without || !memmem(line, length, without, strlen(without)))
			fwrite(line, 1, length, out);
		at += length;
	}
	free(text);
}

void live_output_print(struct live_output *o, FILE *to, const char *without)
{
	char all[FMT_SIZE], part[FMT_SIZE];
	off_t size = size_of(o);

	if (size <= 2 * PART_BYTES) {
		put_lines(o->fd, 0, size, false, false, to, without);
		return;
	}
	put_lines(o->fd, 0, PART_BYTES, false, true, to, without);
	fflush(to);
	message("the command wrote %s: above is the first %s of it, below the last",
		fmt_bytes(all, (int64_t)size), fmt_bytes(part, (int64_t)PART_BYTES));
	put_lines(o->fd, size - PART_BYTES, size, true, false, to, without);
	fflush(to);
}

void live_output_free(struct live_output *o)
{
	if (!o)
		return;
	end_task(o);
	close(o->fd);
	free(o);
}
