/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What was inlined at the addresses of a file, with names as people read them; from the debug
 * information of the file or of its separate debug file, opened when first asked.
 *
 * Many offsets are asked at once and answered in groups, by any number of threads, each with a reader
 * of its own that numbers the functions and source files it meets.
 */
#ifndef PROFTOP_SYMBOLS_INLINE_LOOKUP_H
#define PROFTOP_SYMBOLS_INLINE_LOOKUP_H

#include <stddef.h>
#include <stdint.h>

struct image;
struct inline_reader;
struct inline_lookup;

#define INLINE_NONE UINT32_MAX

/* Outermost: the physical function; then what is inlined into it. */
struct inline_frame {
	uint32_t function; /* the reader's number */
	uint32_t file;     /* of the position in this frame; the reader's number, or INLINE_NONE */
	uint32_t line;     /* of the position; 0: unknown */
};

/* A function that a reader has met. */
struct inline_function {
	const char *name;       /* demangled; the reader's; NULL until it was met inlined */
	uint32_t declared;      /* file where it is declared, or INLINE_NONE */
	uint32_t declared_line; /* 0: unknown */
};

/* NULL when no file of the image has debug information. The image may be closed afterwards. */
struct inline_lookup *inline_lookup_new(const struct image *i);
/* The same of a kernel, where what is asked for are distances from base, an address in its file. */
struct inline_lookup *inline_lookup_new_kernel(const struct image *i, uint64_t base);
/* The same of a module of it that is not linked; distances from its start in memory. */
struct inline_lookup *inline_lookup_new_module(const struct image *i);
void inline_lookup_free(struct inline_lookup *n);
/* How large .debug_info is in the file, and how much of it all has to be unpacked to be read. */
uint64_t inline_lookup_file_bytes(const struct inline_lookup *n);
uint64_t inline_lookup_packed_bytes(const struct inline_lookup *n);
/* Opens it, and keeps what is read of it until it is closed. */
void inline_lookup_keep(struct inline_lookup *n);
/* Lets go of what was read, until it is asked again. */
void inline_lookup_close(struct inline_lookup *n);

/* Asks for n offsets in the file; in how many groups they will be answered. */
size_t inline_lookup_ask(struct inline_lookup *n, const uint64_t *offsets, size_t n_offsets);
/* Damaged parts, and split units that were not found, of all that was asked. */
uint64_t inline_lookup_n_damaged(const struct inline_lookup *n);
uint64_t inline_lookup_n_missing(const struct inline_lookup *n);
/* Units that libdw had to read. */
uint64_t inline_lookup_n_by_libdw(const struct inline_lookup *n);
/* The build-id of what dwz moved out of it, if that was not found; else NULL. Borrowed. */
const struct build_id *inline_lookup_lacks_shared(const struct inline_lookup *n);

/* Gives at most max frames for an offset, the outermost ones. Borrows n, until that is closed. */
struct inline_reader *inline_reader_new(struct inline_lookup *n, size_t max);
void inline_reader_free(struct inline_reader *r);

/* Frames at offsets[which], outermost first. Not called where nothing is known. */
typedef void inline_take(void *arg, size_t which, const struct inline_frame *frames, size_t n);

void inline_reader_answer(struct inline_reader *r, size_t group, inline_take *take, void *arg);

/* By number; borrowed until the reader answers again or is freed. */
const struct inline_function *inline_reader_function(const struct inline_reader *r,
						     uint32_t number);
const char *inline_reader_file(const struct inline_reader *r, uint32_t number);
/* Its MD5 when it was compiled, [16]; NULL: not told. Borrowed until the reader is freed. */
const uint8_t *inline_reader_md5(const struct inline_reader *r, uint32_t number);

#endif
