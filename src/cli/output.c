/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A file is written under another name beside its place and renamed, so that a full disk or a
 * killed program leaves the old one whole. Devices and pipes are written directly.
 */
#include "config.h"

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "err.h"
#include "mem.h"

#define BUFFER_BYTES (64 * 1024)

/* The mode of a new file, as open(2) would give it. */
static mode_t new_file_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

static int open_direct(struct output *o, const char *path, struct err *e)
{
	o->to = fopen(path, "we");
	return o->to ? 0 : err_set(e, -errno, "%s: cannot be written: %s", path, strerror(errno));
}

/* Opens the temporary file next to o->path. */
static int open_beside(struct output *o, mode_t mode, struct err *e)
{
	int fd, code;

	o->temporary = xasprintf("%s.XXXXXX", o->path);
	fd = mkostemp(o->temporary, O_CLOEXEC);
	if (fd < 0) {
		code = errno;
		free(o->temporary);
		o->temporary = NULL;
		return err_set(e, -code, "%s: cannot be written: %s", o->name, strerror(code));
	}
	o->to = fchmod(fd, mode) == 0 ? fdopen(fd, "w") : NULL;
	if (o->to)
		return 0;
	code = errno;
	close(fd);
	unlink(o->temporary);
	return err_set(e, -code, "%s: cannot be written: %s", o->name, strerror(code));
}

int output_open(struct output *o, const char *path, struct err *e)
{
	struct stat st;
	bool exists;
	int rc;

	*o = (struct output){ .to = stdout, .name = "standard output" };
	if (!path || !strcmp(path, "-")) {
		setvbuf(stdout, NULL, _IOFBF, BUFFER_BYTES);
		return 0;
	}
	o->name = path;
	exists = stat(path, &st) == 0;
	if (exists && S_ISDIR(st.st_mode))
		return err_set(e, -EISDIR, "%s: is a directory; name a file", path);
	if (exists && !S_ISREG(st.st_mode))
		return open_direct(o, path, e);
	if (exists && access(path, W_OK) != 0)
		return err_set(e, -errno, "%s: cannot be written: %s", path, strerror(errno));
	o->path = exists ? realpath(path, NULL) : xstrdup(path); /* a link stays a link */
	if (!o->path)
		return err_set(e, -errno, "%s: cannot be written: %s", path, strerror(errno));
	rc = open_beside(o, exists ? st.st_mode & 07777 : new_file_mode(), e);
	if (!rc)
		setvbuf(o->to, NULL, _IOFBF, BUFFER_BYTES);
	return rc;
}

/* Flushes; the errno of what could not be written, or 0. */
static int flush(struct output *o)
{
	bool failed = ferror(o->to);

	errno = 0;
	if (!fflush(o->to) && !failed)
		return 0;
	if (o->code)
		return o->code;
	return errno ? errno : EIO;
}

int output_close(struct output *o, bool keep, struct err *e)
{
	int code = o->to ? flush(o) : 0;

	if (o->to && o->to != stdout && fclose(o->to) && !code)
		code = errno;
	if (code == EPIPE)
		code = 0;
	if (o->temporary && !code && keep && rename(o->temporary, o->path))
		code = errno;
	if (o->temporary && (code || !keep))
		unlink(o->temporary);
	free(o->temporary);
	free(o->path);
	if (o->to == stdout)
		clearerr(stdout); /* said here, not again when the program ends */
	if (!code || !keep)
		return 0;
	return err_set(e, -code, "%s: could not be written whole: %s", o->name, strerror(code));
}
