/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Counters in front of the table of ids: none says "not known" of a block that is. */
#include "config.h"

#include "record/heap/trace/live_blocks.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define CLASSES (1u << KNOWN_BITS)

static _Atomic uint8_t known[CLASSES];

Test(address_ids, known_as_long_as_it_is_there)
{
	for (uint64_t a = 0x1000; a < 0x1000 + 16 * 5000; a += 16) {
		address_count(known, a, 1);
		cr_assert(address_may_be_known(known, a));
	}
	for (uint64_t a = 0x1000; a < 0x1000 + 16 * 5000; a += 16) {
		cr_assert(address_may_be_known(known, a));
		address_count(known, a, (uint8_t)-1);
	}
	for (unsigned i = 0; i < CLASSES; i++)
		cr_assert_eq(known[i], 0, "class %u", i);
}

Test(address_ids, a_counter_that_is_full_stays)
{
	const uint64_t a = 0x7f0000001230;

	for (unsigned i = 0; i < 1000; i++)
		address_count(known, a, 1);
	for (unsigned i = 0; i < 1000; i++)
		address_count(known, a, (uint8_t)-1);
	cr_expect(address_may_be_known(known, a));
}

Test(address_ids, few_known_blocks_leave_most_frees_alone)
{
	unsigned n = 0;

	for (uint64_t i = 0; i < 600; i++)
		address_count(known, 0x555555550000 + i * 100 * 48, 1);
	for (uint64_t i = 0; i < 65536; i++)
		n += address_may_be_known(known, 0x7f1234500000 + i * 48);
	cr_expect_lt(n, 65536 / 50, "%u of 65536", n);
}
