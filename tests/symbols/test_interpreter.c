/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which modules are interpreters that do not tell what they interpret, by their names. */
#include "config.h"

#include "symbols/interpreter.h"

#include <criterion/criterion.h>

Test(interpreter, names_of_modules)
{
	static const struct {
		const char *module;
		int major, minor; /* 0: none that hides anything */
	} cases[] = {
		{ "python3.11", 3, 11 },
		{ "libpython3.11.so.1.0", 3, 11 },
		{ "libpython3.7m.so.1.0", 3, 7 },
		{ "python2.7", 2, 7 },
		{ "python3.9-dbg", 3, 9 },
		{ "python3.12", 0, 0 },
		{ "libpython3.13.so.1.0", 0, 0 },
		{ "python3.1234", 0, 0 },
		{ "libpython3.so", 0, 0 },
		{ "python3", 0, 0 },
		{ "python3.11x", 0, 0 },
		{ "ipython3.11", 0, 0 },
		{ "libc.so.6", 0, 0 },
		{ "", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct interpreter v = { 0 };

		cr_expect_eq(interpreter_is_silent(cases[i].module, &v), cases[i].major > 0, "%s",
			     cases[i].module);
		cr_expect_eq(v.major, cases[i].major, "%s", cases[i].module);
		cr_expect_eq(v.minor, cases[i].minor, "%s", cases[i].module);
	}
}
