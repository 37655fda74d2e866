/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Blocks by address, beside an array that is looked through from its end. */
#include "config.h"

#include "heaptrace/read/block_addresses.h"

#include <criterion/criterion.h>
#include <stddef.h>

#define N 3000u

struct block {
	uint64_t address, id; /* id 0: gone */
};

static size_t find(const struct block *b, size_t n, uint64_t address)
{
	while (n > 0 && (b[n - 1].address != address || b[n - 1].id == 0))
		n--;
	return n;
}

static uint64_t random_from(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Some pages, with blocks between places and ids of any width in them. */
static uint64_t any_address(uint64_t *state)
{
	uint64_t r = random_from(state);

	return (UINT64_C(0x7f0000000000) << (r % 3)) + (r >> 2) % 5 * 4096 + (r >> 5) % 512 * 8 +
	       ((r >> 15) % 16 == 0);
}

Test(block_addresses, puts_and_takes_are_those_of_an_array)
{
	struct block_addresses b = { 0 };
	static struct block all[N];
	uint64_t state = 1;

	for (size_t i = 0; i < N; i++) {
		uint64_t address = any_address(&state), r = random_from(&state);
		size_t at = find(all, i, address);
		uint64_t id = r % 3 ? i + 1 : (r << 20 | i) + 1;

		if (r % 8 < 3) {
			cr_assert_eq(block_addresses_take(&b, address), at ? all[at - 1].id : 0);
			all[at ? at - 1 : 0].id = at ? 0 : all[0].id;
			continue;
		}
		if (at)
			all[at - 1].id = 0;
		all[i] = (struct block){ address, id };
		block_addresses_put(&b, address, id);
	}
	for (size_t i = 0; i < N; i++)
		if (all[i].id)
			cr_expect_eq(block_addresses_take(&b, all[i].address), all[i].id);
	block_addresses_done(&b);
}

/* As programs free at their end, from either side, and from between. */
Test(block_addresses, blocks_in_a_row_go_from_both_ends_and_the_middle)
{
	struct block_addresses b = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		block_addresses_put(&b, 0x10000 + 32 * i, 500 + i);
	for (uint64_t i = 0; i < 300; i++) {
		cr_expect_eq(block_addresses_take(&b, 0x10000 + 32 * i), 500 + i);
		cr_expect_eq(block_addresses_take(&b, 0x10000 + 32 * (999 - i)), 1499 - i);
	}
	for (uint64_t i = 0; i < 400; i++)
		cr_expect_eq(block_addresses_take(&b, 0x10000 + 32 * (300 + i * 7 % 400)),
			     800 + i * 7 % 400);
	for (uint64_t i = 0; i < 1000; i++)
		cr_expect_eq(block_addresses_take(&b, 0x10000 + 32 * i), 0);
	block_addresses_put(&b, 0x10000, 7);
	cr_expect_eq(block_addresses_take(&b, 0x10000), 7);
	block_addresses_done(&b);
}
