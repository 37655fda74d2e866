/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/path.h"

#include <criterion/criterion.h>

Test(path, last_part)
{
	cr_assert_str_eq(path_last_part("/a/b/c"), "c");
	cr_assert_str_eq(path_last_part("c"), "c");
	cr_assert_str_eq(path_last_part("/a/b/"), "/a/b/", "nothing would be left");
	cr_assert_str_eq(path_last_part(""), "");
}

Test(path, common_end)
{
	static const struct {
		const char *a, *b;
		size_t bytes;
		uint32_t parts;
	} cases[] = {
		{ "/x/b/c", "/y/b/c", 4, 2 }, { "c", "/y/c", 1, 1 },       { "/ab", "/b", 1, 0 },
		{ "/y/c", "c", 1, 1 },        { "/a/c", "/a/c", 4, 2 },    { "", "/a", 0, 0 },
		{ "a.c", "b.c", 2, 0 },       { "b/a.c", "xb/a.c", 5, 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		cr_assert_eq(path_common_end(cases[i].a, cases[i].b), cases[i].bytes, "%s %s",
			     cases[i].a, cases[i].b);
		cr_assert_eq(path_common_parts(cases[i].a, cases[i].b), cases[i].parts, "%s %s",
			     cases[i].a, cases[i].b);
	}
}
