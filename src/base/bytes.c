/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Texts in hostile bytes; numbers are inline in the header. */
#include "config.h"

#include "base/bytes.h"

const char *take_text(struct bytes *b, size_t max, size_t *len)
{
	size_t n = max < bytes_left(b) ? max : bytes_left(b);
	const char *s = (const char *)take_bytes(b, n);

	*len = n > 0 ? strnlen(s, n) : 0;
	return s;
}

const char *take_cstr(struct bytes *b)
{
	const uint8_t *nul = bytes_left(b) > 0 ? memchr(b->at, 0, bytes_left(b)) : NULL;

	if (!nul) {
		b->bad = true;
		b->at = b->end;
		return NULL;
	}
	return (const char *)take_bytes(b, (size_t)(nul - b->at) + 1);
}
