/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reports of small profiles, as text: the numbers, the order, what is left out. */
#include "config.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "cli/report/report.h"
#include "cli/report/report_memory.h"
#include "cli/report/report_text.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tests/support/read_recording.h"

#define SMALL \
	"main;parse;read_number 30\nmain;parse 10\nmain;sort;sort;compare 40\nmain;sort 5\nmain 5\n" \
	"other;read_number 10\n"

struct question {
	const char *what;
	enum view_kind view;
	const char *filter, *function; /* NULL: none */
	int64_t rows;
	double min;
	bool ascii;
};

/* The report as text, or "error: SENTENCE"; malloc'd. */
static char *answer(const char *folded, const struct question *q)
{
	struct report r = {
		.view = q->view, .max_rows = q->rows, .min_percent = q->min, .ascii = q->ascii
	};
	struct profile *p = read_as("folded", folded);
	struct err e = ERR_INIT;
	struct lens lens;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	lens_init(&lens, p);
	if (q->filter)
		cr_assert_eq(filter_parse(q->filter, &lens.filter, &e), 0, "%s", err_text(&e));
	cr_assert_eq(analysis_new(p, &lens, NULL, &r.analysis), 0);
	if (report_make_rows(&r, q->function, &e))
		fprintf(f, "error: %s\n", err_text(&e));
	else
		report_text(&r, f);
	fclose(f);
	report_done(&r);
	err_clear(&e);
	analysis_free(r.analysis);
	lens_done(&lens);
	profile_free(p);
	return text;
}

