/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file is written under another name beside its place and renamed, so that a full disk or a
 * killed program leaves the old one whole. Devices and pipes are written directly.
 *
 * stdio forgets why a write failed once more is written after it, so writes go through a stream of
 * our own that remembers the first reason.
 */
#include "config.h"

#include "cli/options/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

#define BUFFER_BYTES (64 * 1024)

/* Others of this process may write there, too, and killed ones have left theirs. */
#define NAMES_TRIED 1000

/* fopencookie(3)'s: what was written of n bytes, 0 for failure. */
static ssize_t write_bytes(void *cookie, const char *bytes, size_t n)
{
	struct output *o = cookie;
	size_t done = 0;

	while (done < n && !o->code) {
		ssize_t rc = write(o->fd, bytes + done, n - done);

		if (rc >= 0)
			done += (size_t)rc;
		else if (errno != EINTR)
			o->code = errno;
	}
	return (ssize_t)done;
}

/* Opens the stream over o->fd. */
static void open_stream(struct output *o)
{
	const cookie_io_functions_t functions = { .write = write_bytes };

	o->to = fopencookie(o, "w", functions);
	if (!o->to)
		abort(); /* out of memory */
	setvbuf(o->to, NULL, _IOFBF, BUFFER_BYTES);
}

static int cannot(const char *path, int code, struct err *e)
{
	return err_set(e, -code, "%s: cannot be written: %s", path, strerror(code));
}

static int open_direct(struct output *o, const char *path, struct err *e)
{
	o->fd = open(path, O_WRONLY | O_CLOEXEC);
	return o->fd >= 0 ? 0 : cannot(path, errno, e);
}

/* A new file of a name of its own. Its mode is what open(2) makes of it: umask(2) cannot be asked without changing it for all threads. */
static int open_new(struct output *o)
{
	for (int i = 0; i < NAMES_TRIED; i++) {
		free(o->temporary);
		o->temporary = xasprintf("%s.%d-%d", o->path, (int)getpid(), i);
		o->fd = open(o->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (o->fd >= 0 || errno != EEXIST)
			break;
	}
	return o->fd;
}

/* Opens the temporary file next to o->path. like: the file whose place it takes, whose mode it gets; or NULL. */
static int open_beside(struct output *o, const struct stat *like, struct err *e)
{
	int code;

	if (open_new(o) >= 0 && (!like || fchmod(o->fd, like->st_mode & 07777) == 0))
		return 0;
	code = errno;
	if (o->fd >= 0) {
		close(o->fd);
		unlink(o->temporary);
	}
	return cannot(o->name, code, e);
}

/* Opens o->fd for what lies at path, or will. */
static int open_path(struct output *o, const char *path, struct err *e)
{
	struct stat st;
	bool exists = stat(path, &st) == 0;

	if (exists && S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "%s: is a directory; name a file", path);
	if (exists && !S_ISREG(st.st_mode))
		return open_direct(o, path, e);
	if (exists && access(path, W_OK) != 0)
		return cannot(path, errno, e);
	o->path = exists ? realpath(path, NULL) : xstrdup(path); /* a link stays a link */
	if (!o->path)
		return cannot(path, errno, e);
	return open_beside(o, exists ? &st : NULL, e);
}

static void free_names(struct output *o)
{
	free(o->temporary);
	free(o->path);
	o->temporary = o->path = NULL;
}

int output_open(struct output *o, const char *path, struct err *e)
{
	int rc = 0;

	*o = (struct output){ .name = "standard output", .fd = STDOUT_FILENO };
	if (path && strcmp(path, "-") != 0) {
		o->name = path;
		rc = open_path(o, path, e);
	}
	if (rc)
		free_names(o);
	else
		open_stream(o);
	return rc;
}

int output_check(const char *path, struct err *e)
{
	struct output o;
	struct stat st;
	int rc;

	if (!path || strcmp(path, "-") == 0 ||
	    (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
		return 0;
	rc = output_open(&o, path, e);
	return rc ? rc : output_close(&o, false, e);
}

bool output_is_terminal(const struct output *o)
{
	return isatty(o->fd);
}

int output_close(struct output *o, bool keep, struct err *e)
{
	fclose(o->to);
	if (o->fd != STDOUT_FILENO && close(o->fd) && !o->code)
		o->code = errno;
	if (o->code == EPIPE)
		o->code = 0;
	if (o->temporary && !o->code && keep && rename(o->temporary, o->path))
		o->code = errno;
	if (o->temporary && (o->code || !keep))
		unlink(o->temporary);
	free_names(o);
	if (!o->code || !keep)
		return 0;
	return err_set(e, -o->code, "%s: could not be written whole: %s", o->name,
		       strerror(o->code));
}

int output_spares(const char *path, const char *const *files, size_t n, struct err *e)
{
	struct stat out, in;

	if (!path || stat(path, &out) < 0 || !S_ISREG(out.st_mode))
		return 0;
	for (size_t i = 0; i < n; i++)
		if (stat(files[i], &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
			return err_set(e, -EINVAL, "%s: is what is read: -o takes another file",
				       path);
	return 0;
}
