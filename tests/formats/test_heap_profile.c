/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heap profiles as text: made ones, recorded ones, and those of the corpus against pprof's own reading. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/heap_profile/heap_profile.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "query/heap/footprint.h"
#include "query/heap/heap_table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_heap.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(rows) (sizeof(rows) / sizeof(*(rows)))

static const char *const events[] = { "inuse_objects", "inuse_space", "alloc_objects",
				      "alloc_space" };

static int read_input(struct input *in, struct profile **p, struct err *e)
{
	capture_id c;

	*p = profile_new();
	builder_begin(*p);
	c = build_capture(*p, "x", "heap-profile");
	builder_end(*p);
	return format_heap_profile.read(in, *p, c, NULL, NULL, e);
}

static int read_bytes(const void *bytes, size_t n, struct profile **p, struct err *e)
{
	struct input *in = input_of_bytes(bytes, n, "x");
	int rc = read_input(in, p, e);

	input_close(in);
	return rc;
}

static struct profile *read_file(const char *path)
{
	struct err e = ERR_INIT;
	struct profile *p;
	struct input *in;

	cr_assert_eq(input_open(path, &in, &e), 0, "%s", err_text(&e));
	cr_expect_eq(format_probe(in, &e), &format_heap_profile, "%s", path);
	cr_assert_eq(read_input(in, &p, &e), 0, "%s", err_text(&e));
	input_close(in);
	return p;
}

/* -1: there is no such event. */
static int64_t sum_of(const struct profile *p, const char *event)
{
	struct profile_counts counts;
	struct weights w;
	struct metric m;
	struct lens l;
	int64_t sum;

	if (metric_find(p, event, "", &m, NULL) < 0)
		return -1;
	profile_counts_read(p, &counts);
	lens_init(&l, p);
	l.n_columns = 1;
	l.column[0].metric = m;
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	sum = w.total[0];
	weights_done(&w);
	lens_done(&l);
	return sum;
}

static const char go_text[] =
	"heap profile: 2: 300 [5: 1000] @ heapprofile\n1: 100 [3: 700] @ 0x11 0x22\n#\t0x11\tmain.inner+0x1\t\t/x/"
	"a.go:3\n#\t0x11\tmain.f+0x5f\t/x/a.go:12\n#\t0x22\tmain.main+0x7\t/x/a.go:20\n\n1: 200 [2: 300] @ 0x22 0x33 0x33\n"
	"#\t0x22\tmain.main+0x7\t/x/a.go:20\n#\t0x33\tr+0x7\t/x/a.go:9\n#\t0x33\tr+0x7\t/x/a.go:9\n\n# runtime.MemStats\n# Alloc = 124\n";

/* As Go 1.19 writes it: names have the addresses of calls, stacks those behind them, and of the outermost there is no name. */
static const char go_calls_text[] =
	"heap profile: 1: 100 [1: 100] @ heap/2\n1: 100 [1: 100] @ 0x12 0x23 0x23 0x34\n#\t0x11\tmain.inner+0x1\t/x/a.go:3\n"
	"#\t0x11\tmain.f+0x5f\t/x/a.go:12\n#\t0x22\tr+0x7\t/x/a.go:20\n#\t0x22\tr+0x7\t/x/a.go:20\n";

static const char jemalloc_text[] =
	"heap_v2/1\n  t*: 3: 130 [9: 900]\n  t0: 3: 130 [9: 900]\n@ 0x11 0x22\n  t*: 2: 30 [4: 400]\n"
	"  t0: 2: 30 [4: 400]\n@ 0x22\n  t*: 1: 100 [5: 500]\n\nMAPPED_LIBRARIES:\n"
	"1000-2000 r-xp 00000000 fe:00 7      /no/such/file\n3000-4000 rw-p 00000000 00:00 0 \n";

