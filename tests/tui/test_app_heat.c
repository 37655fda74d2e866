/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heat map among the other views: its key, its range, its frames. */
#include "config.h"

#include "tests/support/stage_app.h"

#include <criterion/criterion.h>

Test(app_heat, keys)
{
	static const struct stage_case cases[] = {
		{ "functions over time", "7", " a parse_rec", "heat]" },
		{ "the heat map", "7T", "[T heat]", "[7 timeline]" },
		{ "is left as it is entered", "7TT", "[7 timeline]", "heat]" },
		{ "or by any tab", "T1", "[1 top]", "heat]" },
		{ "and Tab does not come by", "00<Tab>", "[1 top]", "heat]" },
		{ "a range in it", "TlAllB", "filter  time:2,6.25", "all of the" },
		{ "which the timeline has", "TlAllBT", "A", " heat]" },
		{ "and the other way round", "7LAllBT", "filter  time:", "[7 timeline]" },
		{ "twice the same", "TlA",
		  "begins at 2.00 s; B ends it; A again takes the column, 2 s", "filter  time" },
		{ "is the column", "TljAA", "filter  time:2,4", "all of the" },
		{ "its times are named, not those of its samples", "TljAA",
		  "2.00 s – 4.00 s of 35.8 s", "all of the" },
		{ "also at its end", "TljAhAA", "filter  time:,2", "all of the" },
		{ "a range again begins where it did", "TljAAA", "filter  time:2.25,4",
		  "all of the" },
		{ "the end first", "TlllBhA", "filter  time:4,6.25", "begins" },
		{ "what begins later than it ends begins anew", "TlAlBhhhlllA",
		  "the range begins at", "the range ends" },
		{ "esc forgets a single end there", "TlA<Esc>lB", "the range ends at ",
		  "filter  time" },
		{ "its frames", "TlAllB<Enter>", "[5 flame]", "heat]" },
		{ "a cell's frames", "Tp<Enter>", "filter  time:", "heat]" },
		{ "in the tree", "Tpt", "[2 tree]", "heat]" },
		{ "back there", "Tpt<Esc>", "[T heat]", "filter  time:" },
		{ "shorter columns", "T+", "1 s down a column", "2 s down" },
		{ "and back", "T+<Esc>", "2 s down a column", "1 s down" },
		{ "nothing is searched there", "/mem<Enter>T", "[T heat]", "bad" },
	};

	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 110, 30);
}

/* The button pressed at one cell and let go of at another one. */
Test(app_heat, dragging)
{
	static const struct stage_drag cases[] = {
		{ "in the heat map", "T", 6, 20, 7, 41, "filter  time:", "all of the" },
		{ "backwards in it", "T", 7, 41, 6, 20, "filter  time:", "all of the" },
		{ "not beside it", "T", 6, 2, 7, 41, "[T heat]", "filter  time:" },
	};

	stage_app_expect_drags(cases, sizeof(cases) / sizeof(*cases), 110, 30);
}
