/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The app on a canvas: what keys do, what loading looks like, and that no key on no size breaks it. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/task.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage.h"
#include "tests/support/stage_app.h"
#include "tui/app/app.h"
#include "tui/app/app_draw.h"
#include "tui/app/app_state.h"
#include "tui/app/tui.h"
#include "tui/app/worker.h"
#include "tui/contract/keymap.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

Test(app, what_keys_do)
{
	static const struct stage_case cases[] = {
		{ "the first screen", "", "[1 top] 2 tree", "loading" },
		{ "title and totals", "", " demo.data › cpu-clock", "loading" },
		{ "digits", "4", "[4 butterfly]", "[1 top]" },
		{ "no such digit", "29", "[2 tree]", "[1 top]" },
		{ "tab", "<Tab>", "[2 tree]", "[1 top]" },
		{ "tab goes round", "<S-Tab>", "[0 findings]", "[1 top]" },
		{ "findings", "0", "3 functions take 52.9 % of the CPU time", "[1 top]" },
		{ "what proves a finding", "0jj<Enter>", "filter  is:copy", "[0 findings]" },
		{ "and the way back", "0jj<Enter><Esc>", "[0 findings]", "filter  is:copy" },
		{ "a finding about a function goes to it", "0j<Enter>", " ▸  27.3",
		  "[0 findings]" },
		{ "carry", "t", "[2 tree]", "[1 top]" },
		{ "and back", "tq", "[1 top]", "[2 tree]" },
		{ "two steps, one back", "tb<Esc>", "[2 tree]", "[4 butterfly]" },
		{ "two steps back", "tb<Esc><Esc>", "[1 top]", "[2 tree]" },
		{ "esc never quits", "<Esc><Esc><Esc>", "[1 top]", "[2 tree]" },
		{ "digits clear the trail", "t3<Esc>", "[3 callers]", "[1 top]" },
		{ "help", "?", "KEYS IN top", "SELF" },
		{ "help closes", "?<Esc>", "SELF", "KEYS IN" },
		{ "help closes by q", "?q", "SELF", "KEYS IN" },
		{ "help shows what works here", "?", "sort by the next column", "hottest path" },
		{ "and only that", "2?", "hottest path", "turn the flame graph" },
		{ "search", "/mem", "/mem", "search  /" },
		{ "search kept", "/mem<Enter>", "search  /mem", "filter  !" },
		{ "search counts", "/mem<Enter>", " % of total", "filter  !" },
		{ "search dropped", "/mem<Esc>", "[1 top]", "/mem" },
		{ "search cleared", "/mem<Enter><Esc>", "[1 top]", "/mem" },
		{ "esc brings the old search back", "/mem<Enter>/x<Esc>", "search  /mem", "/x" },
		{ "an empty search goes on", "/mem<Enter>/<Enter>", "search  /mem", "filter  !" },
		{ "nothing left of it clears", "/m<Backspace><Enter>", "[1 top]", "search  /" },
		{ "a bad expression", "/(", "missing", "search  /" },
		{ "does not stay", "/mem<Enter>/(<Enter>", "search  /mem", "search  /(" },
		{ "nothing found", "/nosuchname<Enter>", "no match", "filter  !" },
		{ "n without a search", "n", "nothing is searched", "filter  !" },
		{ "a message goes", "nj", "[1 top]", "nothing is searched" },
		{ "filter", "&!fn:mem<Enter>", "filter  !fn:mem", "search  /" },
		{ "filters add", "&!fn:mem<Enter>&fn:a<Enter>", "filter  !fn:mem fn:a",
		  "search  /" },
		{ "a bad term stays to be mended", "&fn:(<Enter>", "& fn:(\n bad", "filter  fn" },
		{ "and what is known is said", "&", "\n Tab completes", "/ search" },
		{ "an unknown term is said in full", "&bogus:1<Enter>",
		  "a function is fn:", "filter  b" },
		{ "esc takes it away again", "&!fn:mem<Enter><Esc>", "[1 top]", "filter  !" },
		{ "one by one", "&!fn:mem<Enter>&fn:a<Enter><Esc>", "filter  !fn:mem\n", "fn:a" },
		{ "as it stands there", "&!mem<Enter><Esc>", "[1 top]", "filter  !" },
		{ "without leaving the view", "&!fn:mem<Enter>2<Esc>", "[2 tree]", "filter  !" },
		{ "but for what was taken away", "t&!fn:mem<Enter>&<Backspace><Esc>", "[1 top]",
		  "!fn:mem" },
		{ "q closes the view with its filter", "t&!fn:mem<Enter>q", "[1 top]", "!fn:mem" },
		{ "a share of all", "&fn:malloc<Enter>", " % of all ", "search  /" },
		{ "several", "&!fn:mem fn:nosuch<Enter>", "takes !fn:mem fn:nosuch away", "/m" },
		{ "nothing passes", "&fn:nosuch<Enter>", "Esc takes fn:nosuch away again",
		  "SAMPLES  FUN\n" },
		{ "and where Esc does", "&fn:nosuch<Enter>2<Esc>", "[2 tree]", "takes" },
		{ "esc leaves it", "&fn:(<Enter><Esc>", "[1 top]", "& fn" },
		{ "backspace takes the last away", "&!fn:mem<Enter>&<Backspace>", "[1 top]",
		  "filter  !" },
		{ "nothing typed does not", "&!fn:mem<Enter>&<Enter>", "filter  !fn:mem",
		  "fn: module:" },
		{ "nor what was typed and erased", "&!fn:mem<Enter>&a<Backspace><Backspace>",
		  "filter  !fn:mem", "fn: module:" },
		{ "nothing to take", "&<Backspace>", "there is no filter", "filter  !" },
		{ "a drill into a thread", "6jj<Enter>", "filter  tid:815", "[6 threads]" },
		{ "shows its tree", "6jj<Enter>", "[2 tree]", "[6 threads]" },
		{ "esc takes its filter away", "6jj<Enter><Esc>", "[6 threads]", "filter  tid" },
		{ "at the same row", "6jj<Enter><Esc>", " ▸  21.1", " ▸  95.8" },
		{ "even after a look at the threads", "6jj<Enter>6<Esc>", " ▸  21.1",
		  "filter  tid" },
		{ "q does, too", "6jj<Enter>q", "[6 threads]", "filter  tid" },
		{ "t, c and f go elsewhere", "6jjf", "[5 flame]", "[6 threads]" },
		{ "but not b", "6jjb", "[6 threads]", "[4 butterfly]" },
		{ "one that is all needs no filter", "&pid:900<Enter>6<Enter>", "[2 tree]",
		  "pid:900 pid" },
		{ "a drill into a module", "oj<Enter>", "filter  in:", "MODULE ▾" },
		{ "shows functions", "oj<Enter>", "FUNCTION", "MODULE ▾" },
		{ "esc brings modules back", "oj<Enter><Esc>", "MODULE ▾", "filter  in:" },
		{ "esc undoes the newest first", "oj<Enter>&!fn:mem<Enter><Esc>",
		  "filter  in:", "!fn:mem" },
		{ "then the drill", "oj<Enter>&!fn:mem<Enter><Esc><Esc>", "MODULE ▾", "in:" },
		{ "digits keep the drill", "oj<Enter>2<Esc>", "MODULE ▾", "filter  in:" },
		{ "what is taken away by hand is no step", "oj<Enter>&<Backspace>2<Esc>",
		  "[2 tree]", "filter  in:" },
		{ "typing a search zooms no flame graph", "5/malloc", "/malloc",
		  " › cpu-clock › " },
		{ "n may", "5/zlib<Enter>n", "search  /zlib", "-/" },
		{ "leaves first begin unzoomed", "5jjj<Enter>ii", "leaves first ", " first › " },
		{ "turning back restores the zoom", "5jjj<Enter>iii", " › cpu-clock › ", "leaves" },
		{ "search in help", "?/mouse", "/mouse   1/", "KEYS IN top" },
		{ "goes on", "?/row<Enter>n", "search  /row  2/", " no match" },
		{ "nothing there", "?/nosuchword", "no match", "search  /" },
		{ "esc clears it first", "?/row<Enter><Esc>", "OTHER VIEWS", "search  /" },
		{ "then closes", "?/row<Enter><Esc><Esc>", "SELF", "OTHER VIEWS" },
		{ "the view's own stays", "/mem<Enter>?/row<Enter><Esc><Esc>", "search  /mem",
		  "/row" },
		{ "a bad expression in help", "?/(", "missing", "search  /" },
		{ "search among threads", "6/flush", "1/1 · 21.1 % of total", "search  /" },
		{ "a range of time by hand", "7LAllB", "filter  time:", "range ends" },
		{ "all views show it", "7LAllB1", "filter  time:", "[7 timeline]" },
		{ "its share is said", "7LAllB", " % of all", "all of the time" },
		{ "one end is said", "7LA", "the range begins at ", "filter  time" },
		{ "the other one first", "7LB", "the range ends at ", "filter  time" },
		{ "esc forgets a single end", "7LA<Esc>lB", "the range ends at ", "filter  time" },
		{ "esc takes the range away", "7LAllB<Esc>", "[7 timeline]", "filter  time" },
		{ "and brings the one before back", "&time:1,9<Enter>7LAllB<Esc><Esc>",
		  "filter  time:1,9\n", "time:1,9 time" },
		{ "which it replaced", "&time:1,9<Enter>7LAllB", "filter  time:", "time:1,9" },
		{ "all is no range", "7ALLLLLLLLLLLLB", "all of the time", "filter  time" },
		{ "zoomed", "7LL++", " › cpu-clock › ", "filter  time" },
		{ "esc shows all again", "7LL++<Esc>", " cpu-clock  ", " › cpu-clock › " },
		{ "a thread of it", "7jj<Enter>", "filter  tid:815", "[7 timeline]" },
		{ "the peak", "7p", "CPUs", "\n 0 s: " },
		{ "where the cursor is", "jj", " 3/", "1/1" },
		{ "and in info", "8", "/2", "1/1" },
		{ "why a name is missing", "/^\\[my_prog<Enter>", "no symbol; info says why",
		  "no match" },
		{ "one event is not counted", "", " › cpu-clock  ", "m event" },
		{ "the cursor begins in the range", "&time:20,30<Enter>7",
		  "\n 19.9 s: ", "\n 0 s: " },
		{ "no file to drill into", "oo/no file<Enter><Enter>", "info says what is missing",
		  "filter  file" },
		{ "losses mark their tab", "", " 8 info !", "8 info\n" },
		{ "help says its own keys", "?", "Esc close  j down", "& filter" },
		{ "and that there is more", "?", " more lines below", "SELF" },
		{ "but not at its end", "?G", "kernel", " more line" },
		{ "search in info", "8/cpu", "1/", "of total" },
		{ "metric", "m", "metric: cpu-clock samples", "loading" },
		{ "metric in the title", "m", " › cpu-clock samples", "loading" },
		{ "inlines", "I", "inlined functions are part", "loading" },
		{ "inlines back", "II", "inlined functions are frames", "loading" },
		{ "stop", "z", "nothing is loading", "stopped" },
		{ "edit without a file", "2E", "no source file is known", "loading" },
	};

	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 110, 30);
}