static const struct made {
	const char *what, *text;
	int64_t sum[4]; /* of events; -1: there is none */
	const char *fact, *says;
} files[] = {
	{ "Go, with names", go_text, { 2, 300, 5, 1000 }, "times", "not in the file" },
	{ "jemalloc", jemalloc_text, { 3, 130, 9, 900 }, "threads", "not shown" },
	{ "sampled: small blocks stand for many",
	  "heap profile: 1: 1 [1: 1] @ heap_v2/100\n1: 1 [1: 1] @ 0x1\n2: 2000 [2: 2000] @ 0x2\n",
	  { 102, 2100, -1, -1 },
	  "sampled",
	  "every 100 B on average" },
	{ "of Go before version 2: twice the rate",
	  "heap profile: 1: 1 [1: 1] @ heap/200\n1: 1 [1: 1] @ 0x1\n",
	  { 100, 100, -1, -1 },
	  "sampled",
	  "every 100 B on average" },
	{ "lines that cannot be",
	  "heap profile: 1: 1 [1: 1] @ heapprofile\n1: 1 [1: 1 @ 0x1\n1: x\n1: 5 [1: 5] @ 0x1 y\n"
	  "1: 7 [1: 7] @\nMAPPED_LIBRARIES:\nzz\n1000-2000\n",
	  { 1, 7, -1, -1 },
	  "stacks",
	  "1" },
	{ "more than can be",
	  "heap profile: 1: 1 [1: 1] @ heapprofile\n1: 18446744073709551615 [0: 0] @ 0x1\n1: 5 [0: 0] @ 0x1\n",
	  { 2, 5, -1, -1 },
	  "sums",
	  "1 number left out" },
	{ "a stack of jemalloc's without numbers, and numbers without a stack",
	  "heap_v2/1\n@ 0x1\n@ 0x2\n  t*: 1: 8 [0: 0]\n  t*: 1: 9 [0: 0]\n@ 0x3\n",
	  { 1, 8, -1, -1 },
	  "stacks",
	  "1" },
	{ "names of jeprof --raw",
	  "--- symbol\nbinary=keep\n0x0000000000000010 large<0000000000001184>\n---\n--- heap\nheap_v2/1\n"
	  "@ 0x11\n  t*: 1: 8 [0: 0]\n",
	  { 1, 8, -1, -1 },
	  "stacks",
	  "1" },
};

Test(heap_profile, lines)
{
	for (size_t i = 0; i < N(files); i++) {
		const struct made *f = &files[i];
		struct err e = ERR_INIT;
		struct profile *p;
		const char *text;

		cr_expect_geq(format_heap_profile.probe((const uint8_t *)f->text, strlen(f->text)),
			      FORMAT_SURE, "%s", f->what);
		cr_assert_eq(read_bytes(f->text, strlen(f->text), &p, &e), 0, "%s: %s", f->what,
			     err_text(&e));
		for (size_t k = 0; k < N(events); k++)
			cr_expect_eq(sum_of(p, events[k]), f->sum[k], "%s: %s is %" PRId64, f->what,
				     events[k], sum_of(p, events[k]));
		text = made_heap_fact(p, f->fact);
		cr_expect(text && strncmp(text, f->says, strlen(f->says)) == 0, "%s: %s", f->what,
			  text ? text : "no such fact");
		profile_free(p);
	}
}

/* Names of the frames of a sample's stack, outermost first, of which inlined ones are in brackets. */
static void expect_frames(const struct profile *p, uint64_t row, const char *want)
{
	struct location_columns places;
	struct stack_columns stacks;
	struct sample_columns rows;
	char text[256] = "";

	profile_samples(p, &rows);
	profile_stacks(p, &stacks);
	profile_locations(p, &places);
	for (uint32_t s = rows.stack[row]; s != 0; s = stacks.parent[s]) {
		const struct frame *run = location_frames(&places, stacks.location[s]);

		for (uint32_t k = 0; run && k <= run->n_more; k++) {
			const struct function *f =
				profile_function(p, (function_id){ run[k].function });

			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s:%u ",
				 profile_string(p, f->name, NULL), run[k].line);
		}
	}
	cr_expect_str_eq(text, want);
}

