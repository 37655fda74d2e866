/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The app on recordings of heaps: what they open on, and what is made beside the terminal. */
#include "config.h"

#include "base/err.h"
#include "base/fmt.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"
#include "query/heap/suppressions.h"
#include "tests/support/made_story.h"
#include "tests/support/stage.h"
#include "tests/support/stage_app.h"
#include "tui/app/app_state.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* What a heap opens on, and what digits and m mean there. */
Test(app_heap, keys)
{
	static const struct {
		const char *keys, *shows;
	} cases[] = {
		{ "", "[9 memory]" },
		{ "", "live 180 MB at the peak" },
		{ "", "       PEAK↓ PEAK %  CALLS  TEMP %   LEAKED  TREND" },
		{ "LLLL", "live 149 MB at the end" },
		{ "LLLL", "     LEAKED↓ LEAK %     PEAK  CALLS  TEMP %  TREND" },
		/* the metric's column rules, as in top */
		{ "m", " LEAKED↓" },
		{ "mmm", " TEMP %↓" },
		{ "s", " CALLS↓" },
		{ "S", " PEAK↑" },
		{ "Ss", " CALLS↓" },
		{ "ssss", " PEAK↓" },
		/* names in full get the room of numbers */
		{ "W", "       PEAK↓ PEAK %  WHERE" },
		{ "W", "flush_loop(Queue<std::unique_ptr<Block> >&)  flush.cc:15" },
		{ "", "1 top  2 tree" },
		/* the sum of CALLS, whatever other views count; there it is said what that is */
		{ "", " 6,428 allocations · 2 m 00 s" },
		{ "m", " 6,428 allocations · 2 m 00 s" },
		{ "1", " allocations at the peak · " },
		{ "1m", " allocations never freed · " },
		{ "1mm", " allocations freed · " },
		{ "1mmm", " allocations freed at once · " },
		{ "HH1", " allocations live · " },
		{ "1", "[1 top]" },
		{ "8", "[8 info]" },
		{ "8<Tab>", "[9 memory]" },
		{ "<Tab><Tab>", "[M leaks]" },
		{ "<Tab><Tab><Tab>", "[1 top]" },
		{ "M", "[M leaks]" },
		/* rows: functions, modules, files, threads, stacks, and of allocators sizes */
		{ "oo", "MODULE" },
		{ "oo<Enter>", "filter  module:" },
		{ "ooo", "FILE" },
		{ "oooo", "THREAD" },
		{ "ooooo", " < " },
		{ "oooooo", "main  main.cc:40" },
		{ "MMMMMMMMMoooo", "THREAD" },
		{ "MMMMMMMMMoooooo", "SIZE" },
		{ "MMMMMMMMMoooooo<Enter>", "filter  size:" },
		{ "MMo", "rows of this table are of no functions" },
		{ "MM", "[M lifetimes]" },
		{ "MMMMMMMMMM", "[M leaks]" },
		{ "MM<Tab>", "[1 top]" },
		{ "MM<S-Tab>", "[0 findings]" },
		{ "M<Enter>", "[3 callers]" },
		{ "M<Enter>", "memory leaked" },
		{ "M<Enter><Esc>", "memory peak" },
		{ "s<Enter>", "memory calls" },
		{ "Ms", " GROWTH/H↓" },
		{ "MsS", " GROWTH/H↑" },
		{ "Mss", " ± 95 %↓" },
		{ "<S-Tab>", "[8 info]" },
		{ "p", "live 180 MB at the peak" },
		{ "m", "memory leaked" },
		{ "mm", "memory freed" },
		{ "mmm", "memory temporary" },
		{ "mmmmm", "malloc calls" },
		{ "mmmmmmmmmmmm", "mmap calls" },
		{ "mmmmmmmmmmmmmmmmmmmmm", "memory peak" },
		{ "1m", "[1 top]" },
		/* other views speak of the cursor once it was moved, until m says otherwise */
		{ "1", "memory peak" },
		{ "HH", "memory peak" },
		{ "HH1", "memory live" },
		{ "HH8", "memory peak" },
		{ "HH<Enter>", "memory live" },
		{ "HH1m2", "memory peak" },
		{ "mHH1", "memory leaked" },
		{ "6", "[6 threads]" },
		{ "6", "flusher  tid 815" },
		/* of a range there is what grew; rows by their growth lead there, and back */
		{ "ALLLB1m", "memory peak" },
		{ "ALLLB1mmm", "allocations came and still in use" },
		{ "1mm", "allocations freed · " },
		{ "HHHHHALLBs<Enter>", "memory grown" },
		{ "HHHHHALLBs<Enter>", "[3 callers]" },
		{ "HHHHHALLBs<Enter><Esc>", "[9 memory]" },
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

/* In 80 columns each table leaves the other views their names. */
Test(app_heap, tabs_have_names)
{
	static const char *const titles[] = { "[M leaks]", "[M lives]",   "[M sizes]",
					      "[M temps]", "[M handoff]", "[M realloc]",
					      "[M waste]", "[M blocks]",  "[M alloc]" };
	struct stage_app f;

	stage_app_init(&f, stage_heap(), true, 80, 24);
	for (size_t i = 0; i < N(titles); i++) {
		stage_app_play(&f, "M");
		cr_expect(stage_app_shows(&f, titles[i]));
		cr_expect(stage_app_shows(&f, " 1 top 2 tre"), "%s", titles[i]);
		cr_expect(stage_app_shows(&f, " 9 mem 0 fin"), "%s", titles[i]);
	}
	stage_app_done(&f);
}

/* Leaks that are known are counted above the others, and have no row and no finding. */
Test(app_heap, suppressed_leaks_are_only_counted)
{
	static const char known[] = "leak:Cache::insert\n";
	static const char row[] = "Cache::insert(";
	struct stage_app f;
	struct suppressions *suppress;
	struct lens lens;
	char *text;

	stage_app_init(&f, stage_heap(), true, 120, 30);
	cr_assert_eq(tui_screen(&f.source, &f.options, "M", 120, 30, &text, NULL), 0);
	cr_expect(strstr(text, row), "%s", text);
	cr_expect_null(strstr(text, "suppressed"), "%s", text);
	free(text);
	cr_assert_eq(suppressions_parse("known", known, strlen(known), &suppress, NULL), 0);
	lens_init(&lens, f.profile);
	lens.suppress = suppress;
	f.options.lens = &lens;
	f.options.metric_open = true;
	cr_assert_eq(tui_screen(&f.source, &f.options, "M", 120, 30, &text, NULL), 0);
	cr_expect(strstr(text, " suppressed: 1 site that leaked "), "%s", text);
	cr_expect_null(strstr(text, row), "%s", text);
	free(text);
	lens_done(&lens);
	stage_app_done(&f);
	suppressions_free(suppress);
}

/* Peaks of several processes were not there together, so that no moment is the peak: by PEAK, at the end. */
Test(app_heap, peaks_of_several_processes_are_no_moment)
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	struct stage_app f;
	allocation_id block;
	location_id root;
	track_id t[2];

	builder_begin(p);
	for (int i = 0; i < 2; i++)
		t[i] = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), i + 1), 0,
					UINT64_MAX);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	for (int i = 0; i < 2; i++) {
		root = build_comm_location(p, build_cstring(p, i ? "keeps" : "frees"));
		o.stack = build_stack(p, (stack_id){ 0 }, root).v;
		o.track = (uint16_t)t[i].v;
		build_moment(p, t[i], 5);
		block = build_allocation(p, t[i], i ? 100 : 900, build_heap_origin(p, &o));
		build_moment(p, t[i], 6);
		if (i == 0)
			build_release(p, block, t[i], false, (origin_id){ ID_NONE });
	}
	builder_end(p);
	stage_app_init(&f, p, true, 100, 30);
	stage_app_play(&f, "");
	cr_expect(stage_app_shows(&f, "live 100 B at the end"));
	cr_expect(stage_app_shows(&f, " PEAK↓"));
	cr_expect(stage_app_shows(&f, "▸      0 B     0.0    900 B"));
	stage_app_done(&f);
}

