/* SPDX-License-Identifier: GPL-3.0-or-later */
/* massif.out and DHAT's JSON: made ones, and those of the corpus against what ms_print and dh_view say of them. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/valgrind/dhat.h"
#include "formats/valgrind/massif.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "query/core/heap_pass.h"
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

static int read_input(const struct format *f, struct input *in, struct profile **p, struct err *e)
{
	capture_id c;

	*p = profile_new();
	builder_begin(*p);
	c = build_capture(*p, "x", f->name);
	builder_end(*p);
	return f->read(in, *p, c, NULL, NULL, e);
}

static int read_bytes(const struct format *f, const void *bytes, size_t n, struct profile **p,
		      struct err *e)
{
	struct input *in = input_of_bytes(bytes, n, "x");
	int rc = read_input(f, in, p, e);

	input_close(in);
	return rc;
}

static struct profile *read_file(const struct format *f, const char *path)
{
	struct err e = ERR_INIT;
	struct profile *p;
	struct input *in;

	cr_assert_eq(input_open(path, &in, &e), 0, "%s", err_text(&e));
	cr_expect_eq(format_probe(in, &e), f, "%s", path);
	cr_assert_eq(read_input(f, in, &p, &e), 0, "%s", err_text(&e));
	input_close(in);
	return p;
}

/* The sum of a measure of an event; 0 where there is no such event. */
static int64_t sum_of(const struct profile *p, const char *event, enum measure measure)
{
	struct profile_counts counts;
	struct weights w;
	struct metric m;
	struct lens l;
	int64_t sum;

	if (metric_find(p, event, "", &m, NULL) < 0)
		return 0;
	profile_counts_read(p, &counts);
	lens_init(&l, p);
	l.n_columns = 1;
	l.column[0].metric = (struct metric){ .event = m.event, .measure = measure };
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	sum = w.total[0];
	weights_done(&w);
	lens_done(&l);
	return sum;
}

/* What is live of an event after so many moments, in stacks whose innermost function has that name; NULL: in all. */
static int64_t live_at(const struct profile *p, const char *event, uint32_t moments,
		       const char *function)
{
	struct stack_columns stacks;
	struct location_columns places;
	struct heap_columns c;
	int64_t sum = 0;

	profile_heap(p, &c);
	profile_stacks(p, &stacks);
	profile_locations(p, &places);
	for (uint32_t i = 0; i < c.n_allocations; i++) {
		const struct heap_origin *o = &c.origins[allocation_origin(&c, i)];
		uint32_t location = stacks.location[o->stack];
		const struct frame *run = location_frames(&places, location);
		uint32_t id = run ? run->function : location_function(&places, location);
		const struct event *e = profile_event(p, (event_id){ o->event });

		if (strcmp(profile_string(p, e->name, NULL), event) != 0 ||
		    allocation_begin(&c, i) >= moments ||
		    allocation_end(&c, i, moments) != END_NEVER)
			continue;
		if (!function ||
		    strcmp(profile_string(p, profile_function(p, (function_id){ id })->name, NULL),
			   function) == 0)
			sum += (int64_t)allocation_size(&c, i);
	}
	return sum;
}

/* massif. */

static const char massif_text[] =
	"desc: --time-unit=ms\ncmd: ./a b\ntime_unit: ms\n#-----------\nsnapshot=0\n#-----------\ntime=0\n"
	"mem_heap_B=0\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n#-----------\nsnapshot=1\n"
	"#-----------\ntime=5\nmem_heap_B=100\nmem_heap_extra_B=8\nmem_stacks_B=0\nheap_tree=empty\n"
	"#-----------\nsnapshot=2\n#-----------\ntime=7\nmem_heap_B=100\nmem_heap_extra_B=16\n"
	"mem_stacks_B=0\nheap_tree=peak\nn2: 100 (heap allocation functions) malloc/new/new[], "
	"--alloc-fns, etc.\n n1: 70 0x1: f (a.c:3)\n  n0: 70 0x2: main (a.c:9)\n n2: 30 0x3: g (in "
	"/lib/x.so)\n  n0: 20 0x2: main (a.c:9)\n  n0: 10 in 2 places, all below massif's threshold "
	"(1.00%)\n#-----------\nsnapshot=3\n#-----------\ntime=9\nmem_heap_B=60\nmem_heap_extra_B=0\n"
	"mem_stacks_B=0\nheap_tree=empty\n";

