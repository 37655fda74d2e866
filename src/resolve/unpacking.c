/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * zlib's streams, unpacked as far as asked; see unpacking.h. Sources: RFC 1950 (the header), the manual of
 * zlib.
 */
#include "config.h"

#include "unpacking.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <zlib.h>

#include "elf_file.h"
#include "mem.h"

#define HEADER_BYTES 2
#define DEFLATE_BEST 1032 /* no byte of deflate gives more than that many */
#define READ_BYTES   ((size_t)32 << 10)
/* More than is asked for, as what is asked next mostly follows. */
#define STEP_BYTES   ((uint64_t)32 << 10)

struct unpacking {
	const struct elf_file *file; /* borrowed */
	uint64_t offset;             /* in the file, of what is read next */
	uint64_t left;               /* packed bytes that have yet to be read */
	uint8_t *to;                 /* borrowed */
	uint64_t n;                  /* bytes that to has room for */
	_Atomic uint64_t there;      /* bytes that were unpacked */
	bool over;                   /* nothing more comes: the end, or damage */
	z_stream z;
	pthread_mutex_t lock;   /* held while unpacking */
	uint8_t in[READ_BYTES]; /* what z takes its input from */
};

/* Deflate, a window that is no larger than it may be, no dictionary. */
static bool header_good(const uint8_t *h)
{
	return (h[0] & 15) == Z_DEFLATED && h[0] >> 4 <= 7 && (h[0] << 8 | h[1]) % 31 == 0 &&
	       !(h[1] & 32);
}

struct unpacking *unpacking_new(const struct elf_file *f, uint64_t offset, uint64_t packed,
				uint8_t *to, uint64_t n)
{
	uint8_t header[HEADER_BYTES];
	struct unpacking *u;

	if (packed < HEADER_BYTES || n / DEFLATE_BEST > packed ||
	    !elf_file_read_into(f, header, sizeof(header), offset) || !header_good(header))
		return NULL;
	u = xcalloc(1, sizeof(*u));
	u->file = f;
	u->offset = offset + HEADER_BYTES;
	u->left = packed - HEADER_BYTES;
	u->to = to;
	u->n = n;
	if (inflateInit2(&u->z, -15) != Z_OK) {
		free(u);
		return NULL;
	}
	pthread_mutex_init(&u->lock, NULL);
	return u;
}

void unpacking_free(struct unpacking *u)
{
	if (!u)
		return;
	inflateEnd(&u->z);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

static bool read_more(struct unpacking *u)
{
	size_t n = u->left < READ_BYTES ? (size_t)u->left : READ_BYTES;

	if (n == 0 || !elf_file_read_into(u->file, u->in, n, u->offset))
		return false;
	u->z.next_in = u->in;
	u->z.avail_in = (uInt)n;
	u->offset += n;
	u->left -= n;
	return true;
}

/* Unpacks to at + n; where it got. */
static uint64_t unpack(struct unpacking *u, uint64_t at, uint64_t n)
{
	int r = Z_OK;

	u->z.next_out = u->to + at;
	u->z.avail_out = (uInt)n;
	while (r == Z_OK && u->z.avail_out > 0) {
		if (u->z.avail_in == 0 && !read_more(u))
			break;
		r = inflate(&u->z, Z_NO_FLUSH);
	}
	u->over = u->z.avail_out > 0;
	return at + n - u->z.avail_out;
}

bool unpacking_reach(struct unpacking *u, uint64_t end)
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
