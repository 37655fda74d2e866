/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "bulk.h"

#include <criterion/criterion.h>
#include <stdint.h>

/* All of a piece may be written to, and none is part of another. */
Test(bulk, pieces)
{
	static const size_t sizes[] = {
		1, 4096, BULK_BYTES, ((size_t)2 << 20) - 1, (size_t)2 << 20, ((size_t)5 << 20) + 1
	};
	uint8_t *piece[sizeof(sizes) / sizeof(*sizes)];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		piece[i] = bulk_new(sizes[i]);
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
		bulk_free(piece[i], sizes[i]);
	}
	bulk_free(NULL, 1);
}

Test(bulk, sizes_that_no_memory_has)
{
	static const size_t sizes[] = { 0, SIZE_MAX, SIZE_MAX - ((size_t)2 << 20), SIZE_MAX / 2 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		cr_expect_null(bulk_new(sizes[i]), "%zu", sizes[i]);
}
