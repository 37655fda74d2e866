/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Part of a file as if it were in memory, read in blocks as they are needed, or unpacked up to what is
 * needed. It is never mapped, so that a file that shrinks is no fault. Addresses stay; what nobody needed
 * costs nothing.
 */
#ifndef PROFTOP_ELF_LAZY_BYTES_H
#define PROFTOP_ELF_LAZY_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct inflate_stream;

/* Zeroed is empty. Any number of threads may ask at once. */
struct lazy_bytes {
	const uint8_t *at; /* the bytes; only those that lazy_need() said yes to hold anything */
	uint64_t n;        /* of them */
	const struct elf_file *file; /* borrowed; NULL: they are not read from there */
	/* where they come from then; owned; NULL: all are there, from malloc */
	struct inflate_stream *packed;
	uint64_t offset;        /* in the file */
	unsigned shift;         /* log2 of the bytes of a block; 0: all are there */
	bool bulk;              /* memory is of huge_alloc_new() */
	_Atomic uint8_t *state; /* of each block; owned */
};

/* n bytes of f, which the caller knows to lie in it, in blocks of 2^shift bytes (a page or more). */
void lazy_open(struct lazy_bytes *l, const struct elf_file *f, uint64_t offset, uint64_t n,
	       unsigned shift);
/* The n bytes that zlib packed into so many at offset; false when that cannot be. */
bool lazy_unpack(struct lazy_bytes *l, const struct elf_file *f, uint64_t offset, uint64_t packed,
		 uint64_t n, unsigned shift);
/* Over bytes in memory, which it takes (malloc). */
void lazy_take(struct lazy_bytes *l, void *bytes, size_t n);
void lazy_done(struct lazy_bytes *l);

/* Reads [from, from + n); false when they are not all there. */
bool lazy_need(struct lazy_bytes *l, uint64_t from, uint64_t n);
/* The string at an offset, or NULL when there is none or it is longer than a name can be. */
const char *lazy_string(struct lazy_bytes *l, uint64_t from);
/* Gives the memory of whole blocks in [from, from + n) back; nobody may be using them. */
void lazy_drop(struct lazy_bytes *l, uint64_t from, uint64_t n);

#endif