/* The button pressed at one cell and let go of at another one. */
Test(app, dragging)
{
	static const struct stage_drag cases[] = {
		{ "over the activity, in any view", "2", 2, 20, 2, 40,
		  "filter  time:", "all of the" },
		{ "backwards", "2", 2, 40, 2, 20, "filter  time:", "all of the" },
		{ "all of it", "2", 2, 1, 2, 109, "that is all of the time", "filter  time:" },
		{ "a click is no drag", "2", 2, 20, 2, 20, "[7 timeline]", "filter  time:" },
		{ "in the timeline", "7", 5, 60, 5, 80, "filter  time:", "all of the" },
		{ "among its threads", "7", 14, 60, 14, 80, "filter  time:", "all of the" },
		{ "not over names", "7", 14, 10, 14, 80, "[7 timeline]", "filter  time:" },
		{ "rows mean nothing by it", "1", 6, 20, 9, 40, "[1 top]", "filter  time:" },
		{ "nor do tabs", "1", 1, 2, 1, 30, "[1 top]", "filter  time:" },
	};

	stage_app_expect_drags(cases, sizeof(cases) / sizeof(*cases), 110, 30);
}

Test(app, quitting)
{
	static const struct {
		const char *keys;
		bool over;
	} cases[] = {
		{ "q", true },    { "Q", true },   { "^C", true },         { "<F10>", true },
		{ "tq", false },  { "tqq", true }, { "&a<Enter>q", true }, { "tbQ", true },
		{ "t2q", true },  { "?q", false }, { "?Q", true },         { "/q", false },
		{ "/^C", false }, { "?^C", true }, { "jq", true },         { "&Q", false },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct stage_app f;

		stage_app_init(&f, stage_profile(), true, 80, 24);
		stage_app_settle(&f);
		for (const char *at = cases[i].keys; *at != '\0';)
			app_key(f.app, keycode_take(&at, NULL));
		cr_expect_eq(app_over(f.app), cases[i].over, "%s", cases[i].keys);
		stage_app_done(&f);
	}
}

