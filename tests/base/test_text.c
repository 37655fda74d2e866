/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "base/text.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))
#define BAD      0xFFFDu

/* Widths must agree with and without a UTF-8 locale; false when there is none. */
static bool use_utf8(bool on)
{
	return on ? setlocale(LC_ALL, "C.UTF-8") != NULL : setlocale(LC_ALL, "C") != NULL;
}

Test(text, decode_and_encode)
{
	static const struct {
		const char *in;
		uint32_t cp;
		size_t used;
	} cases[] = {
		{ "a", 'a', 1 },
		{ "\x7f", 0x7f, 1 },
		{ "\xc2\x80", 0x80, 2 },
		{ "\xc3\xa9x", 0xe9, 2 },
		{ "\xe2\x82\xac", 0x20ac, 3 },
		{ "\xef\xbf\xbf", 0xffff, 3 },
		{ "\xf0\x9f\x94\xa5", 0x1f525, 4 },
		{ "\xf4\x8f\xbf\xbf", 0x10ffff, 4 },
		{ "\x80", BAD, 1 },
		{ "\xc0\x80", BAD, 1 },
		{ "\xc1\xbf", BAD, 1 },
		{ "\xe0\x9f\xbf", BAD, 1 },
		{ "\xed\xa0\x80", BAD, 1 },
		{ "\xf0\x8f\xbf\xbf", BAD, 1 },
		{ "\xf4\x90\x80\x80", BAD, 1 },
		{ "\xf5\x80\x80\x80", BAD, 1 },
		{ "\xc3", BAD, 1 },
		{ "\xe2\x82", BAD, 1 },
		{ "\xe2\x28\xa1", BAD, 1 },
		{ "\xff", BAD, 1 },
	};

	for (size_t i = 0; i < N(cases); i++) {
		size_t used, n = strlen(cases[i].in);
		uint32_t cp = text_decode(cases[i].in, n, &used);
		char out[4];

		cr_assert_eq(cp, cases[i].cp, "case %zu: %x", i, cp);
		cr_assert_eq(used, cases[i].used, "case %zu", i);
		if (cp != BAD) {
			cr_assert_eq(text_encode(cp, out), used, "case %zu", i);
			cr_assert_eq(memcmp(out, cases[i].in, used), 0, "case %zu", i);
		}
	}
}

Test(text, unsafe_ones)
{
	static const struct {
		uint32_t first, last;
		bool unsafe;
	} cases[] = {
		{ 0, 0x1f, true },
		{ 0x20, 0x7e, false },
		{ 0x7f, 0x9f, true },
		{ 0xa0, 0x61b, false },
		{ 0x61c, 0x61c, true },
		{ 0x200b, 0x200d, false },
		{ 0x200e, 0x200f, true },
		{ 0x2028, 0x202e, true },
		{ 0x202f, 0x2065, false },
		{ 0x2066, 0x2069, true },
		{ 0xfdd0, 0xfdef, true },
		{ 0xfffe, 0xffff, true },
		{ 0x10000, 0x1fffd, false },
		{ 0x1fffe, 0x1ffff, true },
		{ 0x10fffe, 0x10ffff, true },
	};

	for (size_t i = 0; i < N(cases); i++)
		for (uint32_t cp = cases[i].first; cp <= cases[i].last; cp++)
			cr_assert_eq(text_is_unsafe(cp), cases[i].unsafe, "%x", cp);
}

Test(text, width_and_clip)
{
	static const struct {
		const char *in;
		size_t width, cols;
		const char *clip;
		size_t got;
	} cases[] = {
		{ "", 0, 5, "", 0 },
		{ "abc", 3, 2, "ab", 2 },
		{ "abc", 3, 9, "abc", 3 },
		{ "日本語", 6, 3, "日", 2 },
		{ "e\xcc\x81t", 2, 1, "e\xcc\x81", 1 },
		{ "\xcc\x81", 0, 0, "", 0 },
		{ "…▶█▏│", 5, 4, "…▶█▏", 4 },
		{ "🔥x", 3, 1, "", 0 },
		{ "a\x1b[31m", 6, 2, "a\x1b", 2 },
		{ "\xff\xfe", 2, 1, "\xff", 1 },
		{ "a\xe2\x80\xaez", 3, 3, "a\xe2\x80\xaez", 3 },
	};

	for (int utf8 = 0; utf8 < 2; utf8++) {
		if (!use_utf8(utf8))
			continue;
		for (size_t i = 0; i < N(cases); i++) {
			size_t n = strlen(cases[i].in), got = 99;
			size_t bytes = text_clip(cases[i].in, n, cases[i].cols, &got);

			cr_assert_eq(text_width(cases[i].in, n), cases[i].width, "case %zu, %d", i,
				     utf8);
			cr_assert_eq(bytes, strlen(cases[i].clip), "case %zu, %d", i, utf8);
			cr_assert_eq(got, cases[i].got, "case %zu, %d", i, utf8);
		}
	}
}

