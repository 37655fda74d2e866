/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/pack_numbers.h"

#include <string.h>

void pack_put(pack_bytes *b, uint64_t v)
{
	vec_reserve(b, b->n + 10);
	do
		b->at[b->n++] = (uint8_t)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
	while (v >>= 7);
}

void pack_put_signed(pack_bytes *b, int64_t v)
{
	pack_put(b, (uint64_t)v << 1 ^ (uint64_t)(v >> 63));
}

void pack_put_bytes(pack_bytes *b, const void *from, size_t n)
{
	if (n == 0)
		return;
	if (b->cap < b->n + n)
		vec_reserve(b, (b->n + n) * 3 / 2);
	memcpy(b->at + b->n, from, n);
	b->n += n;
}

void pack_put_text(pack_bytes *b, const char *s, size_t n)
{
	pack_put(b, n);
	pack_put_bytes(b, s, n);
}

uint64_t pack_take(struct bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint8_t byte = take_u8(b);

		v |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return v;
	}
	b->bad = true;
	return 0;
}

int64_t pack_take_signed(struct bytes *b)
{
	uint64_t v = pack_take(b);

	return (int64_t)(v >> 1 ^ (0 - (v & 1)));
}

uint32_t pack_take_below(struct bytes *b, uint64_t limit)
{
	uint64_t v = pack_take(b);

	if (v >= limit || v > UINT32_MAX) {
		b->bad = true;
		return 0;
	}
	return (uint32_t)v;
}

uint64_t pack_take_count(struct bytes *b)
{
	uint64_t n = pack_take(b);

	if (n > bytes_left(b)) {
		b->bad = true;
		return 0;
	}
	return n;
}

const char *pack_take_text(struct bytes *b, size_t *n)
{
	*n = (size_t)pack_take_count(b);
	return b->bad ? NULL : (const char *)take_bytes(b, *n);
}
