/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Comparisons within one recording, chosen with a and b: what is compared, what is said, and the way back. */
#include "config.h"

#include "query/analysis.h"
#include "query/diff/diff.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage.h"
#include "tests/support/stage_app.h"
#include "tui/app/app_act.h"
#include "tui/app/app_state.h"

#include <criterion/criterion.h>
#include <math.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Keys on a profile, and what the screen then shows; "!" before what it must not. */
static void check(struct profile *p, const char *keys, const char *shows)
{
	struct stage_app f;

	stage_app_init(&f, p, true, 100, 30);
	stage_app_play(&f, keys);
	if (*shows == '!')
		cr_expect(stage_app_hides(&f, shows + 1), "%s", keys);
	else
		cr_expect(stage_app_shows(&f, shows), "%s", keys);
	stage_app_done(&f);
}

/* Two threads. */
#define TASKS  "6jajb"
/* Two ranges. */
#define RANGES "7HHHHHHHAlllllllBaLLLLALBb"

Test(app_sides, keys)
{
	static const struct {
		const char *keys, *shows;
	} cases[] = {
		{ "6a", "; select another, press b" },
		{ "6a6", "side a  pid:812" },
		{ "6a6", "b with this" },
		{ "6aa", "side a" },
		{ "6ab", "that is side a itself" },
		{ "6ax", "side a is forgotten" },
		{ "6x", "nothing is compared: a and b choose its sides" },
		{ "6ax6", "!side a" },
		{ "6", "!b compare" },
		{ "6", "!x leave" },
		{ TASKS, "demo.data › tid:812 → tid:815 › cpu-clock" },
		{ TASKS, "[1 top]" },
		{ TASKS, "x leave" },
		{ TASKS, "BEFORE" },
		{ TASKS, "not normalised" },
		{ TASKS "5", "[5 flame]" },
		{ TASKS "x", "[6 threads]" },
		{ TASKS "x", "back to the whole recording" },
		{ TASKS "<Esc>", "[6 threads]" },
		{ TASKS "q", "[6 threads]" },
		{ TASKS "1jt<Esc>", "→ tid:815" },
		{ TASKS "1jt<Esc><Esc>", "[6 threads]" },
		{ TASKS "x1", "!BEFORE" },
		{ TASKS "oooa", "this is a comparison already" },
		{ TASKS "xgjajb", "tid:812 → tid:815" },
		{ "6ajjb", "pid:812 → tid:815" },
		{ "6ajjb", "the sides overlap: " },
		{ TASKS, "!the sides overlap" },
		{ RANGES, "!the sides overlap" },
		{ "7HHHHHHHAlllllllBahhhALBb", "samples are on both, " },
		{ "1a", "o shows them as rows" },
		{ "1ooooajb", "tid:812 → tid:815" },
		{ "1oooooajb", "pid:812 → pid:900" },
		{ "7a", "A and B mark its ends first" },
		{ "7AlllBa", "side a  time:" },
		{ "7AlllBa", "!filter  time" },
		{ RANGES, "→ time:" },
		{ RANGES, "normalised by time" },
		{ RANGES "x", "[7 timeline]" },
		{ RANGES "x", "!filter  time" },
		{ "&module:libc<Enter>" TASKS, "filter  module:libc" },
		{ "&module:libc<Enter>" TASKS "x", "filter  module:libc" },
	};

	for (size_t i = 0; i < N(cases); i++)
		check(stage_profile(), cases[i].keys, cases[i].shows);
}

static const char groups[] = "a;b 6 pid=1 tid=1 name=x cgroup=/web.service\n"
			     "a;c 4 pid=2 tid=2 name=y cgroup=/db\n";

/* Of recordings that say control groups, and of others. */
Test(app_sides, control_groups)
{
	check(made_profile(groups), "1ooooooooo", "CGROUP");
	check(made_profile(groups), "1oooooooooo", "FUNCTION");
	check(made_profile(groups), "1oooooooooajb",
	      "cgroup:(?-i)^/web\\.service$ → cgroup:(?-i)^/db$");
	check(made_profile(groups), "1ooooooooo<Enter>", "filter  cgroup:(?-i)^/web\\.service$");
	check(stage_profile(), "1ooooooooo", "FUNCTION");
}