Test(app, wishes)
{
	struct stage_app f;
	struct terminal_request w;

	stage_app_init(&f, stage_profile(), true, 80, 24);
	stage_app_play(&f, "");
	cr_assert(!app_take_request(f.app, &w));
	stage_app_play(&f, "y");
	cr_assert(app_take_request(f.app, &w));
	cr_assert_eq((int)w.kind, REQUEST_COPY);
	cr_assert(strlen(w.text) > 0);
	cr_assert(stage_app_shows(&f, w.text), "what was copied is not what is selected");
	free(w.text);
	cr_assert(!app_take_request(f.app, &w));
	stage_app_play(&f, "Y");
	cr_assert(app_take_request(f.app, &w));
	cr_assert_str_eq(w.text, "my_program;_start;__libc_start_call_main;main;serve(Listener&);"
				 "handle_request(Conn*);Parser::parse_record(Slice)");
	free(w.text);
	stage_app_play(&f, "6jjy");
	cr_assert(app_take_request(f.app, &w));
	cr_assert_str_eq(w.text, "21.1 %  145 samples  tid 815  flusher");
	free(w.text);
	stage_app_play(&f, "1^L");
	cr_assert(app_take_request(f.app, &w));
	cr_assert_eq((int)w.kind, REQUEST_REPAINT);
	free(w.text);
	stage_app_play(&f, "/parse_record<Enter>E");
	cr_assert(app_take_request(f.app, &w), "no wish for an editor");
	cr_assert_eq((int)w.kind, REQUEST_EDIT);
	cr_assert_str_eq(w.text, "parser.cc");
	cr_assert_eq(w.line, 118u);
	free(w.text);
	stage_app_play(&f, "y");
	stage_app_done(&f); /* with a wish that nobody took */
}

