/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/huge_alloc.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

/* All of a piece may be written to, and none is part of another. */
Test(bulk, pieces)
{
	static const size_t sizes[] = {
		1, 4096, BULK_BYTES, ((size_t)2 << 20) - 1, (size_t)2 << 20, ((size_t)5 << 20) + 1
	};
	uint8_t *piece[sizeof(sizes) / sizeof(*sizes)];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		piece[i] = huge_alloc_new(sizes[i]);
		cr_assert_not_null(piece[i], "%zu", sizes[i]);
		cr_expect_eq((uintptr_t)piece[i] % ((size_t)2 << 20), 0, "%zu", sizes[i]);
		for (size_t at = 0; at < sizes[i]; at++) {
			cr_assert_eq(piece[i][at], 0, "%zu at %zu", sizes[i], at);
			piece[i][at] = (uint8_t)(i + 1);
		}
	}
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		cr_expect_eq(piece[i][0], i + 1);
		cr_expect_eq(piece[i][sizes[i] - 1], i + 1);
		huge_alloc_free(piece[i], sizes[i]);
	}
	huge_alloc_free(NULL, 1);
}

Test(bulk, sizes_that_no_memory_has)
{
	static const size_t sizes[] = { 0, SIZE_MAX, SIZE_MAX - ((size_t)2 << 20), SIZE_MAX / 2 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		cr_expect_null(huge_alloc_new(sizes[i]), "%zu", sizes[i]);
}

#define HUGE ((size_t)2 << 20)

static const size_t table_sizes[] = {
	0, 1, 4096, 100000, HUGE - 1, HUGE, HUGE + 1, 3 * HUGE - 4096,
};

#define N_TABLES (sizeof(table_sizes) / sizeof(table_sizes[0]))

static bool is_zero(const char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Also where others were before, and while others are there. */
Test(bulk, tables_zeroed_usable_to_the_end)
{
	char *all[N_TABLES];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < N_TABLES; i++) {
			all[i] = huge_alloc_table_new(table_sizes[i]);
			cr_assert(is_zero(all[i], table_sizes[i]), "%zu bytes", table_sizes[i]);
			memset(all[i], (int)i + 1, table_sizes[i]);
		}
		for (size_t i = 0; i < N_TABLES; i++) {
			for (size_t at = 0; at < table_sizes[i]; at += 1024)
				cr_assert_eq(all[i][at], (char)(i + 1), "%zu bytes",
					     table_sizes[i]);
			huge_alloc_table_free(all[i], table_sizes[i]);
		}
	}
	huge_alloc_table_free(NULL, 0);
	huge_alloc_table_free(NULL, HUGE);
}
