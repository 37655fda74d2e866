/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The heat map among the other views: its key, its range, its frames. */
#include "config.h"

#include "base/mem.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage_app.h"

#include <criterion/criterion.h>
#include <stdlib.h>

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

/* 600 samples in three seconds; late() runs from 2.4 s to 2.8 s. */
static struct profile *with_a_phase(void)
{
	char *text = xstrdup("");
	struct profile *p;

	for (int ms = 0; ms <= 3000; ms += 5) {
		char *more = xasprintf("%smain;%s 1 t=%d000000\n", text,
				       ms >= 2400 && ms < 2800 ? "late" : "early", ms);

		free(text);
		text = more;
	}
	p = made_profile(text);
	free(text);
	return p;
}

/* What is filtered may begin late: the cursor starts where something is, until it is moved. */
Test(app_heat, starts_where_something_is)
{
	static const struct {
		const char *keys, *filter;
	} cases[] = { { "TAA", "filter  time:,0.2" },
		      { "&fn:late<Enter>TAA", "filter  fn:late time:2.4,2.6" },
		      { "T<Home>&fn:late<Enter>AA", "filter  fn:late time:,0.2" } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stage_app f;

		stage_app_init(&f, with_a_phase(), true, 100, 30);
		stage_app_play(&f, cases[i].keys);
		cr_expect(stage_app_shows(&f, cases[i].filter), "%s: no %s", cases[i].keys,
			  cases[i].filter);
		stage_app_done(&f);
	}
}