/* clang-format off: one line a row */
static const struct {
	struct question question;
	const char *text;
} cases[] = {
	{ { .what = "top", .view = VIEW_KIND_TOP },
	  "#  SELF %  TOTAL %      SAMPLES  FUNCTION\n"
	  "     40.0     40.0           40  compare\n"
	  "     40.0     40.0           40  read_number\n"
	  "     10.0     40.0           10  parse\n"
	  "      5.0     90.0            5  main\n"
	  "      5.0     45.0            5  sort\n"
	  "      0.0     10.0            0  other\n" },
	{ { .what = "top, two rows", .view = VIEW_KIND_TOP, .rows = 2 },
	  "#  SELF %  TOTAL %      SAMPLES  FUNCTION\n"
	  "     40.0     40.0           40  compare\n"
	  "     40.0     40.0           40  read_number\n"
	  "# 4 more rows are left out; -n 0 --min 0 shows all\n" },
	{ { .what = "top, at least a fifth", .view = VIEW_KIND_TOP, .min = 20 },
	  "#  SELF %  TOTAL %      SAMPLES  FUNCTION\n"
	  "     40.0     40.0           40  compare\n"
	  "     40.0     40.0           40  read_number\n"
	  "     10.0     40.0           10  parse\n"
	  "      5.0     90.0            5  main\n"
	  "      5.0     45.0            5  sort\n"
	  "# 1 more row is left out; -n 0 --min 0 shows all\n" },
	{ { .what = "top of a filter", .view = VIEW_KIND_TOP, .filter = "parse" },
	  "#  SELF %  TOTAL %      SAMPLES  FUNCTION\n"
	  "     75.0     75.0           30  read_number\n"
	  "     25.0    100.0           10  parse\n"
	  "      0.0    100.0            0  main\n" },
	{ { .what = "tree", .view = VIEW_KIND_TREE },
	  "# TOTAL %   SELF %  CALL TREE\n"
	  "     90.0      5.0  main\n"
	  "     45.0      5.0    sort\n"
	  "     40.0      0.0    › sort\n"
	  "     40.0     40.0    › compare\n"
	  "     40.0     10.0    parse\n"
	  "     30.0     30.0    › read_number\n"
	  "     10.0      0.0  other\n"
	  "     10.0     10.0  › read_number\n" },
	{ { .what = "tree in ASCII", .view = VIEW_KIND_TREE, .ascii = true },
	  "# TOTAL %   SELF %  CALL TREE\n"
	  "     90.0      5.0  main\n"
	  "     45.0      5.0    sort\n"
	  "     40.0      0.0    > sort\n"
	  "     40.0     40.0    > compare\n"
	  "     40.0     10.0    parse\n"
	  "     30.0     30.0    > read_number\n"
	  "     10.0      0.0  other\n"
	  "     10.0     10.0  > read_number\n" },
	{ { .what = "tree, at least a third", .view = VIEW_KIND_TREE, .min = 33 },
	  "# TOTAL %   SELF %  CALL TREE\n"
	  "     90.0      5.0  main\n"
	  "     45.0      5.0    sort\n"
	  "     40.0      0.0    › sort\n"
	  "     40.0     40.0    › compare\n"
	  "     40.0     10.0    parse\n"
	  "# 3 more rows are left out; -n 0 --min 0 shows all\n" },
	{ { .what = "callers", .view = VIEW_KIND_CALLERS },
	  "# TOTAL %   SELF %  CALLERS\n"
	  "     40.0     40.0  compare\n"
	  "     40.0     40.0  › sort\n"
	  "     40.0     40.0  › sort\n"
	  "     40.0     40.0  › main\n"
	  "     40.0     40.0  read_number\n"
	  "     30.0     30.0    parse\n"
	  "     30.0     30.0    › main\n"
	  "     10.0     10.0    other\n"
	  "     40.0     10.0  parse\n"
	  "     40.0     10.0  › main\n"
	  "     90.0      5.0  main\n"
	  "     45.0      5.0  sort\n"
	  "     45.0      5.0  › main\n" },
	{ { .what = "callers of recursion", .view = VIEW_KIND_CALLERS, .function = "^sort$" },
	  "# TOTAL %   SELF %  CALLERS\n"
	  "     45.0      5.0  sort\n"
	  "     45.0      5.0    main\n"
	  "     40.0      0.0    sort\n"
	  "     40.0      0.0    › main\n"
	  "# callers of a recursive function add up to more than it: a sample counts for each of "
	  "them once\n" },
	{ { .what = "callers of one", .view = VIEW_KIND_CALLERS, .function = "^parse$" },
	  "# TOTAL %   SELF %  CALLERS\n"
	  "     40.0     10.0  parse\n"
	  "     40.0     10.0  › main\n" },
	{ { .what = "butterfly", .view = VIEW_KIND_BUTTERFLY, .function = "parse" },
	  "# callers and callees: shares of the function's own total; it: of everything\n"
	  "#  SELF %  TOTAL %  CALLERS\n"
	  "             100.0  main\n"
	  "#\n"
	  "     10.0     40.0  parse\n"
	  "#                   CALLEES\n"
	  "              75.0  read_number\n" },
	{ { .what = "butterfly of recursion", .view = VIEW_KIND_BUTTERFLY, .function = "sort" },
	  "# callers and callees: shares of the function's own total; it: of everything\n"
	  "#  SELF %  TOTAL %  CALLERS\n"
	  "             100.0  main\n"
	  "#\n"
	  "      5.0     45.0  sort\n"
	  "#                   CALLEES\n"
	  "              88.9  sort\n" },
	{ { .what = "butterfly of all", .view = VIEW_KIND_BUTTERFLY },
	  "error: --view butterfly wants a function: --function NAME\n" },
	{ { .what = "butterfly of none", .view = VIEW_KIND_BUTTERFLY, .function = "nil" },
	  "error: no function here matches \"nil\"\n" },
};
/* clang-format on */

Test(report, says_what_the_profile_holds)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = answer(SMALL, &cases[i].question);

		cr_expect_str_eq(text, cases[i].text, "%s:\n%s", cases[i].question.what, text);
		free(text);
	}
}

#define SAMPLE(comm, ids, n) comm " " ids " 1.5: " n " cycles:\n\t1 f+0x1 (x)\n\n"

/*
 * A main thread alone is its process's row, another keeps its process above it; rows come by cost, threads within
 * their process.
 */
