/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "elf/demangle.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *in, *full, *bare; /* NULL: stays as it is */
} rows[] = {
	{ "main", NULL, NULL },
	{ "_start", NULL, NULL },
	{ "_Z3fooi", "foo(int)", "foo" },
	{ "_ZN2ns3sumIdEET_RKSt6vectorIS1_SaIS1_EEi",
	  "ns::sum<double>(std::vector<double, std::allocator<double> > const&, int)",
	  "ns::sum<double>" },
	{ "_Z3fooi.cold", "foo(int) [clone .cold]", "foo" },
	{ "_Z3fooi.isra.0.constprop.1", "foo(int) [clone .isra.0] [clone .constprop.1]", "foo" },
	{ "_ZTISt9exception", "typeinfo for std::exception", "typeinfo for std::exception" },
	{ "_ZTSPFvRKiE", "typeinfo name for void (*)(int const&)",
	  "typeinfo name for void (*)(int const&)" },
	{ "_ZN4core3fmt5write17h01b2c3d4e5f60718E", "core::fmt::write", "core::fmt::write" },
	{ "_ZN58_$LT$alloc..string..String$u20$as$u20$core..fmt..Debug$GT$3fmt17h01b2c3d4e5f60718E",
	  "<alloc::string::String as core::fmt::Debug>::fmt",
	  "<alloc::string::String as core::fmt::Debug>::fmt" },
	{ "_RNvCs1234_7mycrate3foo", "mycrate::foo", "mycrate::foo" },
	{ "_RNvNtCs1234_7mycrate5inner3bar.llvm.123", "mycrate::inner::bar",
	  "mycrate::inner::bar" },
	{ "_D3std5stdio7writelnFZv", NULL, NULL },
	{ "$s4main3fooyyF", NULL, NULL },
	{ "_ZN3foo", NULL, NULL },
	{ "_R", NULL, NULL },
	{ "_", NULL, NULL },
	{ "", NULL, NULL },
};

static void expect(const char *in, enum demangle_style style, const char *want)
{
	char *got = demangle(in, style);

	if (want && got)
		cr_expect_str_eq(got, want, "%s: %s", in, got);
	else
		cr_expect_eq(got == NULL, want == NULL, "%s: %s", in, got ? got : "as it is");
	free(got);
}

Test(demangle, names)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		expect(rows[i].in, DEMANGLE_FULL, rows[i].full);
		if (i != 2 || rows[i].bare)
			expect(rows[i].in, DEMANGLE_BARE, rows[i].bare);
	}
}

/* Names made to take forever, to fill memory or the stack. */
Test(demangle, bombs, .timeout = 20)
{
	static const char *const repeated[] = { "P", "I", "N1a", "F", "S_", "T_", "L", "Dp", "sZ" };
	char *name = malloc(1 << 20), *got;

	for (size_t i = 0; i < sizeof(repeated) / sizeof(*repeated); i++) {
		strcpy(name, "_Z1f");
		for (size_t n = 4; n < 100000; n += strlen(repeated[i]))
			strcpy(name + n, repeated[i]);
		free(demangle(name, DEMANGLE_FULL));
		for (size_t n = 1000; n < 8192; n += 1000) {
			name[n] = '\0';
			free(demangle(name, DEMANGLE_FULL));
			name[n] = 'x';
		}
	}
	/* Each argument is a pair of the one before: 2^80 words. */
	strcpy(name, "_Z1f1AIiiE");
	for (int i = 0; i < 80; i++) {
		char digit = (char)(i < 11 ? '0' + i - 1 : i < 37 ? 'A' + i - 11 : 'Z');
		char ref[3] = { digit, '_', '\0' };

		strcat(name, "1AIS");
		strcat(name, i ? ref : "_");
		strcat(name, "S");
		strcat(name, i ? ref : "_");
		strcat(name, "E");
	}
	got = demangle(name, DEMANGLE_FULL);
	cr_assert(!got || strlen(got) <= 16384);
	free(got);
	/* The same in Rust: tuples of back references. */
	strcpy(name, "_RINvC1a1b");
	for (int i = 0; i < 60; i++)
		strcat(name, "TB6_B6_B6_B6_E");
	free(demangle(name, DEMANGLE_FULL));
	free(name);
}
