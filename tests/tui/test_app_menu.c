/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The menu of a row, its transforms and their undoing; completion in the filter prompt; keys without a use. */
#include "config.h"

#include "tests/support/stage.h"
#include "tests/support/stage_app.h"

#include <criterion/criterion.h>
#include <locale.h>

Test(app_menu, what_keys_do)
{
	static const struct stage_case cases[] = {
		{ "the menu of a row", ".", "WITH Parser::parse_record(Slice)", "WITH std" },
		{ "a menu closes", ".<Esc>", "[1 top]", "WITH" },
		{ "drop a function", ".d", "filter  !fn:^Parser::parse_record", "WITH" },
		{ "and have it back", ".d<Esc>", " ▸  27.3", "!fn" },
		{ "merge", "j.m", "filter  merge:\"^std::vector", "WITH" },
		{ "merge one node", "2jjjj.M", "filter  merge-path:", "WITH" },
		{ "focus on a subtree", "2jjj.F", "filter  focus-path:", "WITH" },
		{ "a node's transform on a function", ".M", "that is of a node", "merge-path" },
		{ "collapse a module", ".C", "filter  collapse-module:(?-i)^my_program$", "WITH" },
		{ "focus on a module", ".g", "filter  focus-module:(?-i)^my_program$", "WITH" },
		{ "with the arrows", ".jj<Enter>", "filter  leaf:^Parser::parse_record", "WITH" },
		{ "no menu of threads' rows", "oooo.", "these rows are no functions", "WITH" },
		{ "a kind is completed", "&mod<Tab>", "& module:", "kinds are" },
		{ "as far as they agree", "&merge<Tab>", "merge  merge-path", "kinds are" },
		{ "values are", "&is:al<Tab>", "& is:alloc", "kinds are" },
		{ "names are", "&module:libz<Tab>", "& module:libz.so.1", "kinds are" },
		{ "nothing to complete", "&zzz<Tab>", "nothing begins so", "kinds are" },
		{ "a key without a use", "X", "X means nothing in top", "WITH" },
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 110, 30);
}