Test(report, threads_stand_below_their_processes)
{
	struct profile *p = read_as("perf-script",
				    SAMPLE("solo", "5/5", "20") SAMPLE("pool", "7/7", "10") SAMPLE(
					    "worker", "7/8", "50") SAMPLE("worker", "7/9", "20")
					    SAMPLE("own", "3/3", "0") SAMPLE("lone", "3/4", "10"));
	struct report r = { .view = VIEW_KIND_THREADS };
	struct err e = ERR_INIT;
	char *text = NULL;
	struct lens lens;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	lens_init(&lens, p);
	lens.grouping = GROUP_THREAD;
	cr_assert_eq(filter_parse("!tid:3", &lens.filter, &e), 0);
	cr_assert_eq(analysis_new(p, &lens, NULL, &r.analysis), 0);
	cr_assert_eq(report_make_rows(&r, NULL, &e), 0);
	report_text(&r, f);
	fclose(f);
	cr_expect_str_eq(text, "# TOTAL %      SAMPLES  PROCESS, THREAD\n"
			       "     72.7            3  pool              pid 7\n"
			       "     45.5            1    worker          tid 8\n"
			       "     18.2            1    worker          tid 9\n"
			       "      9.1            1    pool            tid 7\n"
			       "     18.2            1  solo              pid 5\n"
			       "      9.1            1  own               pid 3\n"
			       "      9.1            1    lone            tid 4\n");
	free(text);
	report_done(&r);
	analysis_free(r.analysis);
	lens_done(&lens);
	profile_free(p);
}

#define TIMED(at, n) "p 1/1 " at ": " n " cycles:\n\t1 f+0x1 (x)\n\n"

/* Slices of the time that the filter lets pass, and what was in each. */
Test(report, timeline)
{
	static const struct {
		const char *filter, *text;
	} timelines[] = {
		{ "", "#     FROM s         TO s      AMOUNT   TOTAL %\n"
		      "           0            1          30      37.5\n"
		      "           1            2           0       0.0\n"
		      "           2            3          10      12.5\n"
		      "           3            4          40      50.0\n" },
		{ "time:0,2", "#     FROM s         TO s      AMOUNT   TOTAL %\n"
			      "           0          0.5          10      33.3\n"
			      "         0.5            1          20      66.7\n"
			      "           1          1.5           0       0.0\n"
			      "         1.5            2           0       0.0\n" },
	};
	struct profile *p = read_as("perf-script", TIMED("1.0", "10") TIMED("1.5", "20")
							   TIMED("3.0", "10") TIMED("5.0", "40"));

	for (size_t i = 0; i < sizeof(timelines) / sizeof(timelines[0]); i++) {
		struct report r = { .view = VIEW_KIND_TIMELINE, .max_rows = 4 };
		struct err e = ERR_INIT;
		char *text = NULL;
		struct lens lens;
		size_t n;
		FILE *f = open_memstream(&text, &n);

		lens_init(&lens, p);
		cr_assert_eq(filter_parse(timelines[i].filter, &lens.filter, &e), 0);
		cr_assert_eq(analysis_new(p, &lens, NULL, &r.analysis), 0);
		cr_assert_eq(report_make_rows(&r, NULL, &e), 0, "%s", err_text(&e));
		report_text_timeline(&r, f);
		fclose(f);
		cr_expect_str_eq(text, timelines[i].text, "%s: got\n%s", timelines[i].filter, text);
		free(text);
		report_done(&r);
		analysis_free(r.analysis);
		lens_done(&lens);
	}
	profile_free(p);
}

/* A heap: a() asks for 1000 and 24 bytes and keeps the first, b() for 500, freed at once; the peak is 1500. */
static struct profile *small_heap(void)
{
	struct profile *p = profile_new();
	struct heap_origin o[2] = { { .thread = ID_NONE }, { .thread = ID_NONE } };
	allocation_id block;
	location_id at[2], deeper;
	struct frame run[2] = { { .n_more = 1 }, { 0 } };
	module_id prog, libc;
	origin_id who[2];
	track_id track;

