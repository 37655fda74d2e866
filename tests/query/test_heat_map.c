/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/analysis.h"
#include "query/heat_map.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define MS ((int64_t)1000000)
#define S  (1000 * MS)

/* What columns and rows there are of a recording, on a screen of so many. */
Test(heat_map, grids)
{
	static const struct {
		const char *what;
		int64_t whole;
		uint32_t cols, rows;
		struct heat_grid grid;
		int64_t least;
	} cases[] = {
		{ "seconds", 36 * S + 1, 100, 25, { S, 25, 37 }, 0 },
		{ "rows divide a second into round parts", 36 * S, 100, 30, { S, 25, 36 }, 0 },
		{ "also few", 36 * S, 100, 3, { S, 2, 36 }, 0 },
		{ "also one", 36 * S, 100, 1, { S, 1, 36 }, 0 },
		{ "seconds share columns where there are many",
		  101 * S,
		  100,
		  20,
		  { 2 * S, 20, 51 },
		  0 },
		{ "minutes", 3600 * S, 100, 30, { 60 * S, 30, 60 }, 0 },
		{ "days", 700 * 86400 * S, 100, 24, { 8 * 86400 * S, 24, 88 }, 0 },
		{ "parts of a second where there are few",
		  3 * S,
		  100,
		  20,
		  { 200 * MS, 20, 15 },
		  0 },
		{ "but not more than fit", 3 * S, 5, 20, { S, 20, 3 }, 0 },
		{ "next to nothing", 1, 100, 20, { 1000, 20, 1 }, 0 },
		{ "cells are as long as they have to be", 36 * S, 100, 25, { S, 20, 36 }, 50 * MS },
		{ "periods, too", 3 * S, 100, 20, { 200 * MS, 10, 15 }, 20 * MS },
		{ "so that columns are not too short",
		  36 * S,
		  100,
		  25,
		  { 2 * S, 8, 18 },
		  240 * MS },
		{ "even long ones", 3 * S, 100, 20, { 2 * S, 1, 2 }, 1500 * MS },
		{ "for ever", INT64_MAX / 4, 50, 10, { INT64_C(88473600) * S, 10, 27 }, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct heat_grid g;

		heat_grid_choose(
			cases[i].whole,
			&(struct heat_limits){ cases[i].cols, cases[i].rows, cases[i].least }, &g);
		cr_expect_eq(g.period_ns, cases[i].grid.period_ns, "%s: %lld ns", cases[i].what,
			     (long long)g.period_ns);
		cr_expect_eq(g.n_rows, cases[i].grid.n_rows, "%s: %u rows", cases[i].what,
			     g.n_rows);
		cr_expect_eq(g.n_columns, cases[i].grid.n_columns, "%s: %u columns", cases[i].what,
			     g.n_columns);
		cr_expect_eq(heat_cell_ns(&g) * g.n_rows, g.period_ns, "%s", cases[i].what);
	}
}

/* In and out is where one was; it ends at both ends. */
Test(heat_map, zooms)
{
	struct heat_limits limits = { 100, 20, 0 };
	struct heat_grid g, before;
	int n = 0;

	heat_grid_choose(36 * S, &limits, &g);
	before = g;
	cr_expect(heat_grid_zoom(36 * S, true, &limits, &g));
	cr_expect_eq(g.period_ns, 500 * MS);
	cr_expect(heat_grid_zoom(36 * S, false, &limits, &g));
	cr_expect_eq(g.period_ns, before.period_ns);
	while (heat_grid_zoom(36 * S, false, &limits, &g))
		n++;
	cr_expect_eq(g.n_columns, 1);
	for (n = 0; heat_grid_zoom(36 * S, true, &limits, &g); n++)
		cr_assert(n < 100);
	cr_expect_eq(g.period_ns, 1000);
	heat_grid_choose(36 * S, &limits, &g);
	limits.least_cell_ns = 5 * MS;
	for (n = 0; heat_grid_zoom(36 * S, true, &limits, &g); n++)
		cr_assert(n < 100);
	cr_expect_eq(g.period_ns, 5 * MS, "%lld", (long long)g.period_ns);
	cr_expect_eq(g.n_rows, 1);
}

/* Periods of clocks, and what they leave unknown. */
Test(heat_map, samples)
{
	cr_expect_eq(heat_least_cell(0), 0);
	cr_expect_eq(heat_least_cell(1 * MS), 5 * MS - MS / 10);
	cr_expect_eq(heat_least_cell(INT64_MAX / 2), INT64_MAX / 2);
	cr_expect_eq(heat_margin(0, 1, 10 * MS, MS), MS);
	cr_expect_eq(heat_margin(9 * MS, 1, 10 * MS, MS), MS, "one thread: one sample");
	cr_expect_eq(heat_margin(35 * MS, 1, 10 * MS, MS), 2 * MS, "four threads: two");
	cr_expect_eq(heat_margin(35 * MS, 1, 10 * MS, 0), 0, "rows that last");
}

Test(heat_map, levels)
{
	cr_expect_eq(heat_level(0, 80), 0);
	cr_expect_eq(heat_level(-5, 80), 0);
	cr_expect_eq(heat_level(5, 0), 0);
	cr_expect_eq(heat_level(1, INT64_MAX), 1);
	cr_expect_eq(heat_level(INT64_MAX, INT64_MAX), HEAT_LEVELS);
	for (int level = 1; level <= HEAT_LEVELS; level++) {
		cr_expect_eq(heat_level(level * 10, 80), level);
		cr_expect_eq(heat_level(level * 10 - 9, 80), level);
	}
}

/* Threads together, by the filter, whatever its time terms say; what is at the end counts. */
Test(heat_map, cells)
{
	struct profile *p = made_profile("a 1 tid=1 t=1000\na 2 tid=2 t=1000\n"
					 "b 4 tid=1 t=1400\na 8 tid=1 t=1999\n"
					 "a 16 tid=1 t=2000\n");
	const struct time_span span = { .to_ns = 1000, .n = 4 };
	static const int64_t want[] = { 3, 0, 0, 24 };
	struct analysis *a;
	struct heat_map *m;
	struct lens lens;

	made_lens(&lens, p, "fn:a time:0,0.0000001");
	a = made_analysis(p, &lens);
	cr_assert_eq(heat_map_new(a, &span, NULL, &m), 0);
	cr_assert(m->cell);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(m->cell[i], want[i], "cell %zu: %lld", i, (long long)m->cell[i]);
	cr_expect_eq(m->most, 24);
	heat_map_free(m);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

static void expect_cells(const struct profile *p, enum measure measure, uint32_t event,
			 const int64_t want[4])
{
	const struct time_span span = { .to_ns = 400, .n = 4 };
	struct analysis *a;
	struct heat_map *m;
	struct lens lens;

	made_lens(&lens, p, "");
	lens.column[0].metric = (struct metric){ { event }, measure, false };
	a = made_analysis(p, &lens);
	cr_assert_eq(heat_map_new(a, &span, NULL, &m), 0);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(m->cell[i], want[i], "event %u, measure %d, cell %zu: %lld", event,
			     (int)measure, i, (long long)m->cell[i]);
	cr_expect_eq(heat_sample_ns(a) > 0, measure == MEASURE_WALL || event == 0);
	heat_map_free(m);
	analysis_free(a);
	lens_done(&lens);
}

/* A wait is spread over the time that it lasts, beside samples of the same metric, which are moments. */
Test(heat_map, waits)
{
	struct profile *p = made_profile("a 10 event=ns:cpu-clock tid=1 pid=1 t=1000\n"
					 "a 200 event=waits:offcpu tid=1 pid=1 t=1050\n"
					 "a 10 event=ns:cpu-clock tid=1 pid=1 t=1399\n");

	expect_cells(p, MEASURE_WEIGHT, 0, (const int64_t[]){ 10, 0, 0, 10 });
	expect_cells(p, MEASURE_WEIGHT, 1, (const int64_t[]){ 50, 100, 50, 0 });
	expect_cells(p, MEASURE_WALL, 0, (const int64_t[]){ 60, 100, 50, 10 });
	profile_free(p);
}
