/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed files and standard input, made seekable. The file has no name: it goes when it is closed. */
#include "config.h"

#include "perf_spool.h"

#include "err.h"
#include "input.h"
#include "mem.h"
#include "task.h"
#include "unnamed.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

static int copy(struct input *in, int fd, struct progress *progress, struct err *e)
{
	uint8_t *piece = xmalloc(PIECE_BYTES);
	ssize_t got = 0;
	int rc = 0;

	while (rc == 0 && (got = input_read(in, piece, PIECE_BYTES, NULL)) > 0) {
		rc = unnamed_write(fd, piece, (size_t)got);
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
	char path[32];
	int fd = unnamed_open(input_name(in), e), rc;

	if (fd < 0)
		return fd;
	rc = copy(in, fd, progress, e);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (rc == 0)
		rc = input_open(path, whole, e);
	close(fd);
	return rc;
}
