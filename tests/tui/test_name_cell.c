/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names in a row of the screen. */
#include "config.h"

#include "base/mem.h"
#include "base/text.h"
#include "tui/canvas/canvas.h"
#include "tui/rows/name_cell.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

static void use_utf8(void)
{
	setlocale(LC_ALL, "C.UTF-8");
}

/* Templates of templates: a name of many kilobytes says its method, as short ones do. */
Test(name_cell, long_templates_keep_their_method, .init = use_utf8)
{
	static const size_t sizes[] = { 10, 4000, 4090, 5000, 16000 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		char *arguments = xmalloc(sizes[i] + 1), *name, *text;
		struct name_look look = { 0 };
		struct canvas c;

		memset(arguments, 'x', sizes[i]);
		arguments[sizes[i]] = '\0';
		name = xasprintf("L<std::tuple<%s> >::f(long)", arguments);
		canvas_init(&c, 16, 1, false);
		cr_expect_eq(name_draw(&c, 0, 0, 16, name, &look), 13);
		text = canvas_text(&c);
		cr_expect_str_eq(text, "L<…>::f(long)\n", "%zu bytes: %s", sizes[i], text);
		free(text);
		canvas_done(&c);
		free(name);
		free(arguments);
	}
}

/* What is longer than any name is looked at by its beginning only, in flame graphs too: a name of 50 MB took seconds to draw. */
Test(name_cell, endless_names_are_cut_first, .init = use_utf8)
{
	const char *ends[] = { "::tail", "::other" };
	char *shown[2];

	for (int i = 0; i < 2; i++) {
		char *stem = xmalloc(NAME_MOST_BYTES + 1), *name;

		memset(stem, 'x', NAME_MOST_BYTES);
		stem[NAME_MOST_BYTES] = '\0';
		name = xasprintf("%s%s", stem, ends[i]);
		shown[i] = name_short(name, 10, false);
		free(name);
		free(stem);
	}
	cr_expect_str_eq(shown[0], shown[1], "%s, %s", shown[0], shown[1]);
	cr_expect_eq(shown[0][0], 'x', "%s", shown[0]);
	free(shown[0]);
	free(shown[1]);
}

/* Rust's types and traits stay; what belongs to a type is told with it. */
Test(name_cell, what_tells_functions_apart_stays, .init = use_utf8)
{
	static const struct {
		const char *name;
		int cols;
		const char *shown;
	} cases[] = {
		{ "<core::hash::sip::Hasher<S> as core::hash::Hasher>::write", 37,
		  "<Hasher<S> as Hasher>::write" },
		{ "<core::hash::sip::Hasher<S> as core::hash::Hasher>::write", 50,
		  "<sip::Hasher<S> as hash::Hasher>::write" },
		{ "<core::hash::sip::Hasher<S> as core::hash::Hasher>::write", 20,
		  "<Hasher<S> a…::write" },
		{ "core::slice::cmp::<impl core::cmp::PartialEq<[U]> for [T]>::eq", 37,
		  "…cmp::<impl PartialEq<…> for [T]>::eq" },
		{ "<hashbrown::raw::RawTableInner>::probe_seq", 30, "<RawTableInner>::probe_seq" },
		{ "__gnu_cxx::__normal_iterator<char const*, std::string>::operator--()", 28,
		  "__normal_iter…::operator--()" },
		{ "std::vector<int, std::allocator<int> >::push_back(int&&)", 20,
		  "…push_back(int&&)" },
		{ "core::fmt::write", 37, "core::fmt::write" },
		/* no half word of a class, which would be another one in each width */
		{ "std::vector<int, std::allocator<int> >::push_back(int&&)", 23,
		  "…push_back(int&&)" },
		{ "main::{lambda(int, int)#1}::operator()(int, int) const", 12, "main::" },
		{ "<alloc::vec::Vec<T>>::sum::{{closure}}", 5, "sum::" },
		{ "core::iter::sum::{{closure}}", 3, "sum" },
		{ "core::iter::sum::{{closure}}::{{closure}}", 2, "su" },
		{ "core::iter::sum::{{closure}}", 13, "…{{closure}}" },
		{ "A::operator()(int)", 10, "operator()" },
		{ "operator<< <char>(std::ostream&, char)", 10, "operator<<" },
		{ "<<std::OnceLock<T>>::initialize::<F> as core::Fn<()>>", 10, "<<OnceLock" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *shown = name_short(cases[i].name, cases[i].cols, false);

		cr_expect_str_eq(shown, cases[i].shown, "%s in %d: %s", cases[i].name,
				 cases[i].cols, shown);
		free(shown);
	}
}

/* Where a function has no name its address is what is read, down to its last digits. */
Test(name_cell, addresses)
{
	static const struct {
		const char *name;
		int cols;
		const char *shown;
	} cases[] = {
		{ "[cc1plus+0x97da40]", 18, "[cc1plus+0x97da40]" },
		{ "[cc1plus+0x97da40]", 17, "[cc1pl…+0x97da40]" },
		{ "[cc1plus+0x97da40]", 12, "+0x97da40" },
		{ "[cc1plus+0x97da40]", 9, "+0x97da40" },
		{ "[cc1plus+0x97da40]", 8, "97da40" },
		{ "[cc1plus+0x97da40]", 6, "97da40" },
		{ "[cc1plus+0x97da40]", 3, "a40" },
		{ "[cc1plus+0x97da40]", 2, "" },
		{ "[a+b+0x1]", 8, "[a…+0x1]" },
		{ "[+0x]", 4, "[+0x" },
		{ "[kernel+0xzz]", 8, "[kernel+" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *a = name_short(cases[i].name, cases[i].cols, false);

		cr_expect_str_eq(a, cases[i].shown, "%s in %d: %s", cases[i].name, cases[i].cols,
				 a);
		cr_expect_leq(text_width(a, strlen(a)), (size_t)cases[i].cols);
		free(a);
	}
}
