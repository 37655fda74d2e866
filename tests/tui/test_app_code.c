/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The app on a canvas: the way to a function's code and back, and what keys do there. */
#include "config.h"

#include "base/mem.h"
#include "code/annotation.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "tests/support/made_profile.h"
#include "tests/support/stage.h"
#include "tests/support/stage_app.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

Test(app_code, what_keys_do)
{
	static const struct stage_case cases[] = {
		{ "code of the selection", "u", "[annotate]", "[1 top]" },
		{ "hottest line first", "u", "▸   25.0     43.0", "[1 top]" },
		{ "the hottest function of all where no line is known", "jjU",
		  "no line is known here: the hottest function, 27.3 % of all", "[1 top]" },
		{ "and back from it to the row", "jjU<Esc>", " ▸  10.3", "the hottest" },
		{ "what is filtered counts", "&!fn:parse_record<Enter>U", "push_back",
		  "hottest function, 27.3" },
		{ "with nothing, that is said", "&thread:nobody<Enter>U",
		  "nothing here has samples", "[annotate]" },
		{ "and back", "u<Esc>", "[1 top]", "annotate" },
		{ "a tab only while it is shown", "u1", "[1 top]", "annotate" },
		{ "code below a node", "2eu", "· below handle_request(Conn*)", "[2 tree]" },
		{ "code of all calls", "u", "self 27.3 %", "· below " },
		{ "the next hottest", "un", "hottest 2 of 6: 32.0 %", "[1 top]" },
		{ "and the hottest again", "unN", "hottest 1 of 6: 43.0 %", "[1 top]" },
		{ "lines with instructions", "ua", "4130  pushq", "[1 top]" },
		{ "instructions by address", "uaa", "┌──→  4134", "[1 top]" },
		{ "a jump is followed", "uaajj<Enter>", "▸    1.0", "[1 top]" },
		{ "where no match is in sight, n goes to what is hot", "/Parser<Enter>un",
		  "hottest 2", "[1 top]" },
		{ "a search in code", "u/limit<Enter>n", "2/2 · 7.3 % of total", "hottest 1" },
		{ "a search of which nothing is in the code has no share there", "/Parser<Enter>u",
		  "search  /Parser", "of total" },
		{ "from code to callers", "uc", "[3 callers]", "annotate" },
		{ "the centre of a butterfly", "b<Enter>", "[annotate]", "[4 butterfly]" },
		{ "modules have no lines", "ou", "source lines are of a function", "annotate" },
		{ "functions without lines have code, too", "ooou", "[annotate]", "[1 top]" },
		{ "another metric", "um", "[annotate]", "[1 top]" },
		{ "code through a filter", "u&thread:nobody<Enter>", "[annotate]", "43.0 █" },
	};

	stage_app_expect(cases, sizeof(cases) / sizeof(*cases), 120, 30);
}

/* At 80 columns all views have their names, and what is doubted of the source can be read. */
Test(app_code, at_80_columns)
{
	struct stage_app f;

	stage_app_init(&f, stage_profile(), true, 80, 24);
	stage_app_play(&f, "u");
	cr_expect(stage_app_shows(&f, "8 info ! 0 find [annotate]"));
	stage_app_done(&f);
	/* Of one node: whose calls they are. */
	stage_app_init(&f, stage_profile(), true, 80, 24);
	stage_app_play(&f, "2eu");
	cr_expect(stage_app_shows(&f, "56.3 % of all · below handle_re…\n"));
	stage_app_done(&f);
	stage_app_init(&f, stage_profile(), true, 60, 24);
	stage_app_play(&f, "u");
	cr_expect(stage_app_shows(&f, " 8 !  0 [annotate]"));
	cr_expect(stage_app_shows(&f, "compiled (its MD5\n   differs): lines may be others\n"));
	stage_app_done(&f);
}

