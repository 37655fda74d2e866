/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zlib's streams, unpacked as far as asked; see inflate_stream.h. Sources: RFC 1950 (the header), the manual of
 * zlib, igzip_lib.h of ISA-L, which unpacks in half of the time and calls what it takes and gives the same.
 */
#include "config.h"

#include "elf/inflate_stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

#include "base/mem.h"
#include "elf/elf_file.h"

#define HEADER_BYTES 2
#define DEFLATED     8    /* what a header says of its stream */
#define DEFLATE_BEST 1032 /* no byte of deflate gives more than that many */
#define READ_BYTES   ((size_t)32 << 10)
/* More than is asked for, as what is asked next mostly follows. */
#define STEP_BYTES   ((uint64_t)32 << 10)

/* What both libraries keep of a stream; its next_in, avail_in, next_out and avail_out mean the same. */
#ifdef HAVE_ISAL

typedef struct inflate_state stream;

static bool stream_begin(stream *z)
{
	isal_inflate_init(z);
	return true;
}

/* Goes on with what there is to take and room to give. False: nothing more comes. */
static bool stream_go_on(stream *z)
{
	return isal_inflate(z) == ISAL_DECOMP_OK && z->block_state != ISAL_BLOCK_FINISH;
}

static void stream_end(stream *z)
{
	(void)z;
}

#else

typedef z_stream stream;

static bool stream_begin(stream *z)
{
	return inflateInit2(z, -15) == Z_OK;
}

static bool stream_go_on(stream *z)
{
	int r = inflate(z, Z_NO_FLUSH);

	return r == Z_OK || r == Z_BUF_ERROR;
}

static void stream_end(stream *z)
{
	inflateEnd(z);
}

#endif

struct inflate_stream {
	const struct elf_file *file; /* borrowed */
	uint64_t offset;             /* in the file, of what is read next */
	uint64_t left;               /* packed bytes that have yet to be read */
	uint8_t *to;                 /* borrowed */
	uint64_t n;                  /* bytes that to has room for */
	_Atomic uint64_t there;      /* bytes that were unpacked */
	bool over;                   /* nothing more comes: the end, or damage */
	stream z;
	pthread_mutex_t lock;   /* held while unpacking */
	uint8_t in[READ_BYTES]; /* what z takes its input from */
};

/* Deflate, a window that is no larger than it may be, no dictionary. */
static bool header_good(const uint8_t *h)
{
	return (h[0] & 15) == DEFLATED && h[0] >> 4 <= 7 && (h[0] << 8 | h[1]) % 31 == 0 &&
	       !(h[1] & 32);
}

struct inflate_stream *inflate_stream_new(const struct elf_file *f, uint64_t offset,
					  uint64_t packed, uint8_t *to, uint64_t n)
{
	uint8_t header[HEADER_BYTES];
	struct inflate_stream *u;

	if (packed < HEADER_BYTES || n / DEFLATE_BEST > packed ||
	    !elf_file_read_into(f, header, sizeof(header), offset) || !header_good(header))
		return NULL;
	u = xcalloc(1, sizeof(*u));
	u->file = f;
	u->offset = offset + HEADER_BYTES;
	u->left = packed - HEADER_BYTES;
	u->to = to;
	u->n = n;
	if (!stream_begin(&u->z)) {
		free(u);
		return NULL;
	}
	pthread_mutex_init(&u->lock, NULL);
	return u;
}

void inflate_stream_free(struct inflate_stream *u)
{
	if (!u)
		return;
	stream_end(&u->z);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* More for z to take; what cannot be read is not there. */
static void read_more(struct inflate_stream *u)
{
	size_t n = u->left < READ_BYTES ? (size_t)u->left : READ_BYTES;

	u->left -= n;
	if (n > 0 && !elf_file_read_into(u->file, u->in, n, u->offset))
		u->left = n = 0;
	u->z.next_in = u->in;
	u->z.avail_in = (uint32_t)n;
	u->offset += n;
}

/* Unpacks to at + n; where it got. */
static uint64_t unpack(struct inflate_stream *u, uint64_t at, uint64_t n)
{
	bool more = true;

	u->z.next_out = u->to + at;
	u->z.avail_out = (uint32_t)n;
	while (more && u->z.avail_out > 0) {
		uint32_t room = u->z.avail_out;

		if (u->z.avail_in == 0)
			read_more(u);
		more = stream_go_on(&u->z);
		/* What was taken may still give something when there is nothing left to take. */
		more = more && (u->z.avail_out < room || u->z.avail_in > 0 || u->left > 0);
	}
	u->over = u->z.avail_out > 0;
	return at + n - u->z.avail_out;
}

bool inflate_stream_reach(struct inflate_stream *u, uint64_t end)
{
	uint64_t at = atomic_load_explicit(&u->there, memory_order_acquire);

	if (end <= at)
		return true;
	if (end > u->n)
		return false;
	pthread_mutex_lock(&u->lock);
	at = atomic_load_explicit(&u->there, memory_order_relaxed);
	while (at < end && !u->over) {
		at = unpack(u, at, u->n - at < STEP_BYTES ? u->n - at : STEP_BYTES);
		atomic_store_explicit(&u->there, at, memory_order_release);
	}
	pthread_mutex_unlock(&u->lock);
	return end <= at;
}
