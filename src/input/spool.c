/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed files and standard input, made seekable. The file has no name: it goes when it is closed. */
#include "config.h"

#include "input/spool.h"

#include "base/err.h"
#include "base/fmt.h"
#include "base/mem.h"
#include "base/task.h"
#include "base/tmpfile.h"
#include "input/input.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PIECE_BYTES ((size_t)1 << 20)

/* What packed data may become without question, and by how much more of it may grow: stacks of zeroes grow by some dozens. */
#define FREE_BYTES ((uint64_t)256 << 20)
#define MOST_TIMES 200
/* A twentieth of the file system, or so much, is left to others. */
#define LEFT_PART  20
#define LEFT_BYTES ((uint64_t)256 << 20)

/* May so many more bytes be written, of which there are n already? */
static int check_limits(struct input *in, int fd, uint64_t n, struct err *e)
{
	const char *packing = input_packing(in);
	uint64_t packed = input_file_bytes(in) > 0 ? input_file_bytes(in) : input_file_done(in);
	char before[FMT_SIZE], after[FMT_SIZE];
	struct statvfs room;
	uint64_t left;

	if (*packing && n > FREE_BYTES && n / MOST_TIMES > packed)
		return err_set(e, -EFBIG,
			       "%s: its %s of %s data become more than %s, as no recording does; "
			       "unpack it yourself to open it all the same",
			       input_name(in), fmt_bytes(before, (int64_t)packed), packing,
			       fmt_bytes(after, (int64_t)n));
	if (fstatvfs(fd, &room) < 0 || room.f_frsize == 0)
		return 0;
	left = room.f_blocks / LEFT_PART * room.f_frsize;
	left = left < LEFT_BYTES ? left : LEFT_BYTES;
	if ((uint64_t)room.f_bavail * room.f_frsize >= left + PIECE_BYTES)
		return 0;
	return err_set(
		e, -ENOSPC,
		"%s: cannot be copied to a temporary file: %s of it are there and only %s are "
		"left (set TMPDIR)",
		input_name(in), fmt_bytes(before, (int64_t)n), fmt_bytes(after, (int64_t)left));
}

static int copy(struct input *in, int fd, struct progress *progress, struct err *e)
{
	uint8_t *piece = xmalloc(PIECE_BYTES);
	uint64_t n = 0;
	ssize_t got = 0;
	int rc = 0;

	while ((rc = rc < 0 ? rc : check_limits(in, fd, n, e)) == 0 &&
	       (got = input_read(in, piece, PIECE_BYTES, NULL)) > 0) {
		rc = tmpfile_write(fd, piece, (size_t)got);
		n += (uint64_t)got;
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

int spool(struct input *in, struct input **whole, struct progress *progress, struct err *e)
{
	char path[32];
	int fd = tmpfile_open(input_name(in), e), rc;

	if (fd < 0)
		return fd;
	rc = copy(in, fd, progress, e);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (rc == 0)
		rc = input_open(path, whole, e);
	if (rc == 0)
		input_rename(*whole, input_name(in));
	close(fd);
	return rc;
}
