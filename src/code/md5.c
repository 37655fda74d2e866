/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "code/md5.h"

#include <math.h>
#include <string.h>

#define BLOCK 64

static uint32_t rotate(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

static uint32_t word(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

/* RFC 1321, 3.4: constant i is the integer part of 4294967296 times abs(sin(i)), i in radians from 1. */
static void constants(uint32_t t[BLOCK])
{
	for (unsigned i = 0; i < BLOCK; i++)
		t[i] = (uint32_t)(fabs(sin((double)i + 1)) * 4294967296.0);
}

static void add_block(uint32_t state[4], const uint32_t t[BLOCK], const uint8_t *block)
{
	static const uint8_t by[4][4] = {
		{ 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 }
	};
	uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

	for (unsigned i = 0; i < BLOCK; i++) {
		unsigned round = i / 16;
		unsigned at = round == 0   ? i
			      : round == 1 ? 5 * i + 1
			      : round == 2 ? 3 * i + 5
					   : 7 * i;
		uint32_t f = round == 0   ? (b & c) | (~b & d)
			     : round == 1 ? (d & b) | (~d & c)
			     : round == 2 ? b ^ c ^ d
					  : c ^ (b | ~d);
		uint32_t next = b + rotate(a + f + t[i] + word(block + 4 * (at % 16)),
					   by[round][i % 4]);

		a = d;
		d = c;
		c = b;
		b = next;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void md5_of(const void *bytes, size_t n, uint8_t out[MD5_BYTES])
{
	uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 }, t[BLOCK];
	const uint8_t *at = bytes;
	uint8_t last[2 * BLOCK] = { 0 };
	size_t left = n, n_last;

	constants(t);
	for (; left >= BLOCK; at += BLOCK, left -= BLOCK)
		add_block(state, t, at);
	if (left > 0)
		memcpy(last, at, left);
	last[left] = 0x80;
	n_last = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
	for (unsigned i = 0; i < 8; i++)
		last[n_last - 8 + i] = (uint8_t)((uint64_t)n * 8 >> 8 * i);
	for (size_t i = 0; i < n_last; i += BLOCK)
		add_block(state, t, last + i);
	for (unsigned i = 0; i < MD5_BYTES; i++)
		out[i] = (uint8_t)(state[i / 4] >> 8 * (i % 4));
}
