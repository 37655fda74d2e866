/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/hash.h"
#include "base/map.h"

#include <criterion/criterion.h>

static bool same(const void *things, uint32_t value, const void *key)
{
	return ((const uint64_t *)things)[value] == *(const uint64_t *)key;
}

#define N_THINGS 200000

static uint64_t things[N_THINGS];

Test(map, finds_all_after_growing)
{
	struct map m = { 0 };
	uint64_t missing = 1;

	cr_assert_eq(map_find(&m, 1, same, things, &missing), MAP_NONE, "empty");
	for (uint32_t i = 0; i < N_THINGS; i++) {
		things[i] = (uint64_t)i * 7 + 3;
		map_add(&m, hash_u64(things[i]), i);
	}
	cr_assert_eq(m.n, N_THINGS);
	cr_assert_leq(m.n, m.n_slots / 4 * 3);
	for (uint32_t i = 0; i < N_THINGS; i++)
		cr_assert_eq(map_find(&m, hash_u64(things[i]), same, things, &things[i]), i);
	for (missing = 4; missing < 70000; missing += 7)
		cr_assert_eq(map_find(&m, hash_u64(missing), same, things, &missing), MAP_NONE);
	map_done(&m);
	cr_assert_eq(m.n_slots, 0);
}

Test(map, reserve_is_enough)
{
	struct map m = { 0 };
	size_t n_slots;

	map_reserve(&m, 1000);
	n_slots = m.n_slots;
	for (uint32_t i = 0; i < 1000; i++)
		map_add(&m, hash_u64(i), i);
	cr_assert_eq(m.n_slots, n_slots);
	map_reserve(&m, 5);
	cr_assert_eq(m.n_slots, n_slots, "it never shrinks");
	map_done(&m);
}

/* Equal hashes are told apart by same() alone, also across growth. */
Test(map, one_hash_for_all)
{
	struct map m = { 0 };

	for (uint32_t i = 0; i < 300; i++) {
		things[i] = i + 1000;
		map_add(&m, UINT64_MAX, i);
	}
	for (uint32_t i = 0; i < 300; i++)
		cr_assert_eq(map_find(&m, UINT64_MAX, same, things, &things[i]), i);
	map_done(&m);
}

/* Fetching says nothing and changes nothing; what is likely is what is there, or another of its hash. */
Test(map, likely)
{
	struct map m = { 0 };

	map_fetch(&m, 5);
	cr_assert_eq(map_likely(&m, 5), MAP_NONE, "empty");
	for (uint32_t i = 0; i < 1000; i++) {
		things[i] = i;
		map_add(&m, hash_u64(i), i);
	}
	for (uint32_t i = 0; i < 1000; i++) {
		map_fetch(&m, hash_u64(i));
		cr_assert_eq(map_likely(&m, hash_u64(i)), i);
	}
	cr_assert_eq(map_likely(&m, hash_u64(1000)), MAP_NONE);
	map_done(&m);
}

/* The largest value and a hash of nothing but zeroes can be told from an empty slot. */
Test(map, extremes)
{
	struct map m = { 0 };
	uint64_t seven = 7;

	things[0] = 7;
	map_add(&m, 0, 0);
	cr_assert_eq(map_find(&m, 0, same, things, &seven), 0);
	map_add(&m, 1, MAP_NONE - 1);
	cr_assert_eq(map_likely(&m, UINT64_C(1) << 32), MAP_NONE);
	map_done(&m);
}
