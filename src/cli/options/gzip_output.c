/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Failures of the stream behind stay with it: its owner asks there. */
#include "config.h"

#include "cli/options/gzip_output.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/mem.h"

#define BUFFER_BYTES (64 * 1024)
#define GZIP_BITS    (15 + 16) /* zlib's window, with gzip's header */

struct gzip_output {
	FILE *to;
	z_stream z;
	unsigned char piece[BUFFER_BYTES];
};

static int pack(struct gzip_output *g, const char *bytes, size_t n, int flush)
{
	g->z.next_in = (unsigned char *)bytes;
	g->z.avail_in = (uInt)n;
	do {
		size_t made;

		g->z.next_out = g->piece;
		g->z.avail_out = sizeof(g->piece);
		deflate(&g->z, flush);
		made = sizeof(g->piece) - g->z.avail_out;
		if (fwrite(g->piece, 1, made, g->to) != made)
			return -1;
	} while (g->z.avail_out == 0);
	return 0;
}

/* fopencookie(3)'s: what was taken of n bytes, 0 for failure. */
static ssize_t write_bytes(void *cookie, const char *bytes, size_t n)
{
	return pack(cookie, bytes, n, Z_NO_FLUSH) == 0 ? (ssize_t)n : 0;
}

static int finish(void *cookie)
{
	struct gzip_output *g = cookie;
	int rc = pack(g, NULL, 0, Z_FINISH);

	deflateEnd(&g->z);
	free(g);
	return rc;
}

FILE *gzip_output_new(FILE *to)
{
	const cookie_io_functions_t functions = { .write = write_bytes, .close = finish };
	struct gzip_output *g = xcalloc(1, sizeof(*g));
	FILE *f;

	g->to = to;
	if (deflateInit2(&g->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_BITS, 8,
			 Z_DEFAULT_STRATEGY) != Z_OK)
		mem_fail(sizeof(g->z));
	f = fopencookie(g, "w", functions);
	if (!f)
		mem_fail(sizeof(*f));
	setvbuf(f, NULL, _IOFBF, BUFFER_BYTES);
	return f;
}