Test(app, loading_is_shown_and_can_be_stopped)
{
	struct stage_app f;

	stage_app_init(&f, stage_profile(), false, 100, 24);
	progress_set(&f.progress, 43, 100);
	stage_app_settle(&f);
	cr_assert(stage_app_shows(&f, "loading 43 % · z stops"));
	cr_assert(stage_app_shows(&f, "FUNCTION"), "the view is not usable");
	cr_assert(!app_settled(f.app));
	progress_set(&f.progress, 1500000, 0);
	cr_assert(app_tick(f.app, f.now), "progress does not show");
	cr_assert(stage_app_shows(&f, "loading 1.5"));
	app_key(f.app, '?');
	app_key(f.app, 'G');
	cr_assert(!progress_cancelled(&f.progress));
	app_key(f.app, 'q');
	app_key(f.app, 'z');
	cr_assert(progress_cancelled(&f.progress));
	cr_assert(stage_app_shows(&f, "stopped loading"));
	f.loader = (struct stage_loader){ .over = true, .code = -ECANCELED, .error = "stopped" };
	stage_app_settle(&f);
	cr_assert(!app_over(f.app) && app_failure(f.app, NULL) == 0);
	cr_assert(stage_app_hides(&f, "loading 1.5"));
	cr_assert(stage_app_shows(&f, "samples"));
	stage_app_done(&f);
}

Test(app, follows_a_growing_profile_at_most_four_times_a_second)
{
	struct stage_app f;

	stage_app_init(&f, profile_new(), false, 100, 24);
	stage_app_settle(&f);
	cr_assert(stage_app_hides(&f, "first_function"));
	made_profile_add(f.profile, "first_function 100\n");
	stage_app_settle(&f);
	cr_assert(stage_app_shows(&f, "first_function"));
	/* nothing more is asked for within 250 ms of the last time */
	made_profile_add(f.profile, "second_function 100\n");
	app_tick(f.app, f.now += 1000);
	for (int i = 0; i < 500 && !stage_app_mentions(&f, "second_function"); i++) {
		poll(NULL, 0, 2);
		app_tick(f.app, f.now);
	}
	made_profile_add(f.profile, "third_function 100\n");
	app_tick(f.app, f.now + 1);
	cr_assert_leq(app_wait_ms(f.app, f.now + 1), 250);
	poll(NULL, 0, 20);
	app_tick(f.app, f.now + 200);
	cr_assert(stage_app_shows(&f, "second_function"));
	cr_assert(stage_app_hides(&f, "third_function"));
	/* but the end of loading is not waited for, and until all is counted no number seems to be of all */
	f.loader.over = true;
	app_tick(f.app, f.now + 101);
	cr_assert(stage_app_shows(&f, "counting"));
	cr_assert(stage_app_hides(&f, "200 samples"));
	while (!app_settled(f.app))
		app_tick(f.app, f.now + 101);
	cr_assert(stage_app_shows(&f, "third_function"));
	cr_assert(stage_app_shows(&f, "300 samples"));
	cr_assert_eq(app_wait_ms(f.app, f.now + 500), -1, "idle, but it wants to be woken");
	stage_app_done(&f);
}

/* Where is a text on it? */
static long line_of(struct stage_app *f, const char *text)
{
	char *screen = stage_app_draw(f), *at = strstr(screen, text);
	long line = 0;

	cr_assert_not_null(at, "%s is not there:\n%s", text, screen);
	for (const char *c = screen; c < at; c++)
		line += *c == '\n';
	free(screen);
	return line;
}

