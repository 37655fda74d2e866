/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Names that are seen together: none reads like another one. */
#include "config.h"

#include "base/mem.h"
#include "base/text.h"
#include "tui/rows/name_cell.h"
#include "tui/rows/name_set.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MOST 4

static void use_utf8(void)
{
	setlocale(LC_ALL, "C.UTF-8");
}

/* What of the names differs stands behind them; those that read other than the rest stay as they are: "". */
Test(name_set, names_are_told_apart, .init = use_utf8)
{
	static const struct {
		int cols, module_cols;
		const char *name[NAMES_MOST], *module[NAMES_MOST], *shown[NAMES_MOST];
	} cases[] = {
		{ 26,
		  0,
		  { "std::pair<int, long>::pair<int>()", "std::pair<int, char>::pair<int>()",
		    "std::vector<int>::push_back(int)" },
		  { "m", "m", "m" },
		  { "…pair<…>::pair<…>() …long", "…pair<…>::pair<…>() …char", "" } },
		/* as wide as they are there is nothing to tell */
		{ 60,
		  0,
		  { "std::pair<int, long>::pair<int>()", "std::pair<int, char>::pair<int>()" },
		  { "m", "m" },
		  { "", "" } },
		/* arguments, and what follows them */
		{ 12,
		  0,
		  { "write(int, char const*)", "write(int, char*)", "write(int, char*) const" },
		  { "m", "m", "m" },
		  { "", "", "" } },
		/* one word does not tell three apart, where two of them share it */
		{ 30,
		  0,
		  { "f<aaaaaaaaaaaa, xxxxxxxxxxxx>::g()", "f<aaaaaaaaaaaa, yyyyyyyyyyyy>::g()",
		    "f<bbbbbbbbbbbb, xxxxxxxxxxxx>::g()" },
		  { "m", "m", "m" },
		  { "", "", "" } },
		/* the same name of two modules, which their cells say or do not */
		{ 12, 10, { "main", "main" }, { "liba.so", "libb.so" }, { "", "" } },
		{ 20,
		  0,
		  { "main", "main" },
		  { "liba.so", "libb.so" },
		  { "main …liba", "main …libb" } },
		{ 20,
		  6,
		  { "main", "main" },
		  { "libalpha.so.1", "libalpha.so.2" },
		  { "main …1", "main …2" } },
		/* the same function twice, as in a tree */
		{ 6, 0, { "recursive_call", "recursive_call" }, { "m", "m" }, { "", "" } },
		{ 30,
		  0,
		  { "ключ<один>::функция_с_длинным_именем", "ключ<два>::функция_с_длинным_именем" },
		  { "m", "m" },
		  { "", "" } },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct seen_name seen[NAMES_MOST] = { { 0 } };
		char **label, *text[NAMES_MOST];
		size_t n = 0;

		for (; n < NAMES_MOST && cases[i].name[n]; n++)
			seen[n] = (struct seen_name){ cases[i].name[n], cases[i].module[n],
						      cases[i].cols, cases[i].module_cols };
		label = names_apart(seen, n, false);
		for (size_t k = 0; k < n; k++) {
			text[k] = label[k] ? xstrdup(label[k])
					   : name_in_row(seen[k].label, seen[k].cols, false);
			cr_expect_leq((int)text_width(text[k], strlen(text[k])), seen[k].cols, "%s",
				      text[k]);
			if (*cases[i].shown[k])
				cr_expect_str_eq(text[k], cases[i].shown[k], "%s", text[k]);
		}
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < k; j++)
				if (strcmp(seen[k].label, seen[j].label) != 0)
					cr_expect_str_neq(text[k], text[j], "case %zu: %s", i,
							  text[k]);
		for (size_t k = 0; k < n; k++)
			free(text[k]);
		names_apart_free(label, n);
	}
}

/* Lines without a name, and cells without a column, are passed over. */
Test(name_set, nothing_to_tell)
{
	struct seen_name seen[] = { { NULL, NULL, 9, 0 },
				    { "f(int)", "m", 0, 0 },
				    { "f()", "m", 1, 0 } };
	char **label = names_apart(seen, 3, true);

	for (size_t i = 0; i < 3; i++)
		cr_expect_null(label[i]);
	names_apart_free(label, 3);
	names_apart_free(names_apart(NULL, 0, false), 0);
}
