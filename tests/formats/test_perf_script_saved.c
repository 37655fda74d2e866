/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What live saves as the text of perf script: read again, every table is what it was. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/perf_script/perf_script_write.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tests/support/made_heap.h"
#include "tests/support/read_recording.h"
#include "tests/support/written.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Rows of what is shown of an event by a grouping, sorted, and its totals. */
static void print_table(const struct profile *p, struct metric m, enum grouping g, FILE *to)
{
	char *label, *rows = NULL;
	struct analysis *a;
	struct lens lens;
	size_t n;
	FILE *f = open_memstream(&rows, &n);

	lens_init(&lens, p);
	lens.column[0].metric = m;
	lens.grouping = g;
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	label = metric_name(p, m);
	fprintf(to, "%s by %d, unit %d, all %" PRId64 " of %" PRIu64 " samples\n", label, g,
		metric_unit(p, m), a->weights.total[0], a->weights.n_samples);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *k = &a->table_keys->key[a->table.key[i]];

		fprintf(f, "%s in %s: %" PRId64 " %" PRId64 " %" PRIu64 "\n", k->label, k->module,
			a->table.self[i], a->table.total[i], a->table.n_samples[i]);
	}
	fclose(f);
	rows = written_sorted(rows);
	fputs(rows, to);
	free(rows);
	free(label);
	analysis_free(a);
	lens_done(&lens);
}

/* What is shown of all events, in the order of their names; then of a tree with threads at its root. */
static char *all_tables(const struct profile *p)
{
	static const enum grouping groupings[] = { GROUP_FUNCTION, GROUP_MODULE, GROUP_THREAD,
						   GROUP_COMM,     GROUP_CPU,    GROUP_CGROUP };
	struct profile_counts n;
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	profile_counts_read(p, &n);
	for (uint16_t i = 0; i < n.n_events; i++)
		for (size_t g = 0; g < N(groupings); g++) {
			struct metric m = { { i }, MEASURE_WEIGHT, false };

			print_table(p, m, groupings[g], to);
			m.measure = MEASURE_SAMPLES;
			print_table(p, m, groupings[g], to);
		}
	fclose(to);
	return text;
}

/* What passes a filter as text, read again. */
static struct profile *saved(const struct profile *p, const char *filter)
{
	struct err e = ERR_INIT;
	struct profile *again;
	struct analysis *a;
	struct lens lens;
	char *text = NULL;
	size_t n;
	int64_t begin_ns;
	FILE *to = open_memstream(&text, &n);

	lens_init(&lens, p);
	cr_assert_eq(filter_parse(filter, &lens.filter, &e), 0);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_assert(perf_script_says_all(a));
	cr_assert_eq(perf_script_write(a, to, &begin_ns, &e), 0, "%s", err_text(&e));
	fclose(to);
	again = read_script_text(text, NULL, &e);
	cr_assert(again, "%s\n%s", err_text(&e), text);
	free(text);
	analysis_free(a);
	lens_done(&lens);
	return again;
}

static void check_saved(const struct profile *p, const char *what)
{
	struct profile *again = saved(p, "");
	char *before = all_tables(p), *after = all_tables(again);

	cr_expect_str_eq(after, before, "%s:\n%s\nwas\n%s", what, after, before);
	free(before);
	free(after);
	profile_free(again);
}