Test(massif, snapshots_and_trees)
{
	struct err e = ERR_INIT;
	struct profile_counts counts;
	struct heap_columns heap;
	struct heap_track track;
	struct profile *p;

	cr_assert_eq(read_bytes(&format_massif, massif_text, sizeof(massif_text) - 1, &p, &e), 0,
		     "%s", err_text(&e));
	track = profile_heap_track(p, (track_id){ 0 });
	cr_expect_eq(track.n_moments, 4);
	cr_expect_eq(heap_track_time(&track, 2), 7000000);
	/* A snapshot without a tree has the nearest one, as far as it fits. */
	cr_expect_eq(live_at(p, "malloc", 1, NULL), 0);
	cr_expect_eq(live_at(p, "malloc", 2, "f"), 70);
	cr_expect_eq(live_at(p, "malloc", 3, "f"), 70);
	cr_expect_eq(live_at(p, "malloc", 3, "g"), 30);
	cr_expect_eq(live_at(p, "malloc", 4, "[no tree]"), 60);
	cr_expect_eq(live_at(p, "malloc", 4, NULL), 60);
	cr_expect_eq(live_at(p, "overhead", 2, NULL), 8);
	cr_expect_eq(live_at(p, "overhead", 3, NULL), 16);
	cr_expect_eq(live_at(p, "overhead", 4, NULL), 0);
	cr_expect_eq(sum_of(p, "malloc", MEASURE_PEAK), 100);
	profile_counts_read(p, &counts);
	cr_expect_eq(heap_manner_of(p, &counts).lacks,
		     HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES | HEAP_LACKS_CALLS);
	cr_expect_null(made_heap_fact(p, "clock"), "ms are times");
	profile_heap(p, &heap);
	cr_assert_eq(heap.n_marks, 1, "of all snapshots one has a tree");
	cr_expect_eq(profile_heap_marks(p)->time_ns, 7000000);
	cr_expect_str_eq(profile_string(p, profile_heap_marks(p)->name, NULL), "massif's peak");
	profile_free(p);
}

/* Snapshots of as much as massif's own peak, which it gives a tree but for 1 %, have its tree, though others are as near. */
Test(massif, the_highest_have_the_tree_of_the_peak)
{
	static const char text[] =
		"desc: (none)\ncmd: ./a\ntime_unit: ms\n#-----------\nsnapshot=0\n#-----------\n"
		"time=1\nmem_heap_B=100\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=peak\n"
		"n1: 100 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
		" n0: 100 0x1: f (a.c:3)\n#-----------\nsnapshot=1\n#-----------\ntime=2\n"
		"mem_heap_B=101\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n#-----------\n"
		"snapshot=2\n#-----------\ntime=3\nmem_heap_B=20\nmem_heap_extra_B=0\n"
		"mem_stacks_B=0\nheap_tree=detailed\n"
		"n1: 20 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
		" n0: 20 0x3: g (a.c:5)\n";
	struct err e = ERR_INIT;
	struct profile *p;

	cr_assert_eq(read_bytes(&format_massif, text, sizeof(text) - 1, &p, &e), 0, "%s",
		     err_text(&e));
	cr_expect_eq(live_at(p, "malloc", 2, NULL), 101);
	cr_expect_eq(live_at(p, "malloc", 2, "f"), 100);
	cr_expect_eq(live_at(p, "malloc", 2, "[no tree]"), 1);
	cr_expect_eq(live_at(p, "malloc", 3, "g"), 20);
	profile_free(p);
}

Test(massif, lines_that_cannot_be)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{ "mem_heap_B=60", "mem_heap_B=-6", "1 snapshot without" },
		{ "mem_heap_B=60", "mem_heap_B=99999999999999999999", "1 snapshot without" },
		{ "mem_heap_B=60", "mem_heap_B=9999999999999999999",
		  "more bytes than there can be" },
		{ "n0: 70 0x2", "n9: 70 0x2", "has fewer callers in the tree before" },
		{ "n0: 70 0x2", "n0: 71 0x2", "has more bytes than what it is below" },
		{ "n0: 70 0x2", "   n0 70 0x", "has no callers and bytes" },
		{ "  n0: 70 ", "     n0:7 ", "has no callers and bytes" },
		{ "  n0: 70 0", "     n0: 70 0", "is below no caller of the tree" },
		{ "time_unit: ms", "time_unit: xs", "has an unknown unit of time" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *text = xstrdup(massif_text), *at = strstr(text, cases[i].from);
		char *made = xasprintf("%.*s%s%s", (int)(at - text), text, cases[i].to,
				       at + strlen(cases[i].from));
		struct err e = ERR_INIT;
		struct profile_counts counts;
		struct profile *p;
		bool found = false;

		cr_assert_eq(read_bytes(&format_massif, made, strlen(made), &p, &e), 0, "%s: %s",
			     cases[i].to, err_text(&e));
		profile_counts_read(p, &counts);
		for (uint32_t k = 0; k < counts.n_facts; k++)
			found |= strstr(profile_string(p, profile_fact(p, k).text, NULL),
					cases[i].says) != NULL;
		cr_expect(found, "%s", cases[i].to);
		profile_free(p);
		free(made);
		free(text);
	}
}

