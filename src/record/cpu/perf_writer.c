/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Packed records are one zstd stream in pieces, each a record of COMPRESSED with whole records in it, but for one that is
 * larger than a piece. So the file can end behind any piece, as it can behind any record that is not packed. Where the
 * room that is left is small, pieces are, too.
 */
#include "config.h"

#include "record/cpu/perf_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/err.h"
#include "base/mem.h"
#include "perf/abi/perf_put.h"
#include "record/cpu/perf_writer_head.h"

#define PIECE_BYTES \
	61440u /* of records in one packed record: even what does not shrink fits into 64 KB */

/* Where the file may end. */
struct cut {
	size_t at;          /* in what is ready */
	uint64_t n_samples; /* of the whole file up to there */
};

struct perf_writer {
	int fd;
	char *path;
	struct data_features features;
	ZSTD_CCtx *zstd;       /* NULL: records are not packed */
	struct perf_put raw;   /* records that are not packed yet, or are not to be */
	struct perf_put ready; /* as the file will have them */
	VEC(struct cut) cuts;  /* of what is ready, in the order of their places */
	uint64_t begin;        /* where the records begin in the file */
	uint64_t end;          /* where those end that were flushed */
	uint64_t max_bytes;    /* of the file */
	uint64_t n_samples;    /* that it has, with what waits */
	uint64_t n_flushed;    /* of these, those that are written */
	uint64_t n_left_out;   /* that found no room */
	bool pipe; /* everything goes one behind the other, and there are no features at the end */
	bool full; /* nothing more comes into it */
	bool failed; /* because it could not be written */
};

static int fail(const struct perf_writer *f, int why, struct err *e)
{
	return err_set(e, -why, "%s: %s", f->path, strerror(why));
}

/* As a place in the file: behind what was written last. */
#define NO_PLACE UINT64_MAX