/* What is written is read again as what it was. */
Test(perf_script_saved, round_trip)
{
	static const char *const texts[] = {
		"ab 1/2 1.5: 7 x: /a b.slice/c\n\t 9 f (m)\n\n"
		"ab 1/2 1.6: 8 x: /\n\t 9 f (m)\n\nab 1/2 1.7: 9 x:\n\t 9 f (m)\n\n"
		"ab 1/2 1.8: 5 x: /a b.slice/c\n\t 9 g (m)\n",
		"ab 1/2 [003] 1.5: 7 cpu-clock:u:\n\t 9 f (inlined)\n  a.h:3\n"
		"\t 9 main (/lib/libc.so.6)\n  a.c:4\n\n"
		"cd 5 1.250000001: faults:\n\tff80 k ([kernel.kallsyms])\n\t 1 [unknown] ([unknown])\n",
		"a b 1/1 [c] 3/4 [000] 0.000000001: 3 task-clock:\n\t a operator->(x, y) (/bin/y)\n",
		"a 4 1.0: 3 task-clock:\n\t b fn() -> i32 (/x (deleted))\n\t c [unknown] (/bin/x)\n",
		"w 2/2 1.0: 9000 offcpu:\n\t1 wait (/bin/w)\n\nw 2/2 2.0: 5 cpu-clock:\n\t1 run (/bin/w)\n",
		"java 1/2 1.0: 5 cycles:\n\t7 a->b (/tmp/perf-1.map)\n\t8 (anonymous namespace)::g (/x)\n",
		"t 812/813 1000 cycles:\n\t 1 f (/x)\n",
		"t 1 1.0: 7 cycles:\n\t1 f (/x)\n\nt 1 2.0: 0 cycles:\n\t2 g (/x)\n",
	};
	static const char *const recordings[] = {
		"demo.data",
		"perf_data/truth_z.data",
		"perf_data/killed_sigkill.data",
		"perf_data/ev_bp_mem.data",
	};
	struct err e = ERR_INIT;
	struct profile *p;
	char *path;

	for (size_t i = 0; i < N(texts); i++) {
		p = read_script_text(texts[i], NULL, &e);
		cr_assert(p, "%s", err_text(&e));
		check_saved(p, texts[i]);
		profile_free(p);
	}
	for (size_t i = 0; i < N(recordings); i++) {
		path = xasprintf("%s/tests/data/%s", getenv("srcdir"), recordings[i]);
		/* Without symbols: of frames modules and addresses are known. */
		p = read_recording(path);
		check_saved(p, path);
		profile_free(p);
		free(path);
	}
}

/* Two functions of a module and of what may be another build of it, which have no symbols; and some of which less is known. */
static struct profile *begun(const char *path, const char *build_id, const char *path2,
			     const char *build_id2)
{
	static const char *const names[] = { "[lib.so+0x10]", "[lib.so+0x20]", "[lib.so]" };
	struct profile *p = profile_new();
	struct sample s = { .cpu = CPU_NONE };
	process_id process;

	builder_begin(p);
	process = build_process(p, build_capture(p, "x", "perf.data"), 1);
	s.thread = build_thread(p, process, 1, build_cstring(p, "x"));
	s.event = build_event(p, "cycles", UNIT_COUNT, true);
	for (unsigned i = 0; i < 12; i++) {
		module_id m = i % 2 ? build_module(p, path2, build_id2, FAMILY_LIBRARY)
				    : build_module(p, path, build_id, FAMILY_LIBRARY);
		uint32_t flags = FUNCTION_UNRESOLVED | (i % 3 < 2 ? FUNCTION_BEGIN : 0);
		location_id l = build_location(p, m, 0x10 * (i + 1));
		function_id f = build_function(p, build_cstring(p, names[i % 3]), m, flags,
					       (string_id){ 0 }, 0);

		build_location_function(p, l, f);
		s.stack = build_stack(p, (stack_id){ 0 }, l);
		s.weight = 1 << i;
		s.time_ns = i;
		cr_assert_eq(build_sample(p, &s), 0);
	}
	cr_assert_eq(builder_end(p), 0);
	return p;
}

/* Functions without a symbol are rows of their own where they were, and one row where they were that. */
Test(perf_script_saved, round_trip_of_functions_that_begin)
{
	static const struct {
		const char *path, *build_id, *path2, *build_id2;
		size_t n_begun; /* functions that are told apart */
	} cases[] = {
		{ "/lib.so", "ab", "/lib.so", "ab", 2 }, { "/lib.so", "", "/lib.so", "", 2 },
		{ "/lib.so", "ab", "/lib.so", "cd", 0 }, { "/lib.so", "ab", "/x/lib.so", "cd", 0 },
		{ "/lib.so", "", "/x/lib.so", "", 0 },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct profile *p = begun(cases[i].path, cases[i].build_id, cases[i].path2,
					  cases[i].build_id2),
			       *again = saved(p, "");
		struct profile_counts n;
		size_t n_begun = 0;

		check_saved(p, cases[i].path2);
		profile_counts_read(again, &n);
		for (uint32_t f = 0; f < n.n_functions; f++)
			n_begun += (profile_function(again, (function_id){ f })->flags &
				    FUNCTION_BEGIN) != 0;
		cr_expect_eq(n_begun, cases[i].n_begun, "%zu: %zu", i, n_begun);
		profile_free(again);
		profile_free(p);
	}
}