Test(app_heap, without_a_heap_there_is_no_memory)
{
	struct stage_app f;

	stage_app_init(&f, stage_profile(), true, 100, 30);
	stage_app_play(&f, "");
	cr_expect(stage_app_shows(&f, "[1 top]"));
	cr_expect(stage_app_hides(&f, "memory"));
	stage_app_play(&f, "9");
	cr_expect(stage_app_shows(&f, "no heap data in this profile"));
	cr_expect(stage_app_shows(&f, "[1 top]"));
	stage_app_done(&f);
}

/* Between a key and the worker's answer stands what was known; nothing is counted on the way to the screen. */
Test(app_heap, lines_over_another_span_are_made_beside_the_terminal)
{
	struct stage_app f;

	stage_app_init(&f, stage_heap(), true, 100, 40);
	stage_app_settle(&f);
	cr_assert(stage_app_mentions(&f, "allocs/s (max"));
	app_key(f.app, '+');
	cr_assert(stage_app_mentions(&f, "allocs/s: counting"));
	stage_app_settle(&f);
	cr_assert(stage_app_mentions(&f, "allocs/s (max"));
	app_resize(f.app, 90, 40);
	cr_assert(stage_app_mentions(&f, "allocs/s: counting"));
	stage_app_settle(&f);
	cr_assert(stage_app_mentions(&f, "allocs/s (max"));
	stage_app_done(&f);
}

