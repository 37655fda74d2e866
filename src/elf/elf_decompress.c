/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed files in memory; see elf_decompress.h. The output grows as it comes, so that a lie costs nothing. */
#include "config.h"

#include "elf/elf_decompress.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/mem.h"

#define DEFLATE_BEST 1032                  /* no byte of deflate gives more than that many */
#define MEMORY_MAX   (UINT64_C(128) << 20) /* for the xz decoder's dictionary */

struct output {
	VEC(uint8_t) bytes; /* what came out so far is its n */
	size_t max;         /* that many at most */
};

/* Makes room for more; false when max is reached. */
static bool grow(struct output *o)
{
	size_t want = o->bytes.cap ? o->bytes.cap * 2 : (size_t)1 << 16;

	if (o->bytes.n < o->bytes.cap && o->bytes.n < o->max)
		return true;
	if (o->bytes.n >= o->max)
		return false;
	vec_reserve(&o->bytes, want < o->max ? want : o->max);
	return true;
}

static bool open_xz(const uint8_t *bytes, size_t n, struct output *o)
{
	lzma_stream s = LZMA_STREAM_INIT;
	lzma_ret r = lzma_stream_decoder(&s, MEMORY_MAX, LZMA_CONCATENATED);

	s.next_in = bytes;
	s.avail_in = n;
	while (r == LZMA_OK && grow(o)) {
		s.next_out = o->bytes.at + o->bytes.n;
		s.avail_out = o->bytes.cap - o->bytes.n;
		r = lzma_code(&s, LZMA_FINISH);
		o->bytes.n = o->bytes.cap - s.avail_out;
	}
	lzma_end(&s);
	return r == LZMA_STREAM_END;
}

/* gzip, or zlib without that header: it is told from the bytes. */
static bool open_gzip(const uint8_t *bytes, size_t n, struct output *o)
{
	z_stream s = { .zalloc = NULL };
	int r;

	if (n > UINT32_MAX || inflateInit2(&s, 15 + 32) != Z_OK)
		return false;
	s.next_in = (Bytef *)(uintptr_t)bytes;
	s.avail_in = (uInt)n;
	do {
		size_t room;

		r = Z_BUF_ERROR;
		if (!grow(o))
			break;
		room = o->bytes.cap - o->bytes.n;
		s.avail_out = room > INT32_MAX ? INT32_MAX : (uInt)room;
		s.next_out = o->bytes.at + o->bytes.n;
		room = s.avail_out;
		r = inflate(&s, Z_NO_FLUSH);
		o->bytes.n += room - s.avail_out;
	} while (r == Z_OK && (s.avail_in > 0 || s.avail_out == 0));
	inflateEnd(&s);
	return r == Z_STREAM_END;
}

static bool open_zstd(const uint8_t *bytes, size_t n, struct output *o)
{
	ZSTD_DStream *s = ZSTD_createDStream();
	ZSTD_inBuffer in = { .src = bytes, .size = n };
	size_t left = 1;

	while (s && left > 0 && grow(o)) {
		ZSTD_outBuffer out = { .dst = o->bytes.at,
				       .size = o->bytes.cap,
				       .pos = o->bytes.n };
		size_t taken = in.pos;

		left = ZSTD_decompressStream(s, &out, &in);
		if (ZSTD_isError(left) || (in.pos == taken && out.pos == o->bytes.n))
			break;
		o->bytes.n = out.pos;
	}
	ZSTD_freeDStream(s);
	return s && left == 0;
}

void *elf_decompress_open(const void *bytes, size_t n, size_t max, size_t *n_out)
{
	struct output o = { .max = max };
	bool good = false;

	if (n > 6 && memcmp(bytes,
			    "\xfd"
			    "7zXZ",
			    6) == 0)
		good = open_xz(bytes, n, &o);
	else if (n > 2 && memcmp(bytes, "\x1f\x8b", 2) == 0)
		good = open_gzip(bytes, n, &o);
	else if (n > 4 && memcmp(bytes, "\x28\xb5\x2f\xfd", 4) == 0)
		good = open_zstd(bytes, n, &o);
	/* Room grows in steps that may be larger than asked for. */
	if (!good || o.bytes.n > max) {
		vec_done(&o.bytes);
		return NULL;
	}
	*n_out = o.bytes.n;
	return o.bytes.at;
}

void *elf_decompress_section(const void *bytes, size_t n, bool zstd, size_t size)
{
	struct output o = { .max = size + 1 };

	/* What could be true is reserved at once. */
	if (size / DEFLATE_BEST <= n)
		vec_reserve(&o.bytes, size + 1);
	if (size > 0 && (zstd ? open_zstd(bytes, n, &o) : open_gzip(bytes, n, &o)) &&
	    o.bytes.n == size)
		return o.bytes.at;
	vec_done(&o.bytes);
	return NULL;
}