/* 0 or errno; *done: the bytes that were written. */
static int write_at(int fd, const uint8_t *p, size_t n, uint64_t at, size_t *done)
{
	for (*done = 0; *done < n;) {
		const uint8_t *from = p + *done;
		ssize_t k = at == NO_PLACE ? write(fd, from, n - *done)
					   : pwrite(fd, from, n - *done, (off_t)(at + *done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k < 0 ? errno : EIO;
		*done += (size_t)k;
	}
	return 0;
}

static int start_packing(struct perf_writer *f, int level, struct err *e)
{
	if (level == 0)
		return 0;
	f->zstd = ZSTD_createCCtx();
	if (!f->zstd ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(f->zstd, ZSTD_c_compressionLevel, level)))
		return err_set(e, -ENOMEM, "zstd cannot pack at level %d", level);
	return 0;
}

static int open_pipe(struct perf_writer *f, const struct perf_writer_head *h, struct err *e)
{
	struct perf_put head = { 0 };
	int why = 0;
	size_t done;

	f->pipe = true;
	f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (f->fd < 0)
		return fail(f, errno, e);
	perf_writer_head_put_pipe(h, &f->features, &head);
	why = write_at(f->fd, head.at, head.n, NO_PLACE, &done);
	f->end = head.n;
	vec_done(&head);
	return why ? fail(f, why, e) : 0;
}

static int open_file(struct perf_writer *f, const struct perf_writer_head *h, struct err *e)
{
	struct perf_put head = { 0 };
	size_t done;
	int rc, why;

	f->fd = open(f->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (f->fd < 0)
		return fail(f, errno, e);
	perf_writer_head_put(h, &f->features, &head);
	f->begin = f->end = head.n;
	why = write_at(f->fd, head.at, head.n, 0, &done);
	rc = why ? fail(f, why, e) : perf_writer_flush(f, e);
	vec_done(&head);
	return rc;
}

int perf_writer_open(const char *path, const struct perf_writer_head *h, uint64_t max_bytes,
		     struct perf_writer **out, struct err *e)
{
	struct perf_writer *f = xcalloc(1, sizeof(*f));
	int rc;

	f->path = xstrdup(strcmp(path, "-") == 0 ? "standard output" : path);
	f->fd = -1;
	f->max_bytes = max_bytes;
	data_features_make(h, &f->features);
	rc = start_packing(f, h->zstd_level, e);
	if (rc == 0)
		rc = strcmp(path, "-") == 0 ? open_pipe(f, h, e) : open_file(f, h, e);
	if (rc) {
		perf_writer_close(f);
		return rc;
	}
	*out = f;
	return 0;
}

/* Packs n bytes of raw records into one record. */
static void pack(struct perf_writer *f, const uint8_t *p, size_t n)
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

static void note_cut(struct perf_writer *f)
{
	vec_push(&f->cuts, ((struct cut){ f->ready.n, f->n_samples }));
}

/* All that waits for it. */
static void pack_all(struct perf_writer *f)
{
	for (size_t at = 0, n; at < f->raw.n; at += n) {
		n = f->raw.n - at < PIECE_BYTES ? f->raw.n - at : PIECE_BYTES;
		pack(f, f->raw.at + at, n);
	}
	if (f->raw.n > 0)
		note_cut(f);
	f->raw.n = 0;
}

/* Bytes behind the records. */
static size_t tail_bytes(const struct perf_writer *f)
{
	return f->pipe ? 0 : 16 * f->features.n + f->features.bytes.n;
}

/* Most bytes that n bytes of records become: whole words, with a header for each piece. */
static size_t packed_most(size_t n)
{
	return ZSTD_compressBound(n) + (n / PIECE_BYTES + 1) * 2 * PERF_RECORD_HEADER_BYTES;
}

static uint64_t free_bytes(const struct perf_writer *f)
{
	uint64_t taken = f->end + f->ready.n + tail_bytes(f);

	return f->max_bytes > taken ? f->max_bytes - taken : 0;
}

static void take_raw(struct perf_writer *f, const struct perf_record *r)
{
	perf_put_bytes(&f->raw, r->at, r->size);
	f->n_samples += r->type == PERF_REC_SAMPLE;
}

/* One that may have no room: only packing it tells. */
static bool try_packed(struct perf_writer *f, const struct perf_record *r)
{
	uint64_t room = free_bytes(f), n_samples = f->n_samples;
	size_t before = f->ready.n;

	take_raw(f, r);
	pack_all(f);
	if (f->ready.n - before <= room)
		return true;
	/* The stream has lost its thread, but nothing follows. */
	f->ready.n = before;
	f->cuts.n--;
	f->n_samples = n_samples;
	return false;
}

/* False: there is no room for the record. */
static bool take_packed(struct perf_writer *f, const struct perf_record *r)
{
	size_t n = f->raw.n + r->size;

	if (f->raw.n > 0 && (n > PIECE_BYTES || packed_most(n) > free_bytes(f)))
		pack_all(f);
	if (packed_most(f->raw.n + r->size) > free_bytes(f))
		return try_packed(f, r);
	take_raw(f, r);
	return true;
}

static bool take_plain(struct perf_writer *f, const struct perf_record *r)
{
	if (r->size > free_bytes(f))
		return false;
	perf_put_bytes(&f->ready, r->at, r->size);
	f->n_samples += r->type == PERF_REC_SAMPLE;
	note_cut(f);
	return true;
}

void perf_writer_add(struct perf_writer *f, const void *records, size_t n)
{
	const uint8_t *p = records;
	struct perf_record r;

	for (size_t at = 0; at < n; at += r.size) {
		if (perf_record_at(p + at, false, &r) == 0)
			break;
		f->full = f->full || !(f->zstd ? take_packed(f, &r) : take_plain(f, &r));
		f->n_left_out += f->full && r.type == PERF_REC_SAMPLE;
	}
}

/* Writes what stands in the buffer behind the records, with the features; 0 or errno. *done: of these bytes. */
static int write_tail(struct perf_writer *f, struct perf_put *tail, size_t *done)
{
	uint64_t size = f->end + tail->n - f->begin;
	size_t n;
	int why;

	*done = 0;
	data_features_put(&f->features, f->end + tail->n, tail);
	/* Meanwhile a reader would take records for features: without a size it reads to the end. */
	why = write_at(f->fd, (const uint8_t *)&(uint64_t){ 0 }, 8, DATA_HEAD_SIZE_AT, &n);
	if (why == 0)
		why = write_at(f->fd, tail->at, tail->n, f->end, done);
	if (why == 0)
		why = write_at(f->fd, (const uint8_t *)&size, 8, DATA_HEAD_SIZE_AT, &n);
	return why;
}

/* The file ends behind the first n bytes of what is ready, which are written; the features follow. 0 or errno. */
static int end_behind(struct perf_writer *f, size_t n)
{
	struct perf_put tail = { 0 };
	uint64_t end = f->end;
	size_t done;
	int why = 0;

	/* First the room is given back that the features need. */
	if (ftruncate(f->fd, (off_t)(f->end + n)))
		why = errno;
	f->end += n;
	if (why == 0)
		why = write_tail(f, &tail, &done);
	if (why)
		f->end = end;
	vec_done(&tail);
	return why;
}

/* Of what is ready so many bytes could be written: keeps all that makes a whole file with the features behind. */
static void keep_written(struct perf_writer *f, size_t done)
{
	struct cut last = { 0, f->n_flushed };

	f->full = f->failed = true;
	for (size_t i = f->cuts.n; i > 0; i--) {
		const struct cut *c = &f->cuts.at[i - 1];

		if (c->at + tail_bytes(f) > done)
			continue;
		if (f->pipe || end_behind(f, c->at) == 0) {
			last = *c;
			break;
		}
		/* Less may do, where what is written anew takes new room. */
		done -= done < PIECE_BYTES ? done : PIECE_BYTES;
	}
	/* Back to what was whole: its features lay where the records could not go. */
	if (last.at == 0 && !f->pipe)
		end_behind(f, 0);
	f->n_left_out += f->n_samples - last.n_samples;
	f->n_samples = f->n_flushed = last.n_samples;
}

int perf_writer_flush(struct perf_writer *f, struct err *e)
{
	struct perf_put tail = { 0 };
	size_t done;
	int why;

	if (f->failed)
		return 0;
	pack_all(f);
	if (f->pipe) {
		why = write_at(f->fd, f->ready.at, f->ready.n, NO_PLACE, &done);
	} else {
		perf_put_bytes(&tail, f->ready.at, f->ready.n);
		why = write_tail(f, &tail, &done);
	}
	if (why) {
		keep_written(f, done);
	} else {
		f->end += f->ready.n;
		f->n_flushed = f->n_samples;
	}
	vec_clear(&f->ready);
	vec_clear(&f->cuts);
	vec_done(&tail);
	return why ? fail(f, why, e) : 0;
}

bool perf_writer_is_full(const struct perf_writer *f)
{
	return f->full;
}

uint64_t perf_writer_samples(const struct perf_writer *f)
{
	return f->n_samples;
}

uint64_t perf_writer_left_out(const struct perf_writer *f)
{
	return f->n_left_out;
}

uint64_t perf_writer_room(const struct perf_writer *f)
{
	size_t waiting = f->raw.n > 0 ? packed_most(f->raw.n) : 0;
	uint64_t n = free_bytes(f);

	return n > waiting ? n - waiting : 0;
}

size_t perf_writer_waiting(const struct perf_writer *f)
{
	return f->ready.n + f->raw.n;
}

uint64_t perf_writer_bytes(const struct perf_writer *f)
{
	return f->end + f->ready.n + f->raw.n + tail_bytes(f);
}

void perf_writer_close(struct perf_writer *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	data_features_done(&f->features);
	ZSTD_freeCCtx(f->zstd);
	vec_done(&f->raw);
	vec_done(&f->ready);
	vec_done(&f->cuts);
	free(f->path);
	free(f);
}
