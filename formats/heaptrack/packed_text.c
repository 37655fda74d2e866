/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/heaptrack/packed_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

#define TEXT_BYTES   ((size_t)256 << 10)
#define PIECE_BYTES  ((size_t)256 << 10)
#define MOST_PRINTED 256

/* A window of 32 kB and a gzip header, see zlib.h. */
#define GZIP_BITS (15 + 16)

/* heaptrack's own level of zstd. */
#define ZSTD_LEVEL 3

struct packed_text {
	FILE *to;
	int failed; /* -errno of the first write that failed */
	bool is_gzip;
	z_stream gzip;
	ZSTD_CCtx *zstd; /* NULL: another packing, or none */
	size_t n;        /* bytes in text */
	char text[TEXT_BYTES];
	uint8_t piece[PIECE_BYTES];
};

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), n_end = strlen(end);

	return n >= n_end && strcmp(s + n - n_end, end) == 0;
}

struct packed_text *packed_text_new(FILE *to, const char *name)
{
	struct packed_text *t = xcalloc(1, sizeof(*t));

	t->to = to;
	t->is_gzip = name && ends_with(name, ".gz");
	if (t->is_gzip && deflateInit2(&t->gzip, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
				       Z_DEFAULT_STRATEGY) != Z_OK)
		mem_fail(sizeof(t->gzip));
	if (name && ends_with(name, ".zst")) {
		t->zstd = ZSTD_createCCtx();
		if (!t->zstd)
			mem_fail(sizeof(void *));
		ZSTD_CCtx_setParameter(t->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	}
	return t;
}

static void write_piece(struct packed_text *t, const void *bytes, size_t n)
{
	errno = 0;
	if (t->failed == 0 && fwrite(bytes, 1, n, t->to) != n)
		t->failed = errno ? -errno : -EIO;
}

static void put_gzip(struct packed_text *t, bool last)
{
	t->gzip.next_in = (Bytef *)t->text;
	t->gzip.avail_in = (uInt)t->n;
	do {
		t->gzip.next_out = t->piece;
		t->gzip.avail_out = (uInt)sizeof(t->piece);
		deflate(&t->gzip, last ? Z_FINISH : Z_NO_FLUSH);
		write_piece(t, t->piece, sizeof(t->piece) - t->gzip.avail_out);
	} while (t->gzip.avail_out == 0);
}

static void put_zstd(struct packed_text *t, bool last)
{
	ZSTD_inBuffer in = { t->text, t->n, 0 };
	size_t left;

	do {
		ZSTD_outBuffer out = { t->piece, sizeof(t->piece), 0 };

		left = ZSTD_compressStream2(t->zstd, &out, &in,
					    last ? ZSTD_e_end : ZSTD_e_continue);
		if (ZSTD_isError(left)) {
			t->failed = t->failed ? t->failed : -EIO;
			return;
		}
		write_piece(t, t->piece, out.pos);
	} while (in.pos < in.size || (last && left > 0));
}

static void flush(struct packed_text *t, bool last)
{
	if (t->is_gzip)
		put_gzip(t, last);
	else if (t->zstd)
		put_zstd(t, last);
	else
		write_piece(t, t->text, t->n);
	t->n = 0;
}

void packed_text_put(struct packed_text *t, const char *s, size_t n)
{
	while (n > 0) {
		size_t part = n < sizeof(t->text) - t->n ? n : sizeof(t->text) - t->n;

		memcpy(t->text + t->n, s, part);
		t->n += part;
		s += part;
		n -= part;
		if (t->n == sizeof(t->text))
			flush(t, false);
	}
}

void packed_text_print(struct packed_text *t, const char *fmt, ...)
{
	char line[MOST_PRINTED];
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (n > 0)
		packed_text_put(t, line, (size_t)n < sizeof(line) ? (size_t)n : sizeof(line) - 1);
}

int packed_text_end(struct packed_text *t)
{
	int rc;

	flush(t, true);
	errno = 0;
	if (t->failed == 0 && (fflush(t->to) != 0 || ferror(t->to)))
		t->failed = errno ? -errno : -EIO;
	rc = t->failed;
	if (t->is_gzip)
		deflateEnd(&t->gzip);
	ZSTD_freeCCtx(t->zstd);
	free(t);
	return rc;
}
