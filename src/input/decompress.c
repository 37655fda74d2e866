/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One entry per packing, each around its library's streaming decoder. */
#include "config.h"

#include "input/decompress.h"

#include "base/mem.h"

#include <bzlib.h>
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif
#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

/* xz -9 needs 65 MiB; a file may ask for 4 GiB. */
#define XZ_MEMORY ((uint64_t)256 << 20)

static bool starts_with(const uint8_t *bytes, size_t n, const char *magic, size_t n_magic)
{
	return n >= n_magic && memcmp(bytes, magic, n_magic) == 0;
}

/* gzip (RFC 1952): members one after another, zeroes as padding at the end. */

/* What both libraries keep of a member; ISA-L unpacks it in half of the time. */
#ifdef HAVE_ISAL

/* Bytes, of deflate (RFC 1951) */
#define LONGEST_MATCH ((size_t)258)

typedef struct inflate_state gzip_member;

static bool member_start(gzip_member *z)
{
	isal_inflate_init(z);
	z->crc_flag = ISAL_GZIP;
	return true;
}

static void member_again(gzip_member *z)
{
	isal_inflate_reset(z);
	z->crc_flag = ISAL_GZIP;
}

static size_t n_waiting(const gzip_member *z)
{
	return (size_t)(z->tmp_out_valid - z->tmp_out_processed);
}

/* A match that refers to nothing is counted as unpacked: what may be of it goes, of what waits and then of what was written. */
static void take_back(gzip_member *z, const uint8_t *begin)
{
	size_t waiting = n_waiting(z), written = (size_t)(z->next_out - begin);
	size_t n = waiting < LONGEST_MATCH ? waiting : LONGEST_MATCH;

	z->tmp_out_valid -= (int32_t)n;
	n = LONGEST_MATCH - n < written ? LONGEST_MATCH - n : written;
	z->next_out -= n;
	z->avail_out += (uint32_t)n;
}

/* What was unpacked before the damage, beyond what there was room for. */
static enum unpack_state member_rest(gzip_member *z)
{
	size_t n = n_waiting(z) < z->avail_out ? n_waiting(z) : z->avail_out;

	memcpy(z->next_out, z->tmp_out_buffer + z->tmp_out_processed, n);
	z->tmp_out_processed += (int32_t)n;
	z->next_out += n;
	z->avail_out -= (uint32_t)n;
	return n_waiting(z) > 0 ? UNPACK_INSIDE : UNPACK_DAMAGED;
}

static enum unpack_state member_step(gzip_member *z, bool *damaged)
{
	const uint8_t *begin = z->next_out;
	int rc;

	if (*damaged)
		return member_rest(z);
	rc = isal_inflate(z);
	if (rc == ISAL_DECOMP_OK)
		return z->block_state == ISAL_BLOCK_FINISH ? UNPACK_BOUNDARY : UNPACK_INSIDE;
	*damaged = true;
	if (rc != ISAL_INCORRECT_CHECKSUM)
		take_back(z, begin);
	return member_rest(z);
}

static void member_stop(gzip_member *z)
{
	(void)z;
}

#else

typedef z_stream gzip_member;

static bool member_start(gzip_member *z)
{
	return inflateInit2(z, 16 + MAX_WBITS) == Z_OK;
}

static void member_again(gzip_member *z)
{
	inflateReset(z);
}

static enum unpack_state member_step(gzip_member *z, bool *damaged)
{
	int rc = inflate(z, Z_NO_FLUSH);

	(void)damaged;
	if (rc == Z_STREAM_END)
		return UNPACK_BOUNDARY;
	return rc == Z_OK || rc == Z_BUF_ERROR ? UNPACK_INSIDE : UNPACK_DAMAGED;
}

static void member_stop(gzip_member *z)
{
	inflateEnd(z);
}

#endif

struct gzip {
	gzip_member z;
	bool between; /* no member has begun since the last one ended */
	bool damaged; /* nothing more is unpacked */
};

static bool gzip_is(const uint8_t *bytes, size_t n)
{
	return starts_with(bytes, n, "\x1f\x8b\x08", 3);
}

static void *gzip_start(void)
{
	struct gzip *g = xcalloc(1, sizeof(*g));

	if (!member_start(&g->z)) {
		free(g);
		return NULL;
	}
	return g;
}