static void cut_anywhere(const struct format *f, const char *text, size_t n_all)
{
	for (size_t n = 0; n < n_all; n++) {
		struct err e = ERR_INIT;
		struct profile *p;
		int rc = read_bytes(f, text, n, &p, &e);

		cr_expect_eq(rc, e.code, "%s: %zu", f->name, n);
		cr_expect(rc == 0 || strncmp(err_text(&e), "x: ", 3) == 0, "%s", err_text(&e));
		err_clear(&e);
		profile_free(p);
	}
}

Test(massif, cut_anywhere)
{
	cut_anywhere(&format_massif, massif_text, sizeof(massif_text) - 1);
}

Test(massif, variations)
{
	fuzz_vary(fuzz_massif, massif_text, sizeof(massif_text) - 1, 200);
}

static FILE *open_golden(const char *name, const char *which)
{
	char *path = xasprintf("%s/golden/%s/%s", CORPUS, name, which);
	FILE *f = fopen(path, "re");

	free(path);
	return f;
}

/* Snapshots as a plain reading of the file has them. */
static void compare_snapshots(const char *name, const struct profile *p)
{
	FILE *golden = open_golden(name, "snapshots.tsv");
	int64_t number, time, heap, extra, stacks, peak = 0;
	uint32_t moment = 0;
	char line[256];

	cr_assert_not_null(golden, "%s", name);
	while (fgets(line, sizeof(line), golden)) {
		if (sscanf(line, "%" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64,
			   &number, &time, &heap, &extra, &stacks) != 5)
			continue;
		moment++;
		peak = heap > peak ? heap : peak;
		cr_expect_eq(live_at(p, strstr(name, "pages") ? "pages" : "malloc", moment, NULL),
			     heap, "%s, snapshot %" PRId64, name, number);
		cr_expect_eq(live_at(p, "overhead", moment, NULL), extra, "%s, snapshot %" PRId64,
			     name, number);
		cr_expect_eq(live_at(p, "stacks", moment, NULL), stacks, "%s, snapshot %" PRId64,
			     name, number);
	}
	cr_expect_gt(moment, 0, "%s", name);
	cr_expect_eq(profile_heap_track(p, (track_id){ 0 }).n_moments, moment, "%s", name);
	cr_expect_eq(sum_of(p, strstr(name, "pages") ? "pages" : "malloc", MEASURE_PEAK), peak);
	fclose(golden);
}

/* A line of ms_print's tree, "->96.81% (5,242,880B) 0x1092C3: peak_here() (alloc.cpp:9)": false where it is none with a name. */
static bool take_tree_line(char *line, int64_t *bytes, char **function)
{
	char *open = strstr(line, "B) 0x"), *name = open ? strstr(open, ": ") : NULL, *end;

	if (strncmp(line, "->", 2) != 0 || !name || strncmp(name + 2, "???", 3) == 0)
		return false;
	*bytes = 0;
	for (const char *c = strchr(line, '('); c < open; c++)
		if (*c >= '0' && *c <= '9')
			*bytes = 10 * *bytes + (*c - '0');
	*function = name + 2;
	for (end = *function; strstr(end + 1, " (");)
		end = strstr(end + 1, " (");
	*end = '\0';
	return true;
}

struct told {
	char function[256];
	int64_t bytes; /* of all places in it */
};

/* Functions of a snapshot against the blocks then: what ms_print leaves out of a function's places is below its threshold. */
static void compare_told(const char *name, const struct profile *p, uint32_t moment,
			 const struct told *told, size_t n)
{
	const char *event = strstr(name, "pages") ? "pages" : "malloc";
	int64_t all = live_at(p, event, moment, NULL);

	for (size_t i = 0; i < n; i++) {
		int64_t ours = live_at(p, event, moment, told[i].function);

		cr_expect(ours >= told[i].bytes && ours <= told[i].bytes + all / 20,
			  "%s: %s at snapshot %u: %" PRId64 " and %" PRId64, name, told[i].function,
			  moment - 1, ours, told[i].bytes);
	}
}

