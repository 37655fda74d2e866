/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/bytes.h"

#include <criterion/criterion.h>

Test(bytes, numbers_in_both_orders)
{
	static const uint8_t in[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };
	struct bytes b = bytes_over(in, sizeof(in), false);
	struct bytes s = bytes_over(in, sizeof(in), true);

	cr_assert_eq(take_u8(&b), 1);
	cr_assert_eq(take_u16(&b), 0x0302);
	cr_assert_eq(take_u32(&b), 0x07060504);
	cr_assert_eq(take_u64(&b), UINT64_C(0x0f0e0d0c0b0a0908));
	cr_assert_eq(bytes_left(&b), 0);
	cr_assert_not(b.bad);
	cr_assert_eq(take_u8(&s), 1);
	cr_assert_eq(take_u16(&s), 0x0203);
	cr_assert_eq(take_u32(&s), 0x04050607);
	cr_assert_eq(take_u64(&s), UINT64_C(0x08090a0b0c0d0e0f));
}

Test(bytes, too_much_is_zero_and_bad_for_good)
{
	static const uint8_t in[] = { 1, 2, 3 };
	struct bytes b = bytes_over(in, sizeof(in), false);

	cr_assert_eq(take_u32(&b), 0);
	cr_assert(b.bad);
	cr_assert_eq(take_u8(&b), 0, "nothing is left after a failure");
	cr_assert(b.bad);
	cr_assert_null(take_bytes(&b, SIZE_MAX));
}

Test(bytes, texts)
{
	static const struct {
		const char *what;
		const char *in;
		size_t n, max;
		const char *text; /* expected bytes */
		size_t len, left;
	} cases[] = {
		{ "stops at NUL", "ab\0cd", 5, 4, "ab", 2, 1 },
		{ "field without NUL", "abcd", 4, 3, "abc", 3, 1 },
		{ "field longer than what is left", "abc", 3, 9, "abc", 3, 0 },
		{ "empty field", "abc", 3, 0, "", 0, 3 },
		{ "nothing left", "", 0, 4, "", 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes b = bytes_over(cases[i].in, cases[i].n, false);
		size_t len = 99;
		const char *s = take_text(&b, cases[i].max, &len);

		cr_assert_eq(len, cases[i].len, "%s", cases[i].what);
		cr_assert_eq(memcmp(s, cases[i].text, len), 0, "%s", cases[i].what);
		cr_assert_eq(bytes_left(&b), cases[i].left, "%s", cases[i].what);
		cr_assert_not(b.bad, "%s", cases[i].what);
	}
}

Test(bytes, strings_need_their_nul)
{
	struct bytes b = bytes_over("ab\0\0cd", 6, false);

	cr_assert_str_eq(take_cstr(&b), "ab");
	cr_assert_str_eq(take_cstr(&b), "");
	cr_assert_null(take_cstr(&b));
	cr_assert(b.bad);
	cr_assert_eq(bytes_left(&b), 0);
	cr_assert_null(take_cstr(&b));
}
