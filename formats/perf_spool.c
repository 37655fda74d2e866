/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed files and standard input, made seekable. The file has no name: it goes when it is closed. */
#include "config.h"

#include "perf_spool.h"

#include "err.h"
#include "input.h"
#include "mem.h"
#include "task.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

static int open_unnamed(const struct input *in, const char *dir, struct err *e)
{
	char *name = xasprintf("%s/proftop-XXXXXX", dir);
	int fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	/* Some file systems know no files without a name. */
	if (fd < 0) {
		fd = mkostemp(name, O_CLOEXEC);
		if (fd >= 0)
			unlink(name);
	}
	free(name);
	if (fd < 0)
		return err_set(e, -errno, "%s: cannot be copied to %s: %s (set TMPDIR)",
			       input_name(in), dir, strerror(errno));
	return fd;
}

static int write_all(int fd, const uint8_t *p, size_t n)
{
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

static int copy(struct input *in, int fd, struct progress *progress, struct err *e)
{
	uint8_t *piece = xmalloc(PIECE_BYTES);
	ssize_t got = 0;
	int rc = 0;

	while (rc == 0 && (got = input_read(in, piece, PIECE_BYTES, NULL)) > 0) {
		rc = write_all(fd, piece, (size_t)got);
		if (rc < 0)
			err_set(e, rc, "%s: cannot be copied to a temporary file: %s",
				input_name(in), strerror(-rc));
		progress_set(progress, input_file_done(in), input_file_bytes(in));
		if (progress_cancelled(progress))
			rc = -ECANCELED;
	}
	free(piece);
	return rc;
}

int perf_spool(struct input *in, struct input **whole, struct progress *progress, struct err *e)
{
	const char *dir = getenv("TMPDIR");
	char path[32];
	int fd = open_unnamed(in, dir && dir[0] ? dir : "/var/tmp", e), rc;

	if (fd < 0)
		return fd;
	rc = copy(in, fd, progress, e);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (rc == 0)
		rc = input_open(path, whole, e);
	close(fd);
	return rc;
}