static void compare_trees(const char *name, const struct profile *p)
{
	FILE *golden = open_golden(name, "ms_print.txt");
	VEC(struct told) told = { 0 };
	char line[4096], *function;
	uint32_t moment = 0;
	size_t n_told = 0;
	int64_t bytes;

	cr_assert_not_null(golden, "%s", name);
	while (fgets(line, sizeof(line), golden)) {
		unsigned number;
		size_t at = 0;

		if (line[0] == ' ' && strchr(line, ',') && sscanf(line, " %u ", &number) == 1) {
			compare_told(name, p, moment, told.at, told.n);
			n_told += told.n;
			vec_clear(&told);
			moment = number + 1;
		}
		if (moment == 0 || !take_tree_line(line, &bytes, &function))
			continue;
		while (at < told.n && strncmp(told.at[at].function, function, 255) != 0)
			at++;
		if (at == told.n)
			vec_push(&told, ((struct told){ .bytes = 0 }));
		snprintf(told.at[at].function, sizeof(told.at[at].function), "%.255s", function);
		told.at[at].bytes += bytes;
	}
	compare_told(name, p, moment, told.at, told.n);
	cr_expect_gt(n_told + told.n, 0, "%s", name);
	vec_done(&told);
	fclose(golden);
}

Test(massif, snapshots_are_those_of_the_corpus)
{
	static const struct {
		const char *name;
		bool trees;
	} corpus[] = {
		{ "made/massif/massif.out.alloc", true },
		{ "made/massif/massif.out.alloc_B", true },
		{ "made/massif/massif.out.alloc_pages", true },
		{ "made/massif/massif.out.alloc_stacks", true },
		{ "made/massif/massif.out.alloc_thr0", true },
		{ "made/massif/massif.out.no_peak", false },
		{ "made/massif/massif.out.bad_children", false },
		{ "made/massif/massif.out.trunc_mid_tree", false },
		{ "made/massif/massif.out.sort", true },
		{ "made/massif/massif.out.true", false },
		{ "massif-visualizer/massif.out.32406", false },
		{ "massif-visualizer/massif.out.duchainify.bz2", false },
		{ "massif-visualizer/massif.out.huge", false },
		{ "massif-visualizer/massif.out.stack", false },
	};

	if (access(CORPUS "/made/massif/massif.out.alloc", R_OK) != 0)
		cr_skip("skipped: no corpus");
	for (size_t i = 0; i < N(corpus); i++) {
		char *path = xasprintf("%s/%s", CORPUS, corpus[i].name);
		struct profile *p = read_file(&format_massif, path);

		compare_snapshots(corpus[i].name, p);
		if (corpus[i].trees)
			compare_trees(corpus[i].name, p);
		profile_free(p);
		free(path);
	}
}

/* The bytes that ms_print gives for the functions of massif.out.alloc's peak. */
Test(massif, trees_are_those_of_ms_print)
{
	const char *const path = CORPUS "/made/massif/massif.out.alloc";
	struct profile *p;

	if (access(path, R_OK) != 0)
		cr_skip("skipped: no corpus");
	p = read_file(&format_massif, path);
	cr_expect_eq(live_at(p, "malloc", 8, "peak_here()"), 5242880);
	cr_expect_eq(live_at(p, "malloc", 8, "leak_here()"), 100000);
	cr_expect_eq(live_at(p, "malloc", 8, "[libstdc++.so.6.0.30]"), 72704);
	cr_expect_eq(live_at(p, "malloc", 8, NULL), 5415584);
	profile_free(p);
}

/* DHAT. */

static const char dhat_text[] =
	"{\"dhatFileVersion\":2,\"mode\":\"rust-heap\",\"verb\":\"Allocated\",\"bklt\":true,\"bkacc\":false,"
	"\"tu\":\"\xc2\xb5s\",\"Mtu\":\"s\",\"tuth\":10,\"cmd\":\"a b\",\"pid\":7,\"tg\":20,\"te\":50,\"pps\":["
	"{\"tb\":150,\"tbk\":3,\"tl\":9,\"mb\":100,\"mbk\":2,\"gb\":100,\"gbk\":2,\"eb\":120,\"ebk\":2,"
	"\"fs\":[1,2]},{\"tb\":40,\"tbk\":1,\"tl\":1,\"mb\":40,\"mbk\":1,\"gb\":40,\"gbk\":1,\"eb\":0,"
	"\"ebk\":0,\"fs\":[3,2]},{\"tb\":7,\"tbk\":7,\"tl\":1,\"mb\":1,\"mbk\":1,\"gb\":0,\"gbk\":0,\"eb\":0,"
	"\"ebk\":0,\"fs\":[3,9]}],\"ftbl\":[\"[root]\",\"0x1: f (src/a.rs:3:7)\",\"0x2: main (src/a.rs:9:1)\","
	"\"0x3: ???\"]}";

