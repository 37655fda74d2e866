/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The app on recordings of heaps: what they open on, and what is made beside the terminal. */
#include "config.h"

#include "analysis.h"
#include "app_state.h"
#include "stage.h"
#include "stage_app.h"

#include <criterion/criterion.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* What a heap opens on, and what digits and m mean there. */
Test(app_heap, keys)
{
	static const struct {
		const char *keys, *shows;
	} cases[] = {
		{ "", "[9 memory]" },
		{ "", "live 73.7 MB at the end" },
		{ "", "1 top  2 tree" },
		{ "1", "[1 top]" },
		{ "8", "[8 info]" },
		{ "8<Tab>", "[9 memory]" },
		{ "<Tab>", "[1 top]" },
		{ "<S-Tab>", "[8 info]" },
		{ "p", "live 104 MB at the peak" },
		{ "m", "malloc leaked" },
		{ "mm", "malloc freed" },
		{ "mmm", "malloc temporary" },
		{ "mmmmm", "mmap calls" },
		{ "mmmmmmmmmmmm", "malloc calls" },
		{ "1m", "[1 top]" },
		{ "6", "[6 threads]" },
		{ "6", "flusher  tid 815" },
		{ "7", "[7 timeline]" },
		{ "<Enter>", "[3 callers]" },
		{ "<Enter>", "load_tables(Config const&)" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct stage_app f;

		stage_app_init(&f, stage_heap(), true, 100, 30);
		stage_app_play(&f, cases[i].keys);
		cr_expect(stage_app_shows(&f, cases[i].shows), "%s", cases[i].keys);
		stage_app_done(&f);
	}
}

Test(app_heap, without_a_heap_there_is_no_memory)
{
	struct stage_app f;

	stage_app_init(&f, stage_profile(), true, 100, 30);
	stage_app_play(&f, "");
	cr_expect(stage_app_shows(&f, "[1 top]"));
	cr_expect(stage_app_hides(&f, "memory"));
	stage_app_play(&f, "9");
	cr_expect(stage_app_shows(&f, "there is nothing for memory in this profile"));
	cr_expect(stage_app_shows(&f, "[1 top]"));
	stage_app_done(&f);
}

/* Between a key and the worker's answer stands what was known; nothing is counted on the way to the screen. */
Test(app_heap, lines_over_another_span_are_made_beside_the_terminal)
{
	struct stage_app f;

	stage_app_init(&f, stage_heap(), true, 100, 40);
	stage_app_settle(&f);
	cr_assert(stage_app_mentions(&f, "allocs/s to"));
	app_key(f.app, '+');
	cr_assert(stage_app_mentions(&f, "allocs/s: counting"));
	stage_app_settle(&f);
	cr_assert(stage_app_mentions(&f, "allocs/s to"));
	app_resize(f.app, 90, 40);
	cr_assert(stage_app_mentions(&f, "allocs/s: counting"));
	stage_app_settle(&f);
	cr_assert(stage_app_mentions(&f, "allocs/s to"));
	stage_app_done(&f);
}

/* Lines know no metric and no cursor, so that these do not wait for them; those of other allocations are others. */
Test(app_heap, lines_stay_while_they_are_right)
{
	static const struct {
		const char *keys;
		bool stay;
	} cases[] = { { "m", true },
		      { "p", true },
		      { "hm", true },
		      { "I", false },
		      { "&fn:Cache<Enter>", false },
		      { "HHAp", true },
		      { "HHALLB", false } };
	struct stage_app f;

	for (size_t i = 0; i < N(cases); i++) {
		const struct footprint_lines *was, *is;

		stage_app_init(&f, stage_heap(), true, 100, 40);
		stage_app_settle(&f);
		was = f.app->analysis->lines;
		cr_assert_not_null(was);
		stage_app_play(&f, cases[i].keys);
		is = f.app->analysis->lines;
		cr_assert_not_null(is);
		cr_assert_eq(is == was, cases[i].stay, "%s", cases[i].keys);
		stage_app_done(&f);
	}
}
