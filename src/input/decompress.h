/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Streams of packed bytes: gzip, zstd, xz, bzip2, found by content, with all their members or frames
 * one after another. Memory is bounded by what each library takes for its window.
 */
#ifndef PROFTOP_INPUT_DECOMPRESS_H
#define PROFTOP_INPUT_DECOMPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a step may take and where it may write; a step moves both forward. */
struct unpack_io {
	const uint8_t *in; /* next packed byte */
	size_t n_in;       /* packed bytes there */
	uint8_t *out;      /* where the next unpacked byte goes */
	size_t n_out;      /* room there */
	bool last;         /* no packed bytes follow these */
};

enum unpack_state {
	UNPACK_INSIDE,   /* within a member: more must follow */
	UNPACK_BOUNDARY, /* a member has ended: the input may end here */
	UNPACK_DAMAGED,  /* this cannot be unpacked; what was written is good */
	UNPACK_TOO_LARGE /* it would take more memory than is allowed */
};

struct decompress {
	const char *name; /* gzip, zstd, … for messages and info */
	bool (*is)(const uint8_t *bytes, size_t n);
	void *(*start)(void); /* NULL: out of memory */
	enum unpack_state (*step)(void *state, struct unpack_io *io);
	void (*stop)(void *state);
};

/* May more bytes than these n say that an input is packed? */
bool decompress_begins(const uint8_t *bytes, size_t n);

/* How these first bytes are packed, or NULL when they are not. */
const struct decompress *decompress_of(const uint8_t *bytes, size_t n);

#endif
