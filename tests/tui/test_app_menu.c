/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The menu of a row, its transforms and their undoing; completion in the filter prompt; keys without a use. */
#include "config.h"

#include "tests/support/stage.h"
#include "tests/support/stage_app.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

Test(app_menu, what_keys_do)
{
	static const struct stage_case cases[] = {
		{ "the menu of a row", ".", "WITH Parser::parse_record(Slice)", "WITH std" },
		{ "its selected entry's term in full", ".jj",
		  "Enter adds  leaf:^Parser::parse_record", "means nothing" },
		{ "a menu closes", ".<Esc>", "[1 top]", "WITH" },
		{ "so does its own key", "..", "[1 top]", "WITH" },
		{ "a letter that is not in it", ".z", "z is not in this menu; Esc closes it",
		  "stopped" },
		{ "leaves it open", ".z", "WITH Parser::parse_record(Slice)", "[2 tree]" },
		{ "and so do keys of views", ".2d", "filter  !fn:^Parser::parse_record", "WITH" },
		{ "drop a function", ".d", "filter  !fn:^Parser::parse_record", "WITH" },
		{ "and have it back", ".d<Esc>", " ▸  27.3", "!fn" },
		{ "merge", "j.m", "filter  merge:\"^std::vector", "WITH" },
		{ "merge one node", "2jjjj.M", "filter  merge-path:", "WITH" },
		{ "focus on a subtree", "2jjj.F", "filter  focus-path:", "WITH" },
		{ "a node's transform on a function", ".M", "that is of a node", "merge-path" },
		{ "collapse a module", ".C", "filter  collapse-module:(?-i)^my_program$", "WITH" },
		{ "which is no name that is missing", ".C", " %  [my_program] ", "no symbol" },
		{ "focus on a module", ".g", "filter  focus-module:(?-i)^my_program$", "WITH" },
		{ "with the arrows", ".jj<Enter>", "filter  leaf:^Parser::parse_record", "WITH" },
		{ "no menu of threads' rows", "oooo.", "these rows are no functions", "WITH" },
		{ "a kind is completed", "&mod<Tab>", "& module:", "kinds are" },
		{ "as far as they agree", "&merge<Tab>",
		  "change stacks: merge: merge-path:", "choose" },
		{ "all kinds, transforms behind them", "&<Tab>",
		  "collapse-module: merge-path:", "; Tab" },
		{ "values are", "&is:al<Tab>", "& is:alloc", "kinds are" },
		{ "names are", "&module:libz<Tab>", "& module:libz.so.1", "kinds are" },
		{ "as an expression that matches", "&module:[k<Tab><Enter>",
		  "filter  module:\\[kernel]", "Parser::parse_record" },
		{ "of several as far as they agree", "&tid:<Tab>", "; Tab: the first",
		  "kinds are" },
		{ "the busiest", "&tid:<Tab><Tab><Enter>", "filter  tid:812", "kinds are" },
		{ "a number behind another", "&tid:812,<Tab><Tab>", "& tid:812,812", "kinds are" },
		{ "a name with blanks in quotes", "&fn:std::vec<Tab><Tab>",
		  "& fn:\"std::vector<Rec, std::allocator<Rec> >::push_back\\\\(Rec&&\\\\)\"",
		  "kinds are" },
		{ "a function without its kind", "&log_l<Tab>", "& log_line\\(std::string_view\\)",
		  "kinds are" },
		{ "what has it in it", "&fn:record<Tab>",
		  "no function begins with \"record\", these have it:  Parser::parse_record(",
		  "Tab: the first" },
		{ "nothing to complete", "&zzz<Tab>",
		  "no kind of term and no function begins with \"zzz\": Backspace", "kinds are" },
		{ "no such number", "&tid:99<Tab>", "no tid begins with \"99\": Backspace",
		  "kinds are" },
		{ "no such value", "&label:<Tab>", "this profile knows no label", "kinds are" },
		{ "a value without a list", "&time:<Tab>", "wants two times, as in 1.5,20",
		  "kinds are" },
		{ "an unknown kind", "&foo:<Tab>", "kinds are fn, module", "Tab: the first" },
		{ "an expression", "&fn:a.*b<Tab>", "that is an expression", "kinds are" },
		{ "help begins with what one does most", "?",
		  "show the function between its callers", "compare" },
		{ "rows that are compared are so behind all else", "oooo?", "compare two rows: a",
		  "source lines" },
		{ "a heat map's keys speak of its cells", "T?", "one cell down, a little later",
		  "column a second" },
		{ "a tree's of its rows", "2?", "of an open one: show what is below it alone",
		  "centre" },
		{ "a thread's call tree", "oooot", "[2 tree]", "WITH" },
		{ "a thread has no source", "oooou", "these rows are no functions: Enter", "WITH" },
		{ "where one is already", "1", "this is top", "WITH" },
		{ "a key without a use", "X", "X means nothing in top", "WITH" },
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 110, 30);
}

/* What there is no room for goes as a whole: sentences to their colon, names to their last part, terms one by one. */
Test(app_menu, little_room)
{
	static const struct stage_case cases[] = {
		{ "the name", ".", "WITH Parser::parse_record(…)   1-5 of 13", "(Slic " },
		{ "a sentence", ".", " focus on this node", "focus on this node:" },
		{ "one that has room", ".", " focus on it: stacks begin with it", "F3" },
		{ "a term that does not fit", "j.m", "filter  merge:\"^std::", "… std" },
		{ "the newest terms", "j.m.r", "filter  … recursion:all", "merge" },
	};

	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 42, 11);
}

/* Keys that move, of which there may be no further, and those that leave. */
#define MAY_DO_NOTHING "jkhlgGHLpqQ"

/* Every key changes the screen, asks for something, or says why it does not. */
static void expect_answers(const char *where)
{
	for (uint32_t key = '!'; key <= '~'; key++) {
		struct terminal_request request = { 0 };
		struct stage_app f;
		char *before, *after;

		if (strchr(MAY_DO_NOTHING, (int)key))
			continue;
		stage_app_init(&f, stage_profile(), true, 120, 30);
		stage_app_play(&f, where);
		before = stage_app_draw(&f);
		app_key(f.app, key);
		stage_app_settle(&f);
		after = stage_app_draw(&f);
		cr_expect(strcmp(before, after) != 0 || app_take_request(f.app, &request), "%s %c",
			  where, (int)key);
		free(request.text);
		free(before);
		free(after);
		stage_app_done(&f);
	}
}

Test(app_menu, every_key_answers)
{
	static const char *const places[] = { "jj", "2jj", "3j", "4", "5j",  "6",   "7",
					      "8",  "0",   "u",  "T", "ojj", "oooo" };

	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++)
		expect_answers(places[i]);
}
