/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tests/support/made_profile.h"
#include "tui/rows/path_map.h"

#include <criterion/criterion.h>

Test(path_map, an_empty_one_has_nothing)
{
	struct path_map m = { .n = 0 };

	cr_expect_eq(path_map_get(&m, 0), 0);
	path_map_put(&m, 7, 0);
	cr_expect_eq(m.n_slots, 0, "nothing to remember, nothing kept");
	path_map_done(&m);
}

Test(path_map, any_path_may_be_a_key)
{
	static const uint64_t paths[] = { 0, 1, UINT64_MAX, UINT64_MAX - 1 };
	struct path_map m = { .n = 0 };

	for (uint32_t i = 0; i < 4; i++)
		path_map_put(&m, paths[i], i + 1);
	for (uint32_t i = 0; i < 4; i++)
		cr_expect_eq(path_map_get(&m, paths[i]), i + 1);
	cr_expect_eq(path_map_get(&m, 2), 0);
	path_map_done(&m);
}

/* Against a plain array, through growing, overwriting and forgetting. */
Test(path_map, as_an_array)
{
	struct path_map m = { .n = 0 };
	uint32_t array[500] = { 0 };
	unsigned lot = 1;

	for (int i = 0; i < 50000; i++) {
		unsigned at = made_number(&lot, 500), value = made_number(&lot, 3);

		array[at] = value;
		path_map_put(&m, at, value);
	}
	for (unsigned i = 0; i < 500; i++)
		cr_expect_eq(path_map_get(&m, i), array[i], "%u", i);
	cr_expect_leq(m.n_slots, 4096, "forgotten ones do not pile up");
	path_map_done(&m);
}