Test(heap_profile, names_in_the_text)
{
	struct err e = ERR_INIT;
	struct profile *p;

	cr_assert_eq(read_bytes(go_text, sizeof(go_text) - 1, &p, &e), 0);
	expect_frames(p, 0, "main.f:12 main.inner:3 main.main:20 ");
	expect_frames(p, 4, "main.main:20 r:9 r:9 ");
	profile_free(p);
	cr_assert_eq(read_bytes(go_calls_text, sizeof(go_calls_text) - 1, &p, &e), 0);
	expect_frames(p, 0, "main.f:12 main.inner:3 r:20 r:20 ");
	profile_free(p);
	cr_assert_eq(read_bytes(files[7].text, strlen(files[7].text), &p, &e), 0);
	expect_frames(p, 0, "large:0 ");
	profile_free(p);
}

Test(heap_profile, refusals)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "heap profile: 0: 0 [0: 0] @ heapprofile\n", "there is no stack in its 1 line" },
		{ "heap_v2/1\n  t*: 0: 0 [0: 0]\n", "there is no stack in its 2 lines" },
		{ "heap_v2/x\n@ 0x1\n", "line 1 is no head of a heap profile" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct err e = ERR_INIT;
		struct profile *p;

		cr_expect_eq(read_bytes(cases[i].text, strlen(cases[i].text), &p, &e), -EBADMSG);
		cr_expect(strstr(err_text(&e), cases[i].says), "%s", err_text(&e));
		err_clear(&e);
		profile_free(p);
	}
}

Test(heap_profile, cut_anywhere)
{
	static const size_t some[] = { 0, 1, 7 };

	for (size_t k = 0; k < N(some); k++) {
		const struct made *f = &files[some[k]];

		for (size_t n = 0; n < strlen(f->text); n++) {
			struct err e = ERR_INIT;
			struct profile *p;
			int rc = read_bytes(f->text, n, &p, &e);

			cr_expect_eq(rc, e.code, "%s: %zu", f->what, n);
			cr_expect_leq(sum_of(p, "inuse_space"), f->sum[1]);
			err_clear(&e);
			profile_free(p);
		}
	}
}

Test(heap_profile, variations)
{
	for (size_t i = 0; i < N(files); i++)
		fuzz_vary(fuzz_heap_profile, files[i].text, strlen(files[i].text), 50);
}

/*
 * What jeprof and google-pprof say of these: `jeprof --show_bytes --inuse_space --text PROGRAM FILE` and the like. They were
 * recorded from a program that keeps 4,000 small and 40 large blocks and frees 3,000, with
 * MALLOC_CONF=prof:true,prof_final:true,prof_accum:true,lg_prof_sample:0 and libjemalloc 5.3, with lg_prof_sample:12, and with
 * HEAPPROFILE=tc and libtcmalloc of gperftools 2.10.
 */
Test(heap_profile, sums_are_those_of_jeprof)
{
	static const struct {
		const char *name;
		int64_t sum[4];
	} recorded[] = {
		{ "jemalloc.heap", { 4041, 4861440, 7041, 7165440 } },
		{ "jemalloc_sampled.heap", { 3991, 4858961, -1, -1 } },
		{ "tcmalloc.heap", { 4040, 4241999, 7040, 6341999 } },
	};

	for (size_t i = 0; i < N(recorded); i++) {
		char *path = xasprintf("%s/heap_profile/%s", TEST_DATA, recorded[i].name);
		struct profile *p = read_file(path);

		for (size_t k = 0; k < N(events); k++)
			cr_expect_eq(sum_of(p, events[k]), recorded[i].sum[k], "%s: %s", path,
				     events[k]);
		profile_free(p);
		free(path);
	}
}

/* Sums of the lines below "Samples:" of pprof's own text, and how many samples there are. */
static size_t golden_sums(const char *path, int64_t sum[4])
{
	FILE *f = fopen(path, "re");
	char line[4096];
	bool in_samples = false;
	size_t n = 0;

	cr_assert_not_null(f, "%s", path);
	while (fgets(line, sizeof(line), f)) {
		int64_t v[4] = { 0 };

		in_samples = strncmp(line, "Samples:", 8) == 0 ||
			     (in_samples && strncmp(line, "Locations", 9) != 0);
		if (!in_samples || !strchr(line, ':') || strstr(line, "bytes:["))
			continue;
		if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &v[0], &v[1],
			   &v[2], &v[3]) < 2)
			continue;
		for (int i = 0; i < 4; i++)
			sum[i] += v[i];
		n++;
	}
	fclose(f);
	return n;
}