Test(dhat, a_heap_at_its_peak_and_end)
{
	struct err e = ERR_INIT;
	struct heap_track track;
	struct profile *p;

	cr_assert_eq(read_bytes(&format_dhat, dhat_text, sizeof(dhat_text) - 1, &p, &e), 0, "%s",
		     err_text(&e));
	cr_expect_eq(sum_of(p, "malloc", MEASURE_WEIGHT), 197);
	cr_expect_eq(sum_of(p, "malloc", MEASURE_SAMPLES), 11);
	cr_expect_eq(sum_of(p, "malloc", MEASURE_PEAK), 140);
	cr_expect_eq(sum_of(p, "malloc", MEASURE_LEAKED), 120);
	cr_expect_eq(sum_of(p, "lifetimes", MEASURE_WEIGHT), 11000);
	cr_expect_eq(sum_of(p, "most of a stack", MEASURE_WEIGHT), 141);
	cr_expect_eq(sum_of(p, "reads", MEASURE_WEIGHT), 0);
	cr_expect_eq(live_at(p, "malloc", 2, "f"), 100);
	cr_expect_eq(live_at(p, "malloc", 3, "f"), 120);
	cr_expect_eq(live_at(p, "malloc", 2, "[unknown]"), 40);
	track = profile_heap_track(p, (track_id){ 0 });
	cr_expect_eq(heap_track_time(&track, 1), 20000);
	cr_expect(track.lacks & HEAP_LACKS_TEMPORARY);
	cr_expect(track.lacks & HEAP_LACKS_SIZES);
	cr_expect_str_eq(made_heap_fact(p, "frames"), "1 frame that is not in the table of frames");
	profile_free(p);
}

Test(dhat, refusals_and_other_modes)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "{\"dhatFileVersion\":3,\"pps\":[{\"tb\":1}]}",
		  "is of version 3 of DHAT's format" },
		{ "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"pps\":[]}", "without a sample" },
		{ "{\"dhatFileVersion\":2,\"mode\":\"heap\",\"pps", "before its first sample" },
	};
	static const char ad_hoc[] =
		"{\"dhatFileVersion\":2,\"mode\":\"ad-hoc\",\"bklt\":false,\"bkacc\":false,\"bsu\":\"units\","
		"\"bksu\":\"events\",\"tu\":\"instrs\",\"te\":5,\"pps\":[{\"tb\":12,\"tbk\":3,\"fs\":[1]}],"
		"\"ftbl\":[\"[root]\",\"0x1: f (a.c:3)\"]}";
	struct err e = ERR_INIT;
	struct profile *p;

	for (size_t i = 0; i < N(cases); i++) {
		cr_expect_eq(read_bytes(&format_dhat, cases[i].text, strlen(cases[i].text), &p, &e),
			     -EBADMSG);
		cr_expect(strstr(err_text(&e), cases[i].says), "%s", err_text(&e));
		err_clear(&e);
		profile_free(p);
	}
	cr_assert_eq(read_bytes(&format_dhat, ad_hoc, sizeof(ad_hoc) - 1, &p, &e), 0);
	cr_expect_eq(sum_of(p, "units", MEASURE_WEIGHT), 12);
	cr_expect_eq(sum_of(p, "events", MEASURE_WEIGHT), 3);
	profile_free(p);
}

Test(dhat, cut_anywhere)
{
	cut_anywhere(&format_dhat, dhat_text, sizeof(dhat_text) - 1);
}

Test(dhat, variations)
{
	fuzz_vary(fuzz_dhat, dhat_text, sizeof(dhat_text) - 1, 200);
}