/* What goes on keeps its row; what another filter leaves is in its order. */
Test(app, rows_of_another_filter_are_in_order_in_live)
{
	struct stage_app f;

	stage_app_live(&f, profile_new(), 100, 24);
	f.now = 1000;
	made_profile_add(f.profile, "main;work 300\nmain;little 20\nmain;burn 150\n");
	stage_app_settle(&f);
	stage_app_play(&f, "j");
	cr_expect_eq(line_of(&f, "  burn"), line_of(&f, "  work") + 1);
	/* burn, in the second row, is left with what would be below of it. */
	stage_app_play(&f, "&!fn:work<Enter>");
	cr_expect_eq(line_of(&f, "  little"), line_of(&f, "  burn") + 1);
	stage_app_play(&f, "j<Esc>");
	cr_expect_eq(line_of(&f, "  burn"), line_of(&f, "  work") + 1);
	cr_expect_eq(line_of(&f, "  little"), line_of(&f, "  work") + 2);
	cr_expect_eq(line_of(&f, "▸"), line_of(&f, "  burn"));
	stage_app_done(&f);
}

/* Where a baseline is left, rows are in order at once, wherever the cursor was among the changes. */
Test(app, rows_are_in_order_after_a_baseline)
{
	static const char *const keys[] = { "jB", "jjB" };

	for (size_t i = 0; i < N(keys); i++) {
		struct stage_app f;

		stage_app_live(&f, profile_new(), 100, 24);
		f.now = 1000;
		made_profile_add(f.profile, "main;work 300 t=1000\nmain;little 20 t=2000\n"
					    "main;burn 150 t=3000\n");
		stage_app_settle(&f);
		stage_app_play(&f, "B");
		f.now += 3000;
		made_profile_add(f.profile, "main;work 1 t=2500000000\nmain;burn 40 t=2600000000\n"
					    "main;little 60 t=2700000000\n");
		stage_app_settle(&f);
		f.now += 3000;
		made_profile_add(f.profile, "main;work 1 t=3900000000\n");
		stage_app_settle(&f);
		cr_expect(stage_app_shows(&f, "BEFORE"));
		stage_app_play(&f, keys[i]);
		cr_expect(stage_app_hides(&f, "BEFORE"));
		cr_expect_eq(line_of(&f, "  burn"), line_of(&f, "  work") + 1, "%s", keys[i]);
		cr_expect_eq(line_of(&f, "  little"), line_of(&f, "  burn") + 1, "%s", keys[i]);
		stage_app_done(&f);
	}
}

/* In live, sides of one recording are not chosen: no key says so, and B is told for what it is. */
Test(app, ranges_and_baselines_in_live)
{
	struct stage_app f;

	stage_app_live(&f, profile_new(), 120, 60);
	f.now = 1000;
	stage_profile_add(f.profile, 0, 2000000000, false);
	stage_app_settle(&f);
	stage_app_play(&f, "?");
	cr_expect(stage_app_hides(&f, "one side of a comparison within the recording"));
	stage_app_play(&f, "<Esc>a");
	cr_expect(stage_app_shows(&f, "B compares what comes with what was before"));
	cr_expect(stage_app_hides(&f, "no range"));
	stage_app_play(&f, "7a");
	cr_expect(stage_app_shows(&f, "in views that have no range from A to B"));
	stage_app_play(&f, "LB");
	cr_expect(stage_app_shows(&f, "in other views B is the baseline"));
	stage_app_done(&f);
}

/* When more of what is recorded is shown, by what was taken of a processor since the last time. */
Test(app, keeps_a_live_view_of_a_machine_to_half_a_percent)
{
	static const struct {
		int64_t took_ms, due_ms;
		bool sparing;
	} cases[] = { { 0, 250, true },  { 1, 250, true },    { 2, 500, true }, { 3, 750, true },
		      { 5, 1000, true }, { 400, 1000, true }, { 9, 250, false } };
	struct stage_app f;
	int64_t cpu_ns = 0;
	char text[64];

	stage_app_live(&f, profile_new(), 100, 24);
	f.now = 1000;
	made_profile_add(f.profile, "first_function 100\n");
	stage_app_settle(&f);
	cr_assert(stage_app_shows(&f, "first_function"));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		f.now += 1000;
		f.source.sparing = cases[i].sparing;
		snprintf(text, sizeof(text), "one_%zu 100\n", i);
		made_profile_add(f.profile, text);
		stage_app_catch_up(&f);
		cpu_ns += cases[i].took_ms * 1000000;
		app_told_cpu(f.app, f.now, cpu_ns);
		snprintf(text, sizeof(text), "other_%zu 100\n", i);
		made_profile_add(f.profile, text);
		strchr(text, ' ')[0] = '\0';
		cr_expect_eq(app_wait_ms(f.app, f.now), cases[i].due_ms, "it wakes for nothing");
		f.now += cases[i].due_ms - 1;
		stage_app_catch_up(&f);
		cr_expect(!stage_app_mentions(&f, text), "%s comes too early", text);
		f.now++;
		stage_app_catch_up(&f);
		cr_expect(stage_app_mentions(&f, text), "%s comes too late", text);
	}
	stage_app_done(&f);
}

