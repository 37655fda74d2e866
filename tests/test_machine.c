/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "machine.h"

#include <criterion/criterion.h>

Test(machine, has_memory)
{
	cr_assert_gt(machine_memory_bytes(), 1 << 20);
}

static const struct {
	const char *text;
	bool good;
	uint64_t bytes;
} sizes[] = {
	{ "0", true, 0 },     { "4095", true, 4095 },    { "3k", true, 3072 },
	{ "3K", true, 3072 }, { "64M", true, 64 << 20 }, { "5G", true, UINT64_C(5) << 30 },
	{ "", false, 0 },     { "M", false, 0 },         { "-1", false, 0 },
	{ "1kB", false, 0 },  { "1T", false, 0 },        { "99999999999G", false, 0 },
};

Test(machine, sizes_have_units)
{
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint64_t bytes = 0;

		cr_assert_eq(machine_parse_bytes(sizes[i].text, &bytes), sizes[i].good, "%s",
			     sizes[i].text);
		cr_assert_eq(bytes, sizes[i].bytes, "%s", sizes[i].text);
	}
}