/* Where names meet, one that stands among many of another name is shown: massif's peak among its trees. */
Test(app_heap, a_mark_among_others_of_one_name_is_shown)
{
	static const struct {
		const char *name;
		int64_t s;
	} marks[] = { { "tree", 30 }, { "tree", 34 }, { "the highest", 36 }, { "tree", 38 } };
	struct profile *p = stage_heap();
	struct stage_app f;

	builder_begin(p);
	for (size_t i = 0; i < N(marks); i++) {
		struct heap_mark m = { .thread = ID_NONE, .name = build_cstring(p, marks[i].name) };

		m.time_ns = capture_begin(profile_capture(p, m.capture)) +
			    marks[i].s * INT64_C(1000000000);
		build_heap_mark(p, &m);
	}
	cr_assert_eq(builder_end(p), 0);
	stage_app_init(&f, p, true, 100, 40);
	stage_app_settle(&f);
	cr_assert(stage_app_mentions(&f, "▾the highest"));
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
		struct footprint_lines *was, *is;
		int64_t marked;

		stage_app_init(&f, stage_heap(), true, 100, 40);
		stage_app_settle(&f);
		was = f.app->analysis->over[OVER_MEMORY]->memory;
		cr_assert_not_null(was);
		/* Others may come to lie where these were: one nanosecond tells them apart. */
		marked = ++was->to_ns;
		stage_app_play(&f, cases[i].keys);
		is = f.app->analysis->over[OVER_MEMORY]->memory;
		cr_assert_not_null(is);
		cr_assert_eq(is->to_ns == marked, cases[i].stay, "%s", cases[i].keys);
		stage_app_done(&f);
	}
}

/* Bytes of all events that are there after the first n deeds, of each stack. */
static void replay(const struct story *s, uint32_t n, int64_t live[STORY_STACKS])
{
	memset(live, 0, STORY_STACKS * sizeof(*live));
	for (uint32_t i = 0; i < n; i++) {
		const struct block *b = &s->block[s->deed[i].block];

		live[b->stack] += s->deed[i].frees ? -(int64_t)b->size : (int64_t)b->size;
	}
}

static int64_t sum(const int64_t live[STORY_STACKS])
{
	int64_t all = 0;

	for (int i = 0; i < STORY_STACKS; i++)
		all += live[i];
	return all;
}

/* How many deeds had happened when most was there. */
static uint32_t deeds_to_peak(const struct story *s)
{
	int64_t now = 0, most = 0;
	uint32_t at = 0;

	for (uint32_t i = 0; i < STORY_DEEDS; i++) {
		const struct block *b = &s->block[s->deed[i].block];

		now += s->deed[i].frees ? -(int64_t)b->size : (int64_t)b->size;
		if (now > most) {
			most = now;
			at = i + 1;
		}
	}
	return at;
}

static uint32_t deeds_before(const struct story *s, int64_t since_ns)
{
	uint32_t n = 0;

	while (n < STORY_DEEDS && s->deed[n].time_ns - s->deed[0].time_ns < since_ns)
		n++;
	return n;
}

/* Each stack ends in a function of its own, whose row begins with what of it is there. */
static void expect_rows(struct stage *st, const int64_t live[STORY_STACKS], const char *when)
{
	char *text, want[2 * FMT_SIZE], bytes[FMT_SIZE];
	int n_rows = 0;

	stage_draw(st);
	text = stage_text(st);
	snprintf(want, sizeof(want), "live %s at ", fmt_bytes(bytes, sum(live)));
	cr_expect_not_null(strstr(text, want), "%s: no \"%s\" in:\n%s", when, want, text);
	for (char *line = strtok(strstr(text, "WHERE"), "\n"); line; line = strtok(NULL, "\n")) {
		const char *name = strstr(line, " f");
		char number[FMT_SIZE], unit[FMT_SIZE];
		size_t skip = strcspn(line, "0123456789");

		if (!name || sscanf(line + skip, "%31s %31s", number, unit) != 2)
			continue;
		snprintf(want, sizeof(want), "%s %s", number, unit);
		cr_expect_str_eq(want, fmt_bytes(bytes, live[name[2] - '0']), "%s: %s, not %s",
				 when, line, bytes);
		n_rows++;
	}
	cr_expect_eq(n_rows, STORY_STACKS, "%s: %d rows", when, n_rows);
	free(text);
}

/* What stands on the screen at the peak and wherever the cursor is moved to is what a replay finds there. */
Test(app_heap, rows_are_a_replay)
{
	static const char *const walks[] = { "h",  "H",    "HHh",    "HHHHH", "HHHHHHHHHHHH",
					     "+h", "H++h", "HH+H-h", "p",     "pHp",
					     "p+", "hhp++" };

	for (unsigned seed = 1; seed < 6; seed++) {
		struct story *s = story_new(seed);
		int64_t live[STORY_STACKS];

		for (size_t i = 0; i < N(walks); i++) {
			const struct footprint *f;
			struct stage st;

			stage_init(&st, s->p, NULL, VIEW_KIND_MEMORY, 120, 40);
			stage_keys(&st, walks[i]);
			f = st.scene.analysis->footprint;
			replay(s,
			       strchr(walks[i], 'p') ? deeds_to_peak(s)
						     : deeds_before(s, f->lens.cursor_ns),
			       live);
			expect_rows(&st, live, walks[i]);
			stage_done(&st);
		}
		story_free(s);
	}
}
