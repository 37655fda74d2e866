/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stream of zlib's in part of a file, unpacked from its beginning on, as far as it is asked for. What
 * lies behind that is never read, so its checksum, which ends it, is not looked at.
 */
#ifndef PROFTOP_ELF_INFLATE_STREAM_H
#define PROFTOP_ELF_INFLATE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct inflate_stream;

/*
 * Of packed bytes of f (borrowed) from offset, which lie in it and are to yield n bytes at to. NULL when they are
 * no such stream, or cannot yield as much.
 */
struct inflate_stream *inflate_stream_new(const struct elf_file *f, uint64_t offset,
					  uint64_t packed, uint8_t *to, uint64_t n);
void inflate_stream_free(struct inflate_stream *u);

/* Are the bytes before end there? Any number of threads may ask at once. */
bool inflate_stream_reach(struct inflate_stream *u, uint64_t end);

#endif