	builder_begin(p);
	prog = build_module(p, "/x/prog", "", FAMILY_PROGRAM);
	libc = build_module(p, "/x/libc.so.6", "", FAMILY_LIBC);
	track = build_heap_track(p, build_process(p, build_capture(p, "x", "heap"), 1), 0, 0);
	for (int i = 0; i < 2; i++) {
		function_id f = build_function(p, build_cstring(p, i ? "b" : "a"), prog, 0,
					       (string_id){ 0 }, 0);

		at[i] = i ? build_location(p, prog, 64) : build_symbol_location(p, f);
		run[0].function = f.v;
		o[i].event = (uint16_t)build_heap_event(p, "malloc").v;
		o[i].track = (uint16_t)track.v;
		o[i].stack = build_stack(p, (stack_id){ 0 }, at[i]).v;
	}
	run[0].file = build_cstring(p, "/x/b.c").v;
	run[0].line = 34;
	run[1].function =
		build_function(p, build_cstring(p, "std::inner"), prog, 0, (string_id){ 0 }, 0).v;
	run[1].file = build_cstring(p, "/x/b.h").v;
	run[1].line = 12;
	build_location_inlines(p, at[1], run, 2);
	deeper = build_symbol_location(
		p, build_function(p, build_cstring(p, "strdup"), libc, 0, (string_id){ 0 }, 0));
	o[1].stack = build_stack(p, (stack_id){ o[1].stack }, deeper).v;
	for (int i = 0; i < 2; i++)
		who[i] = build_heap_origin(p, &o[i]);
	build_moment(p, track, 0);
	build_allocation(p, track, 1000, who[0]);
	build_moment(p, track, 1000000000);
	block = build_allocation(p, track, 500, who[1]);
	build_moment(p, track, 2000000000);
	build_release(p, block, track, true, (origin_id){ ID_NONE });
	build_moment(p, track, 3000000000);
	block = build_allocation(p, track, 24, who[0]);
	build_moment(p, track, 4000000000);
	build_release(p, block, track, false, (origin_id){ ID_NONE });
	builder_end(p);
	return p;
}

static char *memory_answer(bool json)
{
	struct report r = { .view = VIEW_KIND_MEMORY };
	struct profile *p = small_heap();
	struct lens lens;
	char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	lens_init(&lens, p);
	cr_assert_eq(analysis_new(p, &lens, NULL, &r.analysis), 0);
	cr_assert_not_null(analysis_footprint(r.analysis, NULL));
	if (json)
		report_memory_json(&r, f);
	else
		report_memory_text(&r, f);
	fclose(f);
	analysis_free(r.analysis);
	lens_done(&lens);
	profile_free(p);
	return text;
}

Test(report, memory)
{
	static const struct {
		bool json;
		const char *has;
	} wanted[] = {
		{ false, "# the peak is 1 s after the start\n" },
		{ false,
		  "#       PEAK        BYTES        CALLS    TEMPORARY       LEAKED  WHERE\n"
		  "     1.50 kB      1.52 kB            3            1      1.00 kB  (everything)\n" },
		{ false,
		  "\n       500 B        500 B            1            1          0 B  b  b.c:34  prog\n" },
		{ true, "\"duration_ns\": 4000000000,\n\"peak_ns\": 1000000000,\n" },
		{ true,
		  "{\"name\": \"a\", \"module\": \"prog\", \"live\": 1000, \"peak\": 1000, \"bytes\": 1024, "
		  "\"calls\": 2, \"temporary\": 0, \"leaked\": 1000, "
		  "\"stack\": [{\"name\": \"a\", \"module\": \"prog\"}]}" },
		{ false,
		  "\n# b  b.c:34: the stack that allocated most there, innermost first\n"
		  "    strdup  libc.so.6\n    std::inner  b.h:12  prog\n    b  b.c:34  prog\n" },
		{ true,
		  "\"stack\": [{\"name\": \"strdup\", \"module\": \"libc.so.6\"}, "
		  "{\"name\": \"std::inner\", \"module\": \"prog\", \"file\": \"/x/b.h\", \"line\": 12}" },
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		char *text = memory_answer(wanted[i].json);

		cr_expect(strstr(text, wanted[i].has), "no %s in\n%s", wanted[i].has, text);
		free(text);
	}
}
