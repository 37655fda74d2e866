/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The fields of a line of heaptrack's: lower-case hex numbers and sized strings, separated by blanks. */
#ifndef PROFTOP_FORMATS_HEAPTRACK_FIELDS_H
#define PROFTOP_FORMATS_HEAPTRACK_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