static enum unpack_state gzip_step(void *state, struct unpack_io *io)
{
	struct gzip *g = state;
	gzip_member *z = &g->z;
	enum unpack_state now;

	while (g->between && io->n_in > 0 && *io->in == 0) {
		io->in++;
		io->n_in--;
	}
	if (g->between && io->n_in == 0)
		return UNPACK_BOUNDARY;
	if (g->between)
		member_again(z);
	g->between = false;
	z->next_in = (uint8_t *)(uintptr_t)io->in;
	z->avail_in = io->n_in < UINT_MAX ? (unsigned)io->n_in : UINT_MAX;
	z->next_out = io->out;
	z->avail_out = io->n_out < UINT_MAX ? (unsigned)io->n_out : UINT_MAX;
	now = member_step(z, &g->damaged);
	io->n_in -= (size_t)(z->next_in - io->in);
	io->in = z->next_in;
	io->n_out -= (size_t)(z->next_out - io->out);
	io->out = z->next_out;
	g->between = now == UNPACK_BOUNDARY;
	return now;
}

static void gzip_stop(void *state)
{
	struct gzip *g = state;

	member_stop(&g->z);
	free(g);
}

/* zstd (RFC 8878): frames one after another, also frames to be skipped, with which pzstd begins. */

static bool zstd_is(const uint8_t *bytes, size_t n)
{
	return starts_with(bytes, n, "\x28\xb5\x2f\xfd", 4) ||
	       (n >= 4 && (bytes[0] & 0xf0) == 0x50 && memcmp(bytes + 1, "\x2a\x4d\x18", 3) == 0);
}

static void *zstd_start(void)
{
	return ZSTD_createDStream();
}

static enum unpack_state zstd_step(void *state, struct unpack_io *io)
{
	ZSTD_inBuffer in = { io->in, io->n_in, 0 };
	ZSTD_outBuffer out = { io->out, io->n_out, 0 };
	size_t rc = ZSTD_decompressStream(state, &out, &in);

	io->in += in.pos;
	io->n_in -= in.pos;
	io->out += out.pos;
	io->n_out -= out.pos;
	if (!ZSTD_isError(rc))
		return rc == 0 ? UNPACK_BOUNDARY : UNPACK_INSIDE;
	return ZSTD_getErrorCode(rc) == ZSTD_error_frameParameter_windowTooLarge ? UNPACK_TOO_LARGE
										 : UNPACK_DAMAGED;
}

static void zstd_stop(void *state)
{
	ZSTD_freeDStream(state);
}

/* xz: the library reads streams one after another, and their padding, by itself. */

static bool xz_is(const uint8_t *bytes, size_t n)
{
	return starts_with(bytes, n,
			   "\xfd"
			   "7zXZ\0",
			   6);
}

