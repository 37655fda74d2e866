/* SPDX-License-Identifier: GPL-3.0-or-later */
/* XXH3, compiled into this file from its header. */
#include "config.h"

#include "base/hash.h"

#define XXH_INLINE_ALL
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

uint64_t hash_bytes(const void *p, size_t n)
{
	return XXH3_64bits(p, n);
}

struct hash128 hash_bytes_128(const void *p, size_t n)
{
	XXH128_hash_t h = XXH3_128bits(p, n);

	return (struct hash128){ h.low64, h.high64 };
}