Test(app, makes_nothing_anew_that_nobody_sees)
{
	struct stage_app f;

	stage_app_live(&f, profile_new(), 100, 24);
	f.now = 1000;
	made_profile_add(f.profile, "first_function 100\n");
	stage_app_settle(&f);
	app_focus(f.app, false);
	made_profile_add(f.profile, "second_function 100\n");
	f.now += 5000;
	stage_app_catch_up(&f);
	cr_expect(stage_app_hides(&f, "second_function"));
	app_focus(f.app, true);
	stage_app_catch_up(&f);
	cr_expect(stage_app_shows(&f, "second_function"));
	stage_app_done(&f);
}

/* Who waits for what does not come does not ask for it all the time. */
Test(app, looks_seldom_where_nothing_comes)
{
	struct stage_app f;

	stage_app_live(&f, profile_new(), 100, 24);
	f.now = 1000;
	app_tick(f.app, f.now);
	cr_expect_leq(app_wait_ms(f.app, f.now), 10, "what comes first is to be there at once");
	app_tick(f.app, f.now + 5000);
	cr_expect_geq(app_wait_ms(f.app, f.now + 5000), 100);
	made_profile_add(f.profile, "first_function 100\n");
	f.now += 6000;
	stage_app_settle(&f);
	f.now += 1000;
	app_tick(f.app, f.now);
	cr_expect_leq(app_wait_ms(f.app, f.now), 125);
	app_tick(f.app, f.now + 5000);
	cr_expect_geq(app_wait_ms(f.app, f.now + 5000), 100);
	stage_app_done(&f);
}

/* Where others have the processor, what was asked for comes late; the next is asked for no later than otherwise. */
Test(app, asks_in_time_where_answers_are_late)
{
	struct stage_app f;
	struct pollfd made;

	stage_app_live(&f, profile_new(), 100, 24);
	f.now = 1000;
	made_profile_add(f.profile, "first_function 100\n");
	stage_app_settle(&f);
	f.now += 1000;
	made_profile_add(f.profile, "second_function 100\n");
	app_tick(f.app, f.now);
	cr_assert(worker_busy(f.app->worker));
	made = (struct pollfd){ .fd = worker_fd(f.app->worker), .events = POLLIN };
	for (int i = 0; i < 10000 && worker_busy(f.app->worker); i++) {
		poll(&made, 1, 5);
		app_tick(f.app, f.now + 200);
	}
	cr_expect(stage_app_shows(&f, "second_function"));
	made_profile_add(f.profile, "third_function 100\n");
	app_tick(f.app, f.now + 249);
	cr_expect(!worker_busy(f.app->worker), "too early");
	app_tick(f.app, f.now + 250);
	cr_expect(worker_busy(f.app->worker), "too late");
	stage_app_done(&f);
}

/* Lets live show more, and says whether it has made a tree for that. */
static bool makes_tree(struct stage_app *f, const char *more)
{
	made_profile_add(f->profile, more);
	f->now += 1000;
	stage_app_catch_up(f);
	return f->app->analysis->tree != NULL;
}

/* What is made anew four times a second has no tree that nobody looks at; a key that asks for one gets it at once. */
Test(app, plants_no_tree_that_nobody_sees)
{
	static const struct {
		const char *key; /* then more comes */
		const char *shown;
		bool at_once, with_tree;
	} cases[] = {
		{ "1", "FUNCTION", false, false },
		{ "2", "outer", true, true },
		{ "3", "inner", true, true },
		{ "1", "FUNCTION", true, false },
		{ "6", "THREAD", false, false },
		{ "8", "nodes, at most 3 deep", true, true },
		{ "1/inner<Enter>", "inner", true, true },
		{ "<Esc>", "FUNCTION", true, false },
		{ "5", "outer", true, true },
		{ "1", "FUNCTION", true, false },
		{ "4", "between", true, true },
	};
	struct stage_app f;

	stage_app_live(&f, profile_new(), 100, 24);
	f.now = 1000;
	cr_assert(!makes_tree(&f, "outer;between;inner 100\n"));
	for (size_t i = 0; i < N(cases); i++) {
		const char *keys = cases[i].key;

		while (*keys != '\0')
			app_key(f.app, keycode_take(&keys, NULL));
		cr_expect(stage_app_shows(&f, cases[i].shown), "%s", cases[i].key);
		cr_expect_eq(f.app->analysis->tree != NULL, cases[i].at_once, "%s", cases[i].key);
		cr_expect_eq(makes_tree(&f, "outer;between;inner 100\n"), cases[i].with_tree,
			     "more after %s", cases[i].key);
		cr_expect(stage_app_shows(&f, cases[i].shown), "more after %s", cases[i].key);
	}
	stage_app_done(&f);
}