static int64_t number_in(const char *json, const char *key)
{
	const char *at = strstr(json, key);

	return at ? atoll(at + strlen(key)) : 0;
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Weights by stack against those of the golden folded text, in order. */
static void compare_stacks(const char *name, const char *key, const struct profile *p,
			   enum measure measure)
{
	char *path = xasprintf("%s/golden/made/dhat/%s/folded.%s.txt", CORPUS, name, key),
	     *line = NULL;
	VEC(int64_t) theirs = { 0 };
	VEC(int64_t) ours = { 0 };
	struct profile_counts counts;
	FILE *f = fopen(path, "re");
	struct weights w;
	struct metric m;
	size_t size = 0;
	struct lens l;

	cr_assert_not_null(f, "%s", path);
	while (getline(&line, &size, f) > 0)
		if (atoll(strrchr(line, ' ')) > 0)
			vec_push(&theirs, atoll(strrchr(line, ' ')));
	fclose(f);
	free(line);
	cr_assert_eq(metric_find(p, "malloc", "", &m, NULL), 0);
	profile_counts_read(p, &counts);
	lens_init(&l, p);
	l.n_columns = 1;
	l.column[0].metric = (struct metric){ .event = m.event, .measure = measure };
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	for (uint32_t i = 0; i < w.n_stacks; i++)
		if (w.stack[i] > 0)
			vec_push(&ours, w.stack[i]);
	cr_assert_eq(ours.n, theirs.n, "%s: %zu and %zu", path, ours.n, theirs.n);
	qsort(ours.at, ours.n, sizeof(*ours.at), by_value);
	qsort(theirs.at, theirs.n, sizeof(*theirs.at), by_value);
	for (size_t i = 0; i < ours.n; i++)
		cr_expect_eq(ours.at[i], theirs.at[i], "%s", path);
	weights_done(&w);
	lens_done(&l);
	vec_done(&ours);
	vec_done(&theirs);
	free(path);
}

Test(dhat, totals_and_stacks_are_those_of_the_corpus)
{
	static const struct {
		const char *name;
		bool stacks;
	} corpus[] = {
		{ "alloc.json", true }, { "alloc_callers4.json", true },
		{ "rs.json", true },    { "sort.json", true },
		{ "xz.json", true },    { "frame_out_of_range.json", false },
	};

	if (access(CORPUS "/made/dhat/alloc.json", R_OK) != 0)
		cr_skip("skipped: no corpus");
	for (size_t i = 0; i < N(corpus); i++) {
		const char *name = corpus[i].name;
		char *path = xasprintf("%s/made/dhat/%s", CORPUS, name), json[1024] = "";
		char *golden_name = xasprintf("made/dhat/%s", name);
		struct profile *p = read_file(&format_dhat, path);
		FILE *golden = open_golden(golden_name, "totals.json");

		cr_assert_not_null(golden);
		json[fread(json, 1, sizeof(json) - 1, golden)] = '\0';
		fclose(golden);
		cr_expect_eq(sum_of(p, "malloc", MEASURE_WEIGHT), number_in(json, "\"tb\": "));
		cr_expect_eq(sum_of(p, "malloc", MEASURE_SAMPLES), number_in(json, "\"tbk\": "));
		cr_expect_eq(sum_of(p, "malloc", MEASURE_PEAK), number_in(json, "\"gb\": "));
		cr_expect_eq(sum_of(p, "malloc", MEASURE_LEAKED), number_in(json, "\"eb\": "));
		cr_expect_eq(sum_of(p, "reads", MEASURE_WEIGHT), number_in(json, "\"rb\": "));
		cr_expect_eq(sum_of(p, "writes", MEASURE_WEIGHT), number_in(json, "\"wb\": "));
		cr_expect_eq(sum_of(p, "lifetimes", MEASURE_WEIGHT), number_in(json, "\"tl\": "));
		cr_expect_eq(sum_of(p, "most of a stack", MEASURE_WEIGHT),
			     number_in(json, "\"mb\": "));
		if (corpus[i].stacks) {
			compare_stacks(name, "tb", p, MEASURE_WEIGHT);
			compare_stacks(name, "tbk", p, MEASURE_SAMPLES);
			compare_stacks(name, "gb", p, MEASURE_PEAK);
			compare_stacks(name, "eb", p, MEASURE_LEAKED);
		}
		profile_free(p);
		free(golden_name);
		free(path);
	}
}

Test(dhat, copies_are_those_of_the_corpus)
{
	const char *const path = CORPUS "/made/dhat/copy_sort.json";
	struct profile *p;

	if (access(path, R_OK) != 0)
		cr_skip("skipped: no corpus");
	p = read_file(&format_dhat, path);
	cr_expect_eq(sum_of(p, "copied", MEASURE_WEIGHT), 11392);
	cr_expect_eq(sum_of(p, "copies", MEASURE_WEIGHT), 671);
	profile_free(p);
}
