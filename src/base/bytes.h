/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A cursor over hostile bytes.
 *
 * Taking more than is left yields zeroes and sets `bad`, which stays set: read a record straight
 * through and test once. Nothing is copied; what is taken is borrowed from the memory underneath.
 */
#ifndef PROFTOP_BASE_BYTES_H
#define PROFTOP_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
	const uint8_t *at;  /* next byte */
	const uint8_t *end; /* one past the last */
	bool swap;          /* numbers are of the other byte order */
	bool bad;           /* something was taken that was not there */
};

/* p may be NULL when n is 0. */
static inline struct bytes bytes_over(const void *p, size_t n, bool swap)
{
	return (struct bytes){ .at = p, .end = n ? (const uint8_t *)p + n : p, .swap = swap };
}

static inline size_t bytes_left(const struct bytes *b)
{
	return (size_t)(b->end - b->at);
}

/* n bytes, or NULL and bad. */
static inline const uint8_t *take_bytes(struct bytes *b, size_t n)
{
	const uint8_t *p = b->at;

	if (n > bytes_left(b)) {
		b->bad = true;
		b->at = b->end;
		return NULL;
	}
	/* No offset of a null pointer, not even 0. */
	if (n > 0)
		b->at += n;
	return p;
}

static inline uint8_t take_u8(struct bytes *b)
{
	const uint8_t *p = take_bytes(b, 1);

	return p ? *p : 0;
}

static inline uint16_t take_u16(struct bytes *b)
{
	const uint8_t *p = take_bytes(b, sizeof(uint16_t));
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return b->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t take_u32(struct bytes *b)
{
	const uint8_t *p = take_bytes(b, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return b->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t take_u64(struct bytes *b)
{
	const uint8_t *p = take_bytes(b, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return b->swap ? __builtin_bswap64(v) : v;
}

/*
 * A string of a field that may or may not end in NUL: stops at the first NUL or after max bytes,
 * whichever comes first; the cursor moves max bytes (or to the end). *len is without the NUL.
 */
const char *take_text(struct bytes *b, size_t max, size_t *len);

/* A NUL-terminated string; bad when no NUL is left. Borrowed, terminated. */
const char *take_cstr(struct bytes *b);

#endif