/* Two lines, of which the second says what the analysis has in all. */
static int annotate_total(void *arg, const struct analysis *an, const struct code_wish *wish,
			  struct progress *progress, struct annotation **out)
{
	struct annotation *a = annotation_new();
	char *text = xasprintf("in all %ld", (long)an->weights.total[0]);

	(void)arg;
	(void)progress;
	a->wish = *wish;
	a->n_columns = 1;
	a->scale[0] = 1;
	a->self[0] = a->total[0] = a->code_self[0] = an->weights.total[0];
	vec_push(&a->files,
		 ((struct annotation_file){ .path = "/x.c", .name = "x.c", .found = "/x.c" }));
	for (uint32_t line = 1; line <= 2; line++) {
		struct annotation_source source = {
			.line = line,
			.text = line == 1 ? "first" : arena_strndup(&a->texts, text, strlen(text)),
			.numbers = annotation_add_numbers(a),
		};

		a->numbers.at[source.numbers * 2] = a->numbers.at[source.numbers * 2 + 1] =
			line == 1 ? 10 : an->weights.total[0] - 10;
		vec_push(&a->sources, source);
	}
	free(text);
	*out = a;
	return 0;
}

/* Two functions of b.cc, with samples at lines of theirs; one of c.cc, of which no line is known, with a weight. */
static struct profile *with_lines(int64_t third)
{
	static const struct {
		uint32_t function, line;
		int64_t weight;
	} at[] = { { 0, 12, 30 }, { 1, 47, 50 }, { 0, 13, 20 }, { 2, 0, 0 } };
	struct profile *p = profile_new();
	function_id f[3];
	string_id b, c;
	module_id m;
	event_id event;

	builder_begin(p);
	m = build_module(p, "/opt/demo", "", FAMILY_PROGRAM);
	event = build_event(p, "cycles", UNIT_COUNT, true);
	b = build_cstring(p, "/src/b.cc");
	c = build_cstring(p, "/src/c.cc");
	f[0] = build_function(p, build_cstring(p, "first"), m, 0, b, 10);
	f[1] = build_function(p, build_cstring(p, "second"), m, 0, b, 40);
	f[2] = build_function(p, build_cstring(p, "third"), m, 0, c, 7);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++) {
		struct sample sample = { .thread = { ID_NONE },
					 .cpu = CPU_NONE,
					 .event = event,
					 .weight = at[i].weight > 0 ? at[i].weight : third,
					 .time_ns = TIME_NONE };
		location_id l = build_location(p, m, 0x1000 + i);
		const struct frame run = { f[at[i].function].v, b.v, at[i].line, 0 };

		build_location_function(p, l, f[at[i].function]);
		if (at[i].line > 0)
			build_location_inlines(p, l, &run, 1);
		sample.stack = build_stack(p, (stack_id){ 0 }, l);
		build_sample(p, &sample);
	}
	builder_end(p);
	return p;
}

