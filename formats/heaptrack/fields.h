/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a line of heaptrack's: lower-case hex numbers and sized strings, separated by blanks. */
#ifndef PROFTOP_FORMATS_HEAPTRACK_FIELDS_H
#define PROFTOP_FORMATS_HEAPTRACK_FIELDS_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What of a line is left. */
struct fields {
	const char *at, *end;
};

/* The value of a hex digit, or more than 15. */
static inline unsigned fields_digit(char c)
{
	unsigned d = (unsigned char)c - (unsigned)'0';

	if (d < 10)
		return d;
	d = (unsigned char)c - (unsigned)'a';
	return d < 6 ? d + 10 : 16;
}

/* The next number; false where there is none, or something else. Then *to is untouched. */
static inline bool fields_hex(struct fields *f, uint64_t *to)
{
	const char *at = f->at, *begin;
	uint64_t n = 0;

	while (at < f->end && *at == ' ')
		at++;
	for (begin = at; at < f->end && *at != ' '; at++) {
		unsigned digit = fields_digit(*at);

		if (digit > 15 || n >> 60 != 0)
			return false;
		n = n << 4 | digit;
	}
	if (at == begin)
		return false;
	f->at = at;
	*to = n;
	return true;
}

/* Bytes of a short number, see fields_short(): all of a word's. */
#define FIELDS_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The word at s, whose first byte is the lowest. */
static inline uint64_t fields_word_at(const char *s)
{
	uint64_t w;

	memcpy(&w, s, sizeof(w));
	return le64toh(w);
}

/*
 * A number of 1 to 7 digits and the newline behind it, of a word of text: all digits at once, as a branch for each is mispredicted
 * where numbers are of different lengths. Returns the bytes of both, or 0: it is something else.
 */
static inline unsigned fields_short(uint64_t word, uint32_t *to)
{
	uint64_t x = word ^ FIELDS_EACH('\n');
	uint64_t newline = (x - FIELDS_EACH(1)) & ~x & FIELDS_EACH(0x80);
	unsigned n = newline ? (unsigned)__builtin_ctzll(newline) / 8 : 0;
	uint64_t digits, low, letters, value;

	if (n == 0)
		return 0;
	/* Zeroes before it, so that there are 8 digits. */
	digits = word << (64 - 8 * n) | FIELDS_EACH('0') >> 8 * n;
	low = digits & FIELDS_EACH(0x0f);
	letters = digits >> 6 & FIELDS_EACH(1);
	/* "0" to "9" are 0x30 and more, "a" to "f" 0x61 and more; nothing else may be there. */
	if (digits != low + FIELDS_EACH(0x30) + letters * 0x30 ||
	    ((low + FIELDS_EACH(6) + letters * 3) & FIELDS_EACH(0x10)) ||
	    ((low - letters) & FIELDS_EACH(0x80)))
		return 0;
	value = __builtin_bswap64(low + letters * 9);
	value = (value | value >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	value = (value | value >> 8) & UINT64_C(0x0000ffff0000ffff);
	*to = (uint32_t)(value | value >> 16);
	return n + 1;
}

/* A number that fits 32 bits; a larger one is UINT32_MAX. */
static inline bool fields_u32(struct fields *f, uint32_t *to)
{
	uint64_t n;

	if (!fields_hex(f, &n))
		return false;
	*to = n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
	return true;
}

/* A string behind its length in bytes; borrowed from the line. */
static inline bool fields_sized(struct fields *f, const char **s, size_t *n)
{
	struct fields g = *f;
	uint64_t len;

	if (!fields_hex(&g, &len) || g.at >= g.end || *g.at != ' ' ||
	    len > (uint64_t)(g.end - g.at - 1))
		return false;
	*s = g.at + 1;
	*n = (size_t)len;
	f->at = *s + *n;
	f->end = g.end;
	return true;
}

/* A string up to the next blank. */
static inline bool fields_word(struct fields *f, const char **s, size_t *n)
{
	const char *at = f->at;

	while (at < f->end && *at == ' ')
		at++;
	*s = at;
	while (at < f->end && *at != ' ')
		at++;
	*n = (size_t)(at - *s);
	f->at = at;
	return *n > 0;
}

#endif
