/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Packed files in memory: kernel modules (.ko.xz, .gz, .zst) and MiniDebugInfo (xz). */
#ifndef PROFTOP_ELF_ELF_DECOMPRESS_H
#define PROFTOP_ELF_ELF_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Unpacks n bytes, xz, gzip or zstd by what they begin with, to at most max. Returns memory that the
 * caller frees and *n_out, or NULL when they are neither, are damaged, or would be larger.
 */
void *elf_decompress_open(const void *bytes, size_t n, size_t max, size_t *n_out);

/*
 * The bytes of a packed ELF section, without its header, in new memory: zlib's or zstd's. NULL when
 * they do not unpack to exactly size bytes. The caller frees.
 */
void *elf_decompress_section(const void *bytes, size_t n, bool zstd, size_t size);

#endif