/* Does a text come, at a moment that stands still? */
static bool shows_at(struct stage_app *f, int64_t now, const char *text)
{
	for (int i = 0; i < 100 && !stage_app_mentions(f, text); i++) {
		app_tick(f->app, now);
		poll(NULL, 0, 1);
	}
	return stage_app_mentions(f, text);
}

/* What has no names yet is shown later than what has. */
Test(app, first_rows_come_soon_but_with_names)
{
	struct stage_app f;

	stage_app_init(&f, profile_new(), false, 100, 24);
	cr_expect_not(shows_at(&f, 1000, "[m]"));
	made_profile_add(f.profile, "?10@m;?20@m 1\n");
	cr_expect_not(shows_at(&f, 1099, "[m]"));
	made_profile_add(f.profile, "named;a;b;c 100\n");
	cr_expect_not(shows_at(&f, 1039, "named"));
	cr_expect(shows_at(&f, 1040, "named"));
	made_profile_add(f.profile, "second 1000\n");
	cr_expect_not(shows_at(&f, 1200, "second"), "there are rows to look at");
	stage_app_done(&f);
}

Test(app, an_unusable_input_ends_it_with_its_sentence)
{
	struct stage_app f;
	struct err e = ERR_INIT;

	stage_app_init(&f, profile_new(), false, 80, 24);
	stage_app_settle(&f);
	f.loader = (struct stage_loader){ true, -EBADMSG, "x.data: offset 12: no header" };
	stage_app_settle(&f);
	cr_assert(app_over(f.app));
	cr_assert_eq(app_failure(f.app, &e), -EBADMSG);
	cr_assert_str_eq(err_text(&e), "x.data: offset 12: no header");
	err_clear(&e);
	stage_app_done(&f);
	/* what was read before the damage is shown */
	stage_app_init(&f, stage_profile(), false, 100, 24);
	f.loader = (struct stage_loader){ true, -EIO, "x.data: offset 12: cannot be read" };
	stage_app_settle(&f);
	cr_assert(!app_over(f.app) && app_failure(f.app, NULL) == 0);
	cr_assert(stage_app_shows(&f, "x.data: offset 12: cannot be read"));
	stage_app_done(&f);
	/* what a reader took for stacks and then refused is not */
	stage_app_init(&f, stage_profile(), false, 100, 24);
	f.loader = (struct stage_loader){ true, -EBADMSG, "ls.txt: there is no stack in it" };
	stage_app_settle(&f);
	cr_assert(app_over(f.app) && app_failure(f.app, NULL) == -EBADMSG);
	stage_app_done(&f);
}

/* Where something is said of time or of a filter, a click leads to where it is changed. */
Test(app, clicks_on_the_frame)
{
	struct stage_app f;

	stage_app_init(&f, stage_profile(), true, 100, 24);
	stage_app_settle(&f);
	cr_assert(stage_app_shows(&f, "[1 top]"));
	app_click(f.app, 2, 30, 0);
	app_release(f.app, 2, 30);
	stage_app_settle(&f);
	cr_expect(stage_app_shows(&f, "[7 timeline]"));
	stage_app_play(&f, "<Esc>");
	cr_expect(stage_app_shows(&f, "[1 top]"));
	stage_app_play(&f, "&!fn:no_such<Enter>");
	cr_assert(stage_app_shows(&f, "filter  !fn:no_such"));
	app_click(f.app, 22, 4, 5000);
	cr_expect(stage_app_shows(&f, "Tab completes  fn:"), "no prompt");
	stage_app_done(&f);
}

Test(app, small_screens_keep_what_matters)
{
	static const struct {
		int cols, rows;
		const char *row0, *last;
	} cases[] = {
		{ 110, 30, " demo.data › cpu-clock", " Enter open" },
		{ 80, 24, " demo.data › cpu-clock", " Enter open" },
		{ 40, 10, " demo.data", " Enter open" },
		{ 20, 5, " ", " " },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct stage_app f;
		char *text, *last;

		stage_app_init(&f, stage_profile(), true, cases[i].cols, cases[i].rows);
		stage_app_play(&f, "");
		text = stage_app_draw(&f);
		text[strlen(text) - 1] = '\0';
		last = strrchr(text, '\n') + 1;
		cr_expect(strncmp(text, cases[i].row0, strlen(cases[i].row0)) == 0, "%s", text);
		cr_expect(strncmp(last, cases[i].last, strlen(cases[i].last)) == 0, "%s", last);
		cr_expect(strstr(last, "? help"), "%dx%d: %s", cases[i].cols, cases[i].rows, last);
		free(text);
		stage_app_done(&f);
	}
}

