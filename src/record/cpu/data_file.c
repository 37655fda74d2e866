/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packed records are one zstd stream, cut wherever a record of COMPRESSED is full; perf and other readers unpack it
 * piece by piece.
 */
#include "config.h"

#include "data_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "data_head.h"
#include "err.h"
#include "mem.h"
#include "perf_put.h"

#define PIECE_BYTES \
	61440u /* of records in one packed record: even what does not shrink fits into 64 KB */

struct data_file {
	int fd;
	char *path;
	struct data_features features;
	ZSTD_CCtx *zstd;       /* NULL: records are not packed */
	struct perf_put raw;   /* records that are not packed yet, or are not to be */
	struct perf_put ready; /* as the file will have them */
	uint64_t begin;        /* where the records begin in the file */
	bool pipe; /* everything goes one behind the other, and there are no features at the end */
	uint64_t end; /* where those end that were flushed */
};

static int fail(const struct data_file *f, int why, struct err *e)
{
	return err_set(e, -why, "%s: %s", f->path, strerror(why));
}

/* As a place in the file: behind what was written last. */
#define NO_PLACE UINT64_MAX

/* 0 or errno. */
static int write_at(int fd, const uint8_t *p, size_t n, uint64_t at)
{
	while (n > 0) {
		ssize_t k = at == NO_PLACE ? write(fd, p, n) : pwrite(fd, p, n, (off_t)at);

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? errno : EIO;
		p += k;
		n -= (size_t)k;
		if (at != NO_PLACE)
			at += (uint64_t)k;
	}
	return 0;
}

static int start_packing(struct data_file *f, int level, struct err *e)
{
	if (level == 0)
		return 0;
	f->zstd = ZSTD_createCCtx();
	if (!f->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, level)))
		return err_set(e, -ENOMEM, "zstd cannot pack at level %d", level);
	return 0;
}

static int open_pipe(struct data_file *f, const struct data_head *h, struct err *e)
{
	struct perf_put head = { 0 };
	int why = 0;

	f->pipe = true;
	f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (f->fd < 0)
		return fail(f, errno, e);
	data_head_put_pipe(h, &f->features, &head);
	why = write_at(f->fd, head.at, head.n, NO_PLACE);
	f->end = head.n;
	vec_done(&head);
	return why ? fail(f, why, e) : 0;
}

static int open_file(struct data_file *f, const struct data_head *h, struct err *e)
{
	struct perf_put head = { 0 };
	int rc, why;

	f->fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return fail(f, errno, e);
	data_head_put(h, &f->features, &head);
	f->begin = f->end = head.n;
	why = write_at(f->fd, head.at, head.n, 0);
	rc = why ? fail(f, why, e) : data_file_flush(f, e);
	vec_done(&head);
	return rc;
}

int data_file_open(const char *path, const struct data_head *h, struct data_file **out,
		   struct err *e)
{
	struct data_file *f = xcalloc(1, sizeof(*f));
	int rc;

	f->path = xstrdup(strcmp(path, "-") == 0 ? "standard output" : path);
	f->fd = -1;
	data_features_make(h, &f->features);
	rc = start_packing(f, h->zstd_level, e);
	if (rc == 0)
		rc = strcmp(path, "-") == 0 ? open_pipe(f, h, e) : open_file(f, h, e);
	if (rc) {
		data_file_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

/* Packs n bytes of raw records into one record. */
static void pack(struct data_file *f, const uint8_t *p, size_t n)
{
	size_t begun = perf_put_begin(&f->ready, PERF_REC_COMPRESSED, 0), room, left;
	ZSTD_inBuffer in = { .src = p, .size = n };
	ZSTD_outBuffer out;

	room = ZSTD_compressBound(n) + 64;
	vec_reserve(&f->ready, f->ready.n + room);
	out = (ZSTD_outBuffer){ .dst = f->ready.at + f->ready.n, .size = room };
	left = ZSTD_compressStream2(f->zstd, &out, &in, ZSTD_e_flush);
	/* There is room for everything, so nothing can be left. */
	if (left != 0)
		abort();
	f->ready.n += out.pos;
	perf_put_end(&f->ready, begun, NULL, NULL);
}

static void pack_pieces(struct data_file *f, bool all)
{
	size_t at = 0;

	while (f->raw.n - at >= PIECE_BYTES || (all && at < f->raw.n)) {
		size_t n = f->raw.n - at < PIECE_BYTES ? f->raw.n - at : PIECE_BYTES;

		pack(f, f->raw.at + at, n);
		at += n;
	}
	if (at > 0)
		memmove(f->raw.at, f->raw.at + at, f->raw.n - at);
	f->raw.n -= at;
}

void data_file_add(struct data_file *f, const void *records, size_t n)
{
	perf_put_bytes(f->zstd ? &f->raw : &f->ready, records, n);
	if (f->zstd && f->raw.n >= PIECE_BYTES)
		pack_pieces(f, false);
}

/* Writes what stands in the buffer behind the records, with the features; 0 or errno. */
static int write_tail(struct data_file *f, struct perf_put *tail)
{
	uint64_t size = f->end + f->ready.n - f->begin;
	int why;

	perf_put_bytes(tail, f->ready.at, f->ready.n);
	data_features_put(&f->features, f->end + f->ready.n, tail);
	/* Meanwhile a reader would take records for features: without a size it reads to the end. */
	why = write_at(f->fd, (const uint8_t *)&(uint64_t){ 0 }, 8, DATA_HEAD_SIZE_AT);
	if (why == 0)
		why = write_at(f->fd, tail->at, tail->n, f->end);
	if (why == 0)
		why = write_at(f->fd, (const uint8_t *)&size, 8, DATA_HEAD_SIZE_AT);
	return why;
}

int data_file_flush(struct data_file *f, struct err *e)
{
	struct perf_put tail = { 0 };
	int why;

	if (f->zstd)
		pack_pieces(f, true);
	if (f->pipe) {
		why = write_at(f->fd, f->ready.at, f->ready.n, NO_PLACE);
		f->end += f->ready.n;
		f->ready.n = 0;
		return why ? fail(f, why, e) : 0;
	}
	why = write_tail(f, &tail);
	if (why) {
		/* Back to what was whole: its features lay where the records could not go. */
		f->ready.n = 0;
		vec_clear(&tail);
		write_tail(f, &tail);
		if (ftruncate(f->fd, (off_t)(f->end + tail.n)))
			why = errno;
	} else {
		f->end += f->ready.n;
		f->ready.n = 0;
	}
	vec_done(&tail);
	return why ? fail(f, why, e) : 0;
}

size_t data_file_waiting(const struct data_file *f)
{
	return f->ready.n + f->raw.n;
}

uint64_t data_file_bytes(const struct data_file *f)
{
	size_t behind = f->pipe ? 0 : 16 * f->features.n + f->features.bytes.n;

	return f->end + f->ready.n + f->raw.n + behind;
}

void data_file_close(struct data_file *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	data_features_done(&f->features);
	ZSTD_freeCCtx(f->zstd);
	vec_done(&f->raw);
	vec_done(&f->ready);
	free(f->path);
	free(f);
}
