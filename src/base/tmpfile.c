/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temporary files without a name; see tmpfile.h. */
#include "config.h"

#include "base/tmpfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/err.h"
#include "base/mem.h"

static int open_in(const char *dir)
{
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600), error;
	char *name;

	if (fd >= 0)
		return fd;
	/* Some file systems know no files without a name. */
	name = xasprintf("%s/proftop-XXXXXX", dir);
	fd = mkostemp(name, O_CLOEXEC);
	error = errno;
	if (fd >= 0)
		unlink(name);
	free(name);
	errno = error;
	return fd;
}

int tmpfile_open(const char *what, struct err *e)
{
	const char *told = getenv("TMPDIR"), *dir = told && told[0] ? told : "/var/tmp";
	int fd = open_in(dir), error = errno;

	if (fd < 0 && dir != told) {
		fd = open_in("/tmp");
		/* containers that hold one program have neither */
		if (fd < 0)
			fd = memfd_create("proftop", MFD_CLOEXEC);
	}
	if (fd < 0)
		return err_set(e, -error, "%s: cannot be copied to %s: %s (set TMPDIR)", what, dir,
			       strerror(error));
	return fd;
}

int tmpfile_write(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t put = write(fd, p, n);

		if (put < 0 && errno != EINTR)
			return -errno;
		if (put > 0) {
			p += put;
			n -= (size_t)put;
		}
	}
	return 0;
}