Test(heap_profile, sums_are_those_of_pprof)
{
	const char *const go = CORPUS "/pprof/profile/testdata/gobench.heap";
	const char *const growth = CORPUS "/pprof/profile/testdata/cppbench.growth";
	int64_t sum[4] = { 0 };
	struct profile *p;

	if (access(go, R_OK) != 0)
		cr_skip("skipped: no corpus");
	p = read_file(go);
	cr_expect_gt(golden_sums(CORPUS "/pprof/profile/testdata/gobench.heap.string", sum), 10);
	cr_expect_eq(sum_of(p, "alloc_objects"), sum[0]);
	cr_expect_eq(sum_of(p, "alloc_space"), sum[1]);
	cr_expect_eq(sum_of(p, "inuse_objects"), sum[2]);
	cr_expect_eq(sum_of(p, "inuse_space"), sum[3]);
	profile_free(p);
	memset(sum, 0, sizeof(sum));
	p = read_file(growth);
	cr_expect_gt(golden_sums(CORPUS "/pprof/profile/testdata/cppbench.growth.string", sum), 10);
	cr_expect_eq(sum_of(p, "objects"), sum[0]);
	cr_expect_eq(sum_of(p, "space"), sum[1]);
	profile_free(p);
}

/* Of an event of sums, which are those of jeprof and pprof; -1: there is none. */
static int64_t sum_of_event(const struct profile *p, const struct profile_counts *counts,
			    const char *name)
{
	struct weights w;
	int64_t sum = -1;
	struct lens l;

	lens_init(&l, p);
	l.n_columns = 1;
	if (metric_find(p, name, "", &l.column[0].metric, NULL) == 0) {
		cr_assert_eq(aggregate(p, counts, &l, NULL, &w), 0);
		sum = w.total[0];
		weights_done(&w);
	}
	lens_done(&l);
	return sum;
}

/* The memory view and leaks have the bytes that the sums have, and say what they lack. */
Test(heap_profile, what_is_in_use_is_a_heap)
{
	static const char *const names[] = { "jemalloc.heap", "jemalloc_sampled.heap",
					     "tcmalloc.heap" };

	for (size_t i = 0; i < N(names); i++) {
		struct profile_counts counts;
		struct footprint *f;
		struct heap_table *t;
		int64_t leaked = 0, in_use, all;
		char path[512];
		struct profile *p;
		struct lens l;

		snprintf(path, sizeof(path), "%s/tests/data/heap_profile/%s",
			 getenv("srcdir") ?: ".", names[i]);
		p = read_file(path);
		profile_counts_read(p, &counts);
		in_use = sum_of_event(p, &counts, "inuse_space");
		all = sum_of_event(p, &counts, "alloc_space");
		cr_assert_gt(in_use, 4000000, "%s", path);
		lens_init(&l, p);
		cr_assert(metric_is_heap(p, l.column[0].metric), "%s", path);
		cr_assert_eq(footprint_new(p, &counts, &l, l.column[0].metric, NULL, &f), 0);
		cr_expect_eq(f->total[FOOTPRINT_LIVE], in_use, "%s", path);
		cr_expect_eq(footprint_knows(f, FOOTPRINT_BYTES), all >= 0, "%s", path);
		if (all >= 0)
			cr_expect_eq(f->total[FOOTPRINT_BYTES], all, "%s", path);
		cr_assert_eq(heap_table_new(f, HEAP_LEAKS, NULL, NULL, &t), 0);
		for (size_t k = 0; k < t->rows.n; k++)
			leaked += t->rows.at[k].cell[3];
		cr_expect_eq(leaked, in_use, "%s", path);
		cr_expect(t->notes.n == 2 && strstr(t->notes.at[1], "does not say when"), "%s",
			  path);
		heap_table_free(t);
		footprint_free(f);
		lens_done(&l);
		profile_free(p);
	}
}
