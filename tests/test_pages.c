/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "pages.h"

#include <criterion/criterion.h>

#include <stdint.h>
#include <string.h>

static const size_t sizes[] = {
	0,
	1,
	4096,
	100000,
	PAGES_HUGE_BYTES - 1,
	PAGES_HUGE_BYTES,
	PAGES_HUGE_BYTES + 1,
	3 * PAGES_HUGE_BYTES - 4096,
};

#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

static bool is_zero(const char *p, size_t n)
{
	return n == 0 || (p[0] == 0 && memcmp(p, p + 1, n - 1) == 0);
}

/* Also where others were before, and while others are there. */
Test(pages, zeroed_usable_to_the_end)
{
	char *all[N_SIZES];

	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < N_SIZES; i++) {
			all[i] = pages_new(sizes[i]);
			cr_assert(is_zero(all[i], sizes[i]), "%zu bytes", sizes[i]);
			memset(all[i], (int)i + 1, sizes[i]);
		}
		for (size_t i = 0; i < N_SIZES; i++) {
			for (size_t at = 0; at < sizes[i]; at += 1024)
				cr_assert_eq(all[i][at], (char)(i + 1), "%zu bytes", sizes[i]);
			pages_free(all[i], sizes[i]);
		}
	}
	pages_free(NULL, 0);
	pages_free(NULL, PAGES_HUGE_BYTES);
}

Test(pages, large_ones_begin_with_a_huge_page)
{
	for (size_t i = 0; i < N_SIZES; i++) {
		char *p = pages_new(sizes[i]);

		if (sizes[i] >= PAGES_HUGE_BYTES)
			cr_expect_eq((uintptr_t)p % PAGES_HUGE_BYTES, 0, "%zu bytes", sizes[i]);
		pages_free(p, sizes[i]);
	}
}