static void *xz_start(void)
{
	lzma_stream *z = xcalloc(1, sizeof(*z));

	if (lzma_stream_decoder(z, XZ_MEMORY, LZMA_CONCATENATED) != LZMA_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static enum unpack_state xz_step(void *state, struct unpack_io *io)
{
	lzma_stream *z = state;
	lzma_ret rc;

	z->next_in = io->in;
	z->avail_in = io->n_in;
	z->next_out = io->out;
	z->avail_out = io->n_out;
	rc = lzma_code(z, io->last ? LZMA_FINISH : LZMA_RUN);
	io->in = z->next_in;
	io->n_in = z->avail_in;
	io->out = z->next_out;
	io->n_out = z->avail_out;
	if (rc == LZMA_STREAM_END)
		return UNPACK_BOUNDARY;
	if (rc == LZMA_MEMLIMIT_ERROR)
		return UNPACK_TOO_LARGE;
	return rc == LZMA_OK || rc == LZMA_BUF_ERROR ? UNPACK_INSIDE : UNPACK_DAMAGED;
}

static void xz_stop(void *state)
{
	lzma_end(state);
	free(state);
}

/* bzip2: streams one after another. */

struct bzip2 {
	bz_stream z;
	bool between; /* as in struct gzip */
};

static bool bzip2_is(const uint8_t *bytes, size_t n)
{
	if (!starts_with(bytes, n, "BZh", 3) || n < 10 || bytes[3] < '1' || bytes[3] > '9')
		return false;
	/* the first block, or the end of an empty stream */
	return memcmp(bytes + 4, "\x31\x41\x59\x26\x53\x59", 6) == 0 ||
	       memcmp(bytes + 4, "\x17\x72\x45\x38\x50\x90", 6) == 0;
}

static void *bzip2_start(void)
{
	struct bzip2 *b = xcalloc(1, sizeof(*b));

	if (BZ2_bzDecompressInit(&b->z, 0, 0) != BZ_OK) {
		free(b);
		return NULL;
	}
	return b;
}

static enum unpack_state bzip2_step(void *state, struct unpack_io *io)
{
	struct bzip2 *b = state;
	bz_stream *z = &b->z;
	int rc;

	if (b->between && io->n_in == 0)
		return UNPACK_BOUNDARY;
	if (b->between) {
		BZ2_bzDecompressEnd(z);
		if (BZ2_bzDecompressInit(z, 0, 0) != BZ_OK)
			return UNPACK_TOO_LARGE;
	}
	b->between = false;
	z->next_in = (char *)(uintptr_t)io->in;
	z->avail_in = io->n_in < UINT_MAX ? (unsigned)io->n_in : UINT_MAX;
	z->next_out = (char *)io->out;
	z->avail_out = io->n_out < UINT_MAX ? (unsigned)io->n_out : UINT_MAX;
	rc = BZ2_bzDecompress(z);
	io->n_in -= (size_t)((const uint8_t *)z->next_in - io->in);
	io->in = (const uint8_t *)z->next_in;
	io->n_out -= (size_t)((uint8_t *)z->next_out - io->out);
	io->out = (uint8_t *)z->next_out;
	if (rc == BZ_STREAM_END) {
		b->between = true;
		return UNPACK_BOUNDARY;
	}
	return rc == BZ_OK ? UNPACK_INSIDE : UNPACK_DAMAGED;
}

static void bzip2_stop(void *state)
{
	struct bzip2 *b = state;

	BZ2_bzDecompressEnd(&b->z);
	free(b);
}

static const struct decompress packings[] = {
	{ .name = "gzip",
	  .is = gzip_is,
	  .start = gzip_start,
	  .step = gzip_step,
	  .stop = gzip_stop },
	{ .name = "zstd",
	  .is = zstd_is,
	  .start = zstd_start,
	  .step = zstd_step,
	  .stop = zstd_stop },
	{ .name = "xz", .is = xz_is, .start = xz_start, .step = xz_step, .stop = xz_stop },
	{ .name = "bzip2",
	  .is = bzip2_is,
	  .start = bzip2_start,
	  .step = bzip2_step,
	  .stop = bzip2_stop },
};

/* How what is found below begins; of zstd's sixteen kinds of frames to be skipped, the first. */
static const struct {
	const char *magic;
	size_t n;        /* bytes of magic */
	size_t n_needed; /* bytes that decide */
} beginnings[] = {
	{ "\x1f\x8b\x08", 3, 3 },
	{ "\x28\xb5\x2f\xfd", 4, 4 },
	{ "\x50\x2a\x4d\x18", 4, 4 },
	{ "\xfd"
	  "7zXZ",
	  5, 6 },
	{ "BZh", 3, 10 },
};

bool decompress_begins(const uint8_t *bytes, size_t n)
{
	uint8_t first = n > 0 ? bytes[0] : 0;

	first = (first & 0xf0) == 0x50 ? 0x50 : first;
	for (size_t i = 0; i < sizeof(beginnings) / sizeof(*beginnings); i++) {
		const char *magic = beginnings[i].magic;
		size_t same = n < beginnings[i].n ? n : beginnings[i].n;

		if (n < beginnings[i].n_needed &&
		    (n == 0 ||
		     (first == (uint8_t)magic[0] && memcmp(bytes + 1, magic + 1, same - 1) == 0)))
			return true;
	}
	return false;
}

const struct decompress *decompress_of(const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < sizeof(packings) / sizeof(*packings); i++)
		if (packings[i].is(bytes, n))
			return &packings[i];
	return NULL;
}