/* Where most is on no line, the hottest function is what is looked for, not a line that happens to be known. */
Test(app_code, the_hottest_is_not_a_line_that_happens_to_be_known)
{
	static const struct {
		int64_t third;
		const char *says;
	} cases[] = {
		{ 10, "the hottest line: b.cc:47, 45.5 % of all" },
		{ 300, "of 75.0 % no line is known: the hottest function of these, 75.0 % of all" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage_app f;

		stage_app_init(&f, with_lines(cases[i].third), true, 110, 30);
		stage_app_play(&f, "U");
		cr_expect(stage_app_shows(&f, cases[i].says));
		stage_app_done(&f);
	}
}

/* Of a row of files the editor opens at the file's hottest line, or where its function is declared. */
Test(app_code, edits_a_file_at_its_hottest_line)
{
	static const struct {
		const char *keys, *file;
		uint32_t line;
	} cases[] = {
		{ "oo/b.cc<Enter>E", "/src/b.cc", 47 },
		{ "oo/b.cc<Enter>&!fn:second<Enter>E", "/src/b.cc", 12 },
		{ "oo/c.cc<Enter>E", "/src/c.cc", 7 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct stage_app f;
		struct terminal_request w;

		stage_app_init(&f, with_lines(10), true, 110, 30);
		stage_app_play(&f, cases[i].keys);
		cr_assert(app_take_request(f.app, &w), "%s: no wish for an editor", cases[i].keys);
		cr_expect_eq((int)w.kind, REQUEST_EDIT);
		cr_expect_str_eq(w.text, cases[i].file);
		cr_expect_eq(w.line, cases[i].line, "%s: %u", cases[i].keys, w.line);
		free(w.text);
		stage_app_done(&f);
	}
}

/* Rows are about to become lines: the editor opens, and that is all. */
Test(app_code, edits_a_file_whose_rows_become_lines)
{
	struct stage_app f;
	struct terminal_request w;

	stage_app_init(&f, with_lines(10), true, 110, 30);
	stage_app_play(&f, "oo/b.cc<Enter>");
	app_key(f.app, 'o');
	app_key(f.app, 'E');
	stage_app_settle(&f);
	cr_assert(app_take_request(f.app, &w), "no wish for an editor");
	cr_expect_str_eq(w.text, "/src/b.cc");
	cr_expect_eq(w.line, 47u, "%u", w.line);
	free(w.text);
	stage_app_done(&f);
}

/* Of a row of lines it opens at that line, in every view of rows. */
Test(app_code, edits_a_line_of_rows)
{
	static const char *const keys[] = { "ooo/b.cc:47<Enter>E", "ooo2/b.cc:47<Enter>E",
					    "ooo3/b.cc:47<Enter>E", "ooo5/b.cc:47<Enter>E" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++) {
		struct stage_app f;
		struct terminal_request w;

		stage_app_init(&f, with_lines(10), true, 110, 30);
		stage_app_play(&f, keys[i]);
		cr_assert(app_take_request(f.app, &w), "%s: no wish for an editor", keys[i]);
		cr_expect_str_eq(w.text, "/src/b.cc");
		cr_expect_eq(w.line, 47, "%s: %u", keys[i], w.line);
		free(w.text);
		stage_app_done(&f);
	}
}

/* Enter on a row that is no jump says so. */
Test(app_code, enter_follows_jumps_alone)
{
	struct stage_app f;

	stage_app_init(&f, with_lines(10), true, 110, 30);
	f.source.annotate = annotate_total;
	stage_app_play(&f, "u<Enter>");
	cr_expect(stage_app_shows(&f, "Enter follows jumps within the function"));
	stage_app_done(&f);
}

/* The code of what is being recorded is of now, and the cursor stays on its line. */
Test(app_code, of_what_is_being_recorded)
{
	struct stage_app f;

	stage_app_live(&f, profile_new(), 100, 24);
	f.source.annotate = annotate_total;
	f.now = 1000;
	made_profile_add(f.profile, "main;work 15\n");
	stage_app_settle(&f);
	stage_app_play(&f, "u");
	cr_expect(stage_app_shows(&f, "in all 15"));
	cr_expect(stage_app_shows(&f, "▸   66.7"));
	made_profile_add(f.profile, "main;work 85\n");
	f.now += 2000;
	stage_app_settle(&f);
	cr_expect(stage_app_shows(&f, "in all 100"));
	cr_expect(stage_app_hides(&f, "in all 15"));
	cr_expect(stage_app_shows(&f, "90.0"));
	/* Held still it stays as it is, and goes on with all that came meanwhile. */
	stage_app_play(&f, "z");
	made_profile_add(f.profile, "main;work 100\n");
	f.now += 2000;
	stage_app_settle(&f);
	cr_expect(stage_app_shows(&f, "in all 100"));
	stage_app_play(&f, "z");
	cr_expect(stage_app_shows(&f, "in all 200"));
	cr_expect(stage_app_shows(&f, "▸    5.0"));
	stage_app_done(&f);
}