Test(app, clicks)
{
	struct stage_app f;

	stage_app_init(&f, stage_profile(), true, 110, 30);
	stage_app_play(&f, "");
	free(stage_app_draw(&f));
	app_click(f.app, 1, 9, 0); /* the second tab */
	stage_app_settle(&f);
	cr_assert(stage_app_shows(&f, "[2 tree]"));
	app_click(f.app, 29, 3, 1000); /* hints are buttons: Enter */
	app_click(f.app, 1, 2, 2000);
	stage_app_settle(&f);
	cr_assert(stage_app_shows(&f, "[1 top]"));
	app_wheel(f.app, 2);
	free(stage_app_draw(&f));
	cr_assert_eq(f.canvas.cursor_row, 4 + 6, "cursor on row %d", f.canvas.cursor_row);
	app_click(f.app, 5, 40, 3000);
	free(stage_app_draw(&f));
	cr_assert_eq(f.canvas.cursor_row, 5);
	app_click(f.app, 5, 40, 5000); /* too late for a double click */
	stage_app_settle(&f);
	cr_assert(stage_app_shows(&f, "[1 top]"));
	app_click(f.app, 5, 40, 5200);
	stage_app_settle(&f);
	cr_assert(stage_app_hides(&f, "[1 top]"));
	stage_app_done(&f);
}

/* Any key, any size, any order: the sanitizers and the asserts of canvas and views are the judges. */
Test(app, random_keys_and_sizes, .timeout = 120)
{
	static const char *const keys[] = {
		"j",
		"k",
		"h",
		"l",
		"<Enter>",
		"<Esc>",
		"<Tab>",
		"1",
		"2",
		"3",
		"4",
		"5",
		"6",
		"7",
		"t",
		"c",
		"b",
		"f",
		"*",
		"e",
		"+",
		"-",
		"g",
		"G",
		"<Space>",
		"^B",
		"^D",
		"^U",
		"s",
		"S",
		"o",
		"m",
		"%",
		"i",
		"I",
		"W",
		"#",
		"n",
		"N",
		"?",
		"/e<Enter>",
		"/(<Enter>",
		"/<Up><Enter>",
		"&!fn:mem<Enter>",
		"&<Enter>",
		"/\xc3\xa9<Esc>",
		"y",
		"E",
		"<Left>",
		"<Right>",
	};
	struct stage_app f;
	unsigned seed = 42;

	stage_app_init(&f, stage_profile(), true, 80, 24);
	stage_app_settle(&f);
	for (int i = 0; i < 1500; i++) {
		size_t at = (size_t)rand_r(&seed) % N(keys);

		if (i % 7 == 0) {
			int cols = 1 + rand_r(&seed) % 130, rows = 1 + rand_r(&seed) % 40;

			canvas_done(&f.canvas);
			canvas_init(&f.canvas, cols, rows, i % 2);
			app_resize(f.app, cols, rows);
		}
		if (i % 11 == 0)
			app_click(f.app, rand_r(&seed) % 40, rand_r(&seed) % 130, i * 10);
		if (i % 13 == 0)
			app_wheel(f.app, rand_r(&seed) % 5 - 2);
		for (const char *key = keys[at]; *key != '\0';)
			app_key(f.app, keycode_take(&key, NULL));
		if (i % 3 == 0)
			stage_app_settle(&f);
		else
			app_tick(f.app, f.now += 10);
		free(stage_app_draw(&f));
		cr_assert(!app_over(f.app));
	}
	stage_app_done(&f);
}

Test(app, headless)
{
	struct stage_app f;
	struct err e = ERR_INIT;
	char *text;

	stage_app_init(&f, stage_profile(), true, 80, 24);
	cr_assert_eq(tui_screen(&f.source, &f.options, "2", 60, 12, &text, &e), 0, "%s",
		     err_text(&e));
	cr_assert(strstr(text, "[2 tree]"), "%s", text);
	free(text);
	cr_assert_eq(tui_screen(&f.source, &f.options, "<Nope>", 60, 12, &text, &e), -EINVAL);
	cr_assert(strstr(err_text(&e), "<Nope>"), "%s", err_text(&e));
	err_clear(&e);
	cr_assert_eq(tui_screen(&f.source, &f.options, "", 0, 12, &text, &e), -EINVAL);
	err_clear(&e);
	f.options.view = "flame";
	cr_assert_eq(tui_screen(&f.source, &f.options, "", 60, 12, &text, &e), 0);
	cr_assert(strstr(text, "flame]"), "%s", text);
	free(text);
	f.options.view = "nosuch";
	cr_assert_eq(tui_screen(&f.source, &f.options, "", 60, 12, &text, &e), -EINVAL);
	err_clear(&e);
	stage_app_done(&f);
}
