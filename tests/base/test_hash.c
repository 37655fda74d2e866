/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/hash.h"

#include <criterion/criterion.h>

Test(hash, bytes_are_xxh3)
{
	/* Test vectors of XXH3_64bits with seed 0, from the xxHash specification's implementation. */
	cr_assert_eq(hash_bytes("", 0), UINT64_C(0x2d06800538d394c2));
	cr_assert_neq(hash_bytes("a", 1), hash_bytes("b", 1));
	cr_assert_eq(hash_bytes("main;x", 4), hash_bytes("main", 4));
}

/* The map takes place and tag from the upper half: dense ids must spread there. */
Test(hash, upper_half_of_pairs_spreads)
{
	static uint8_t seen[1 << 16];
	unsigned n_seen = 0;

	for (uint32_t i = 0; i < 1 << 16; i++) {
		uint64_t at = hash_pair(i / 256, i % 256) >> 32 & 0xffff;

		n_seen += seen[at] == 0;
		seen[at] = 1;
	}
	/* Random hashing fills 1 - 1/e of the places: 41,427 */
	cr_assert_gt(n_seen, 40900);
	cr_assert_lt(n_seen, 41900);
}
