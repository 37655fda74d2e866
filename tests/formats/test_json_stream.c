/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/json/json_stream.h"

#include "base/err.h"
#include "input/input.h"

#include <criterion/criterion.h>
#include <stdio.h>
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

/* Runs of numbers: blanks that only yajl passes over make it take each number, with the same values. */

static void on_value(void *to, const struct json_value *v)
{
	fprintf(to, "%d %.*s\n", (int)v->kind, (int)v->n, v->kind == JSON_NULL ? "" : v->s);
}

static void on_end(void *to)
{
	fputs("end\n", to);
}

static const struct json_rule rules[] = {
	{ .path = "a[]", .value = on_value },
	{ .path = "a[][]", .value = on_value },
	{ .path = "a", .end = on_end },
	{ .path = "last", .value = on_value },
};

/* What a text has, and "!" where it is broken. The caller frees. */
static char *values_of(const char *text, size_t n)
{
	struct input *in = input_of_bytes(text, n, "text");
	struct err e = ERR_INIT;
	struct json_end end;
	char *out = NULL;
	size_t n_out;
	FILE *to = open_memstream(&out, &n_out);

	cr_assert_eq(json_read(in, rules, N(rules), to, &end, NULL, &e), 0, "%s", err_text(&e));
	if (end.why)
		fputs("!", to);
	fclose(to);
	free(end.why);
	input_close(in);
	return out;
}

/* The value of a number between commas; most are plain. */
static void put_value(FILE *to, unsigned i)
{
	static const char *const odd[] = { "\"a,[1,2\"",    "[1,[2],3]", "true", "\"\\\",\"",
					   "{\"b\":[1,2]}", "[]",        "-0",   "\"[\"" };

	if (i % 997 == 0)
		fputs(odd[i / 997 % N(odd)], to);
	else if (i % 7 == 0)
		fputs("null", to);
	else if (i % 5 == 0)
		fprintf(to, "-%u.%03ue%d", i, i % 1000, (int)(i % 9) - 4);
	else
		fprintf(to, i % 3 ? "%u" : "%u.25", i);
}

static char *text_of(const char *between, unsigned n, size_t *n_text)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, n_text);

	fputs("{\"x\":[1,2,3],\"a\":[", to);
	for (unsigned i = 1; i <= n; i++) {
		put_value(to, i);
		fputs(i < n ? between : "", to);
	}
	fputs("],\"last\":7}", to);
	fclose(to);
	return text;
}

Test(json_stream, runs_of_numbers)
{
	static const char *const betweens[] = { ",", ", ", ",\n  ", ", \t" };
	size_t n;
	char *text = text_of(",\t", 200000, &n), *all = values_of(text, n);

	cr_expect_null(strchr(all, '!'));
	for (size_t i = 0; i < N(betweens); i++) {
		char *other = text_of(betweens[i], 200000, &n), *values = values_of(other, n);

		cr_expect(strcmp(values, all) == 0, "behind \"%s\" other values", betweens[i]);
		free(other);
		free(values);
	}
	free(text);
	free(all);
}

Test(json_stream, broken_runs_of_numbers)
{
	static const char *const texts[] = {
		"{\"a\":[1,2,]}",    "{\"a\":[1,02,3]}", "{\"a\":[1,-,3]}", "{\"a\":[1,2.,3]}",
		"{\"a\":[1,nul,3]}", "{\"a\":[1,2e,3]}", "{\"a\":[1,2",     "{\"a\":[1,,3]}",
		"{\"a\":[1,2}}",     "{\"a\":[,1,2]}",   "{\"a\":[1,null",  "{\"a\":[1,2,",
	};

	for (size_t i = 0; i < N(texts); i++) {
		char *values = values_of(texts[i], strlen(texts[i]));

		cr_expect(strchr(values, '!'), "%s", texts[i]);
		cr_expect_null(strstr(values, "end"), "%s", texts[i]);
		free(values);
	}
}