/* Names go on coming while what was shown before them is saved. */
Test(perf_script_saved, names_that_came_after_what_is_shown)
{
	struct profile *p = profile_new();
	struct sample s = { .cpu = CPU_NONE, .weight = 1 };
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens lens;
	process_id process;
	char *text = NULL;
	module_id m;
	size_t n;
	int64_t begin_ns;
	FILE *to = open_memstream(&text, &n);

	builder_begin(p);
	process = build_process(p, build_capture(p, "x", "perf.data"), 1);
	s.thread = build_thread(p, process, 1, build_cstring(p, "x"));
	s.event = build_event(p, "cycles", UNIT_COUNT, true);
	m = build_module(p, "/lib.so", "ab", FAMILY_LIBRARY);
	for (unsigned i = 0; i < 2; i++) {
		s.stack = build_stack(p, s.stack, build_location(p, m, 0x10 * (i + 1)));
		cr_assert_eq(build_sample(p, &s), 0);
	}
	cr_assert_eq(builder_end(p), 0);
	lens_init(&lens, p);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	builder_begin(p);
	for (uint32_t i = 0; i < 2; i++)
		build_location_function(
			p, (location_id){ i },
			build_function(p, build_cstring(p, i ? "[lib.so+0x20]" : "late"), m,
				       i ? FUNCTION_UNRESOLVED | FUNCTION_BEGIN : 0,
				       (string_id){ 0 }, 0));
	cr_assert_eq(builder_end(p), 0);
	cr_assert_eq(perf_script_write(a, to, &begin_ns, &e), 0, "%s", err_text(&e));
	fclose(to);
	cr_expect(strstr(text, " late (/lib.so)"), "%s", text);
	cr_expect(strstr(text, " [lib.so] (/lib.so)"), "%s", text);
	free(text);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
}

/* Only what passes the filter is written. */
Test(perf_script_saved, round_trip_of_some)
{
	struct err e = ERR_INIT;
	struct profile *p = read_script_text("a 1/1 1.0: 5 cycles:\n\t1 f (/x)\n\n"
					     "b 1/2 2.0: 6 cycles:\n\t1 f (/x)\n\n"
					     "b 1/2 3.0: 7 faults:\n\t2 g (/x)\n",
					     NULL, &e),
		       *again = saved(p, "thread:b");
	struct profile_counts n;
	struct sample_columns s;

	profile_counts_read(again, &n);
	profile_samples(again, &s);
	cr_assert_eq(n.n_samples, 2);
	cr_expect_eq(s.weight[0], 6);
	cr_expect_eq(s.time_ns[0], 2000000000);
	cr_expect_eq(n.n_events, 2);
	profile_free(again);
	profile_free(p);
}

/* What is said of times; NULL: nothing. */
static void expect_times(const struct profile *p, const char *times)
{
	struct profile *again = saved(p, "");

	const char *said = made_heap_fact(again, "times");

	cr_expect(times && said ? strcmp(said, times) == 0 : said == times, "%s", said);
	profile_free(again);
}

/* Rows that stand for several samples are written as so many, of the same weight together. */
Test(perf_script_saved, round_trip_of_what_was_folded)
{
	const struct build_folding folding = { .keep_ns = 1, .n_rows = 1, .n_folded = 4 };
	struct err e = ERR_INIT;
	struct profile_counts n;
	struct profile *p;
	char *text = NULL, *before, *folded;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	for (int i = 0; i < 300; i++)
		fprintf(to, "a 1/%d %d.0: %d cycles:\n\t1 f (/x)\n\t%d g (/y)\n\n", 1 + i % 2, i,
			5 + i % 7, 2 + i % 3);
	fclose(to);
	p = read_script_text(text, NULL, &e);
	cr_assert(p, "%s", err_text(&e));
	before = all_tables(p);
	expect_times(p, NULL);
	build_folding(p, &folding);
	builder_begin(p);
	cr_assert_eq(builder_end(p), 0);
	profile_counts_read(p, &n);
	cr_assert_lt(n.n_samples, 100, "they were to be folded");
	folded = all_tables(p);
	cr_expect_str_eq(folded, before);
	check_saved(p, "folded");
	expect_times(p, "293 old samples have the time of one like them before, of up to 4 m 54 s");
	free(folded);
	free(before);
	free(text);
	profile_free(p);
}
