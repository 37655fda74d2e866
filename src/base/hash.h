/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Hashing of short keys; XXH3 for bytes, a multiply-xor finisher for integers. Not for secrets. */
#ifndef PROFTOP_BASE_HASH_H
#define PROFTOP_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t hash_bytes(const void *p, size_t n);

/* Enough bits for what they are of to be known by them alone, where nobody gains by a collision. */
struct hash128 {
	uint64_t low, high;
};

struct hash128 hash_bytes_128(const void *p, size_t n);

/* Mixes all 64 bits (the finisher of MurmurHash3, public domain). */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	x ^= x >> 33;
	return x;
}

static inline uint64_t hash_pair(uint32_t a, uint32_t b)
{
	return hash_u64((uint64_t)a << 32 | b);
}

#endif
