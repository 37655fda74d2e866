/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The app on a canvas: the way to a function's code and back, and what keys do there. */
#include "config.h"

#include "tests/support/stage.h"
#include "tests/support/stage_app.h"

#include <criterion/criterion.h>

Test(app_code, what_keys_do)
{
	static const struct stage_case cases[] = {
		{ "code of the selection", "u", "[annotate]", "[1 top]" },
		{ "hottest line first", "u", "▸   25.0     43.0", "[1 top]" },
		{ "and back", "u<Esc>", "[1 top]", "annotate" },
		{ "a tab only while it is shown", "u1", "[1 top]", "annotate" },
		{ "code below a node", "2eu", "below the node", "[2 tree]" },
		{ "code of all calls", "u", "self 27.3 %", "below the node" },
		{ "the next hottest", "un", "hottest 2 of 6: 32.0 %", "[1 top]" },
		{ "and the hottest again", "unN", "hottest 1 of 6: 43.0 %", "[1 top]" },
		{ "lines with instructions", "ua", "4130  pushq", "[1 top]" },
		{ "instructions by address", "uaa", "┌──→  4134", "[1 top]" },
		{ "a jump is followed", "uaajj<Enter>", "▸    1.0", "[1 top]" },
		{ "where no match is in sight, n goes to what is hot", "/Parser<Enter>un",
		  "hottest 2", "[1 top]" },
		{ "a search in code", "u/limit<Enter>n", "2/2 · 7.3 % of total", "hottest" },
		{ "from code to callers", "uc", "[3 callers]", "annotate" },
		{ "the centre of a butterfly", "b<Enter>", "[annotate]", "[4 butterfly]" },
		{ "modules have no lines", "ou", "source lines are of a function", "annotate" },
		{ "functions without lines have code, too", "ooou", "[annotate]", "[1 top]" },
		{ "another metric", "um", "[annotate]", "[1 top]" },
		{ "code through a filter", "u&thread:nobody<Enter>", "[annotate]", "43.0 █" },
	};

	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 120, 30);
}
