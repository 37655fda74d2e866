/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/json/json_stream.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static const struct {
	const char *text;
	int64_t i;
	double d;
} numbers[] = {
	{ "0", 0, 0 },
	{ "-7", -7, -7 },
	{ "1.5", 2, 1.5 },
	{ "-0.1", 0, -0.1 },
	{ "123456.789012345", 123457, 123456.789012345 },
	{ "0.30000000000000004", 0, 0.30000000000000004 },
	{ "99999999999999.9", 100000000000000, 99999999999999.9 },
	{ "1e3", 1000, 1000 },
	{ "1e400", -1, -1 },
	{ "123456789012345678901234567890", -1, 123456789012345678901234567890.0 },
	{ "9007199254740993", 9007199254740993, 9007199254740992.0 },
};

Test(json_stream, numbers)
{
	for (size_t k = 0; k < N(numbers); k++) {
		struct json_value v = { .kind = JSON_NUMBER,
					.s = numbers[k].text,
					.n = strlen(numbers[k].text) };

		cr_expect_eq(json_int(&v, -1), numbers[k].i, "%s: %ld", v.s,
			     (long)json_int(&v, -1));
		cr_expect(json_double(&v, -1) == numbers[k].d, "%s: %f", v.s, json_double(&v, -1));
	}
}

Test(json_stream, keys_of_the_first_object)
{
	static const struct {
		const char *text, *key;
		bool has;
	} cases[] = {
		{ "{\"a\":1,\"b\":{\"c\":2}}", "b", true },
		{ "{\"a\":1,\"b\":{\"c\":2}}", "c", false },
		{ " {\"a\" : \"b\"", "a", true },
		{ "{\"a\":\"b\"", "b", false },
		{ "[{\"a\":1}]", "a", false },
		{ "{\"x\\\"\":0,\"a\":", "a", true },
		{ "x{\"a\":1}", "a", false },
		{ "{}{\"a\":1}", "a", false },
	};

	for (size_t i = 0; i < N(cases); i++)
		cr_expect_eq(json_has_key((const uint8_t *)cases[i].text, strlen(cases[i].text),
					  cases[i].key),
			     cases[i].has, "%s %s", cases[i].text, cases[i].key);
}