Test(text, lines_are_broken_at_blanks)
{
	static const struct {
		const char *in;
		size_t cols;
		const char *lines; /* with bars between */
	} cases[] = {
		{ "", 5, "" },
		{ "one", 3, "one" },
		{ "one two", 7, "one two" },
		{ "one two", 6, "one|two" },
		{ "one two", 4, "one|two" },
		{ "one two", 3, "one|two" },
		{ "one two", 2, "on|e|tw|o" },
		{ "a  bc", 3, "a |bc" },
		{ "saved: proftop live-20261123.perf.txt", 24,
		  "saved: proftop|live-20261123.perf.txt" },
		{ "日本 語", 4, "日本|語" },
	};

	cr_assert(use_utf8(true));
	for (size_t i = 0; i < N(cases); i++) {
		const char *at = cases[i].in;
		char got[128] = "";
		size_t next;

		for (size_t left = strlen(at); left > 0; at += next, left -= next) {
			size_t n = text_first_line(at, left, cases[i].cols, &next);

			snprintf(got + strlen(got), sizeof(got) - strlen(got), "%s%.*s",
				 *got ? "|" : "", (int)n, at);
		}
		cr_assert_str_eq(got, cases[i].lines, "case %zu", i);
	}
}

Test(text, clean)
{
	static const struct {
		const char *in;
		size_t n;
		const char *out, *ascii;
	} cases[] = {
		{ "plain", 5, "plain", "plain" },
		{ "\x1b]52;c;eA==\a", 12, "\uFFFD]52;c;eA==\uFFFD", "?]52;c;eA==?" },
		{ "a\0b", 3, "a\uFFFDb", "a?b" },
		{ "\xc2\x9b", 2, "\uFFFD", "?" },
		{ "a\u202eb", 5, "a\uFFFDb", "a?b" },
		{ "日本", 6, "日本", "\\u65e5\\u672c" },
		{ "Gr\u00f6\u00dfe\u2192\u0141\u017f", 14, "Gr\u00f6\u00dfe\u2192\u0141\u017f",
		  "Grosse->Ls" },
		{ "\u00c0\u00ff\u0100\u017e", 8, "\u00c0\u00ff\u0100\u017e", "AyAz" },
		{ "\U0001f600\u200b", 7, "\U0001f600\u200b", "\\U0001f600\\u200b" },
		{ "\xff\xe2\x82", 3, "\uFFFD\uFFFD\uFFFD", "???" },
		{ "tab\t", 4, "tab\uFFFD", "tab?" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *out = text_clean(cases[i].in, cases[i].n, false);
		char *ascii = text_clean(cases[i].in, cases[i].n, true);

		cr_assert_str_eq(out, cases[i].out, "case %zu", i);
		cr_assert_str_eq(ascii, cases[i].ascii, "case %zu", i);
		free(out);
		free(ascii);
	}
}

Test(text, fold_name)
{
	static const struct {
		size_t cols;
		const char *in, *out;
	} cases[] = {
		{ 0, "std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)" },
		{ 34, "std::vector<int>::push_back(int&&)", "std::vector<int>::push_back(int&&)" },
		{ 33, "std::vector<int>::push_back(int&&)", "std::vector<…>::push_back(int&&)" },
		{ 31, "std::vector<int>::push_back(int&&)", "std::vector<…>::push_back(…)" },
		{ 20, "std::vector<int>::push_back(int&&)", "…or<…>::push_back(…)" },
		{ 1, "main_loop", "…" },
		{ 3, "main_loop", "…op" },
		/* innermost first */
		{ 30, "a<bbbbbbbbbb<cccccccccc, dddddd>>::f", "a<bbbbbbbbbb<…>>::f" },
		{ 15, "a<bbbbbbbbbb<cccccccccc, dddddd>>::f", "a<…>::f" },
		/* longest first at one depth */
		{ 30, "f<int>(std::map<int, char, long, bool>)", "f<int>(std::map<…>)" },
		/* nothing is gained */
		{ 5, "abcdef<T>()", "…T>()" },
		{ 15, "operator<<(std::ostream&, int)", "operator<<(…)" },
		{ 17, "x::operator<(std::ostream&, int)", "x::operator<(…)" },
		{ 25, "bool operator<=> <std::string>(a, b)", "bool operator<=> <…>(…)" },
		{ 20, "foo::operator()(int, long, char)", "foo::operator()(…)" },
		{ 24, "foo::operator()<int*, long>(int*, long)", "foo::operator()<…>(…)" },
		{ 22, "foo::operator==<int*, long>(int*, long)", "foo::operator==<…>(…)" },
		{ 20, "p<int, long>::operator->() const", "…:operator->() const" },
		{ 24, "(anonymous namespace)::f(int)", "…nymous namespace)::f(…)" },
		{ 24, "(anonymous namespace)::g", "(anonymous namespace)::g" },
		{ 34, "main::{lambda(int, long)#1}::operator()(int, long) const",
		  "…lambda(…)#1}::operator()(…) const" },
		{ 40, "<alloc::vec::Vec<T, A> as core::iter::IntoIterator>::into_iter",
		  "…as core::iter::IntoIterator>::into_iter" },
		{ 60, "<alloc::vec::Vec<T, A> as core::iter::IntoIterator>::into_iter",
		  "<alloc::vec::Vec<…> as core::iter::IntoIterator>::into_iter" },
		{ 35, "core::ptr::drop_in_place::<alloc::string::String>",
		  "core::ptr::drop_in_place::<…>" },
		{ 14, "main.(*Server).Serve", "…Server).Serve" },
		/* unbalanced brackets are letters */
		{ 6, "a<b(c", "a<b(c" },
		{ 4, "a<b(c", "…b(c" },
		{ 6, "a>b)c(ddd)", "…)c(…)" },
		{ 6, "x(y<zzzzzz)", "x(…)" },
		{ 7, ")))))<<<<", "…))<<<<" },
		{ 9, "日本語<日本語>(x)", "…語<…>(x)" },
		{ 5, "ab\x1b[1mcd", "…1mcd" },
	};

	use_utf8(true);
	for (size_t i = 0; i < N(cases); i++) {
		char *out = text_fold_name(cases[i].in, cases[i].cols, false);

		cr_expect_str_eq(out, cases[i].out, "case %zu: %s in %zu gave %s", i, cases[i].in,
				 cases[i].cols, out);
		free(out);
	}
}

Test(text, fold_always_fits)
{
	static const char *const names[] = {
		"<alloc::vec::Vec<T, A> as core::iter::IntoIterator>::into_iter<日本, 語>(x, y)",
		"a<b<c<d<e<f(g(h(i)))>>>>>::operator()<日>(日本)::{lambda(auto:1)#2}",
		"((((<<<<))>>>>",
		"\xff\xff\xff<\xff\xff>(e\xcc\x81)",
	};

	for (int ascii = 0; ascii < 2; ascii++)
		for (size_t i = 0; i < N(names); i++)
			for (size_t cols = 1; cols < 90; cols++) {
				char *out = text_fold_name(names[i], cols, ascii);

				cr_assert_leq(text_width(out, strlen(out)), cols, "%s in %zu", out,
					      cols);
				free(out);
			}
}

/* Time must not grow with the square of a hostile name. */
Test(text, fold_of_a_hostile_name)
{
	static const char *const units[] = { "<", "(", ">", ")", "a<", "<)", "(>", "<>", "((a<b>" };
	const size_t n = 300000;

	for (size_t i = 0; i < N(units); i++) {
		size_t len = strlen(units[i]);
		char *name = xmalloc(2 * n * len + 1), *out;

		for (size_t k = 0; k < n; k++)
			memcpy(name + k * len, units[i], len);
		memset(name + n * len, ')', n * len);
		name[2 * n * len] = '\0';
		out = text_fold_name(name, 40, true);
		cr_assert_leq(strlen(out), 40);
		free(out);
		free(name);
	}
}