/* What stands on screens of comparisons that are as narrow as can be. */
Test(app_sides, normalisation_is_on_every_screen)
{
	static const struct {
		const char *keys, *shows;
	} cases[] = {
		{ TASKS, "= none" },       { TASKS "=", "= total" },  { TASKS "==", "= time" },
		{ TASKS "5", "= none" },   { TASKS "2=", "= total" }, { TASKS "3=", "= total" },
		{ TASKS "4=", "= total" }, { TASKS "7=", "= total" }, { TASKS "8=", "= total" },
		{ TASKS, "x leave" },      { TASKS "5", "x leave" },  { TASKS "7", "v align" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct stage_app f;

		stage_app_init(&f, stage_profile(), true, 40, 10);
		stage_app_play(&f, cases[i].keys);
		cr_expect(stage_app_shows(&f, cases[i].shows), "%s", cases[i].keys);
		stage_app_done(&f);
	}
}

/* Sides over time, and what the help says of the keys. */
Test(app_sides, over_time)
{
	static const struct {
		const char *keys, *shows;
	} cases[] = {
		{ TASKS "7", "aligned by start" },
		{ TASKS "7v", "aligned by progress" },
		{ TASKS "7vv", "aligned by start" },
		{ TASKS "7", "THREAD" },
		{ TASKS "7=", "as measured" },
		{ TASKS "6", "BEFORE %  AFTER %    ± 95 %   PROCESS, THREAD" },
		{ RANGES "7", "aligned by start" },
		{ RANGES "7A", "whole recordings are aligned by start" },
		{ TASKS "7x7", "pid 812" },
		{ TASKS "?", "COMPARISON" },
		{ TASKS "?", "leave the comparison" },
		{ TASKS "7?", "lay both sides on the time axis" },
		{ "?", "!COMPARISON" },
	};

	for (size_t i = 0; i < N(cases); i++)
		check(stage_profile(), cases[i].keys, cases[i].shows);
	check(stage_heap(), "HHHHHAlllBaLLAlllBb9", "aligned by start");
	check(stage_heap(), "HHHHHAlllBaLLAlllBb9", "WHERE");
	check(stage_heap(), "HHHHHAlllBaLLAlllBb9+++v<Esc>", "[9 memory]");
	check(stage_heap(), "HHHHHAlllBaLLAlllBb9<Enter>", "[3 callers]");
}

/* A function is still shown between its callers and callees by b, unless a side waits for its other. */
Test(app_sides, of_heaps)
{
	static const struct {
		const char *keys, *shows;
	} cases[] = {
		{ "b", "[4 butterfly]" },
		{ "a", "A and B mark its ends first" },
		{ "HHHHHAlllBa", "side a  time:" },
		{ "HHHHHAlllBaLLAlllBb", "→ time:" },
		{ "HHHHHAlllBaLLAlllBb", "not normalised" },
		{ "HHHHHAlllBaLLAlllBbx", "[9 memory]" },
		{ "HHHHHAlllBaLLAlllBbm", "malloc leaked" },
		{ "6ajb", "→ tid:" },
	};

	for (size_t i = 0; i < N(cases); i++)
		check(stage_heap(), cases[i].keys, cases[i].shows);
}

/* While both are counted, keys do what they do; x stops it, and the end of the program does. */
Test(app_sides, counted_beside_the_terminal)
{
	static const struct {
		const char *keys, *shows, *then;
	} cases[] = {
		{ "b", "counting what both sides have; x stops it", "BEFORE" },
		{ "bb", "counting what both sides have; x stops it", "BEFORE" },
		{ "b", "side a  tid:812", "[1 top]" },
		{ "b5", "[5 flame]", "[1 top]" },
		{ "b5", "[5 flame]", "tid:812 → tid:815" },
		{ "bx", "nothing is compared; side a is still chosen", "[6 threads]" },
		{ "bxb", "counting what both sides have; x stops it", "[1 top]" },
		{ "bxx", "side a is forgotten", "[6 threads]" },
	};

	for (size_t i = 0; i < 2 * N(cases); i++) {
		struct stage_app f;

		stage_app_init(&f, stage_profile(), true, 100, 30);
		stage_app_play(&f, "6jaj");
		for (const char *k = cases[i / 2].keys; *k != '\0'; k++)
			app_key(f.app, (uint32_t)*k);
		cr_expect_null(f.app->analysis->diff);
		cr_expect(stage_app_shows(&f, cases[i / 2].shows), "%s", cases[i / 2].keys);
		if (i % 2 == 0) {
			stage_app_settle(&f);
			cr_expect(stage_app_shows(&f, cases[i / 2].then), "%s", cases[i / 2].keys);
			cr_expect(stage_app_hides(&f, "counting"));
		}
		stage_app_done(&f);
	}
}

/* The sums of the sides, without what makes them equal. */
static void totals_of(struct stage_app *f, double out[N_SIDES])
{
	const struct diff *d = f->app->analysis->diff;

	cr_assert_not_null(d);
	out[SIDE_BEFORE] = d->whole.before;
	out[SIDE_AFTER] = d->whole.after;
}

/* The other way round, every side has what the other one had, and both together what the recording has of them. */
Test(app_sides, other_way_round)
{
	double one[N_SIDES], other[N_SIDES], whole;
	struct stage_app f;

	stage_app_init(&f, stage_profile(), true, 100, 30);
	stage_app_play(&f, "&pid:812<Enter>");
	whole = (double)f.app->analysis->weights.total[0];
	stage_app_play(&f, TASKS);
	totals_of(&f, one);
	stage_app_play(&f, "xgjjakb");
	totals_of(&f, other);
	cr_expect_eq(one[SIDE_BEFORE], other[SIDE_AFTER]);
	cr_expect_eq(one[SIDE_AFTER], other[SIDE_BEFORE]);
	cr_expect_float_eq(one[SIDE_BEFORE] + one[SIDE_AFTER], whole, whole * 1e-9);
	stage_app_play(&f, "x");
	cr_expect_eq(f.app->analysis->diff, NULL);
	cr_expect_eq((double)f.app->analysis->weights.total[0], whole);
	stage_app_done(&f);
}

/* Until another metric is there, what is shown is said to be another. */
Test(app_sides, another_metric_is_being_computed)
{
	struct stage_app f;

	stage_app_init(&f, made_profile(groups), true, 100, 30);
	stage_app_play(&f, "1oooooooooajb");
	app_key(f.app, 'm');
	cr_expect(stage_app_shows(&f, ", computing"));
	stage_app_settle(&f);
	cr_expect(stage_app_shows(&f, "metric: "));
	cr_expect_eq(f.app->analysis->lens.column[0].metric.measure, MEASURE_SAMPLES,
		     "sizes are of what is compared");
	cr_expect(stage_app_hides(&f, "computing"));
	stage_app_done(&f);
}

/* On no size, and wherever it is left. */
Test(app_sides, any_size)
{
	static const char *const keys[] = { "6a", TASKS, RANGES, TASKS "x", TASKS "5" };

	for (size_t i = 0; i < N(keys); i++)
		for (int cols = 1; cols < 60; cols += 7) {
			struct stage_app f;
			int n_rows = 0;
			char *screen;

			stage_app_init(&f, stage_profile(), true, cols, cols / 3 + 1);
			stage_app_play(&f, keys[i]);
			screen = stage_app_draw(&f);
			for (const char *at = screen; *at; at++)
				n_rows += *at == '\n';
			cr_expect_eq(n_rows, cols / 3 + 1, "%s in %d columns", keys[i], cols);
			free(screen);
			stage_app_done(&f);
		}
}

/* Whoever reads an analysis beside the screen finds it as it was: what is made equal otherwise is another one. */
Test(app_sides, a_comparison_that_is_shown_never_changes)
{
	struct stage_app f;
	const struct analysis *shown;
	enum normalise first;
	int64_t total;

	stage_app_init(&f, stage_profile(), true, 100, 30);
	stage_app_play(&f, TASKS);
	shown = f.app->analysis;
	first = shown->diff->normalise;
	total = shown->weights.total[0];
	app_act(f.app, ACTION_EQUALISE);
	app_act(f.app, ACTION_SIZE);
	cr_expect_eq(f.app->analysis, shown);
	cr_expect_eq(shown->diff->normalise, first);
	cr_expect_eq(shown->lens.sides.normalise, first);
	cr_expect_eq(shown->lens.sides.shown, SHOWN_BOTH);
	cr_expect_eq(shown->weights.total[0], total);
	stage_app_settle(&f);
	cr_expect_neq(f.app->analysis->diff->normalise, first);
	cr_expect_eq(f.app->analysis->lens.sides.shown, SHOWN_BEFORE);
	stage_app_done(&f);
}

/* Threads of neither side are no rows of the comparison. */
Test(app_sides, only_threads_of_the_sides)
{
	static const struct stage_case cases[] = {
		{ "before", "6", "  node  pid 900", "→" },
		{ "two threads", TASKS "6", "  flusher", "  node" },
	};

	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 110, 30);
}
