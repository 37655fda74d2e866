/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/arena.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

Test(arena, zeroed_is_empty)
{
	struct arena a = { 0 };

	arena_done(&a);
	cr_assert_null(a.block);
}

Test(arena, pieces_are_aligned_and_apart)
{
	static const size_t sizes[] = { 0, 1, 7, 16, 17, 1000, 16384, 16385, 70000, 1 << 20, 3 };
	const size_t n = 400, n_sizes = sizeof(sizes) / sizeof(*sizes);
	unsigned char *piece[400];
	struct arena a;

	arena_init(&a);
	for (size_t i = 0; i < n; i++) {
		piece[i] = arena_alloc(&a, sizes[i % n_sizes]);
		cr_assert_eq((uintptr_t)piece[i] % 16, 0);
		memset(piece[i], (int)(i & 0xff), sizes[i % n_sizes]);
	}
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizes[i % n_sizes]; k += 97)
			cr_assert_eq(piece[i][k], i & 0xff, "piece %zu overwritten", i);
	arena_done(&a);
	cr_assert_null(a.block);
}

Test(arena, large_pieces_do_not_waste_the_current_block)
{
	struct arena a = { 0 };
	char *first = arena_strndup(&a, "ab", 1), *second;

	arena_alloc(&a, 1 << 20);
	second = arena_strndup(&a, "", 0);
	cr_assert_str_eq(first, "a");
	cr_assert_str_eq(second, "");
	cr_assert_eq(second - first, 16);
	arena_done(&a);
}
