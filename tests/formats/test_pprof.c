/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pprof's profiles: functions have the shares that `go tool pprof -top` prints, and broken files lose what is broken only. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/format.h"
#include "formats/pprof/pprof.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "query/core/lens.h"
#include "query/tree/table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/read_rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* A file of the corpus, a type of value, and what pprof printed of it. */
struct golden {
	const char *file;
	const char *type;
	const char *top; /* below the file's folder of goldens */
};

static const struct golden goldens[] = {
	{ "made/pprof/cpu.pb.gz", "cpu", "top.1.cpu.flat.txt" },
	{ "made/pprof/cpu.pb.gz", "samples", "top.0.samples.flat.txt" },
	{ "made/pprof/cpu_uncompressed.pb", "cpu", "top.1.cpu.flat.txt" },
	{ "made/pprof/heap.pb.gz", "inuse_space", "top.3.inuse_space.flat.txt" },
	{ "made/pprof/heap.pb.gz", "alloc_space", "top.1.alloc_space.flat.txt" },
	{ "made/pprof/heap.pb.gz", "alloc_objects", "top.0.alloc_objects.flat.txt" },
	{ "made/pprof/block.pb.gz", "delay", "top.1.delay.flat.txt" },
	{ "made/pprof/mutex.pb.gz", "contentions", "top.0.contentions.flat.txt" },
	{ "made/pprof/goroutine.pb.gz", "goroutine", "top.0.goroutine.flat.txt" },
	{ "parca/query/testdata/single-stack.pb.gz", "cpu", "top.0.cpu.flat.txt" },
	{ "parca/query/testdata/two-stacks.pb.gz", "cpu", "top.0.cpu.flat.txt" },
	{ "parca/query/testdata/no-python.pb.gz", "samples", "top.0.samples.flat.txt" },
	{ "speedscope/pprof/simple.prof", "cpu", "top.1.cpu.flat.txt" },
};

static struct profile *read_file(const char *path, struct err *e)
{
	struct profile *p = profile_new();
	const struct format *format;
	struct input *in = NULL;
	capture_id c;

	if (input_open(path, &in, e) < 0)
		return p;
	format = format_probe(in, e);
	if (format) {
		cr_expect_eq(format, &format_pprof, "%s: taken for %s", path, format->name);
		builder_begin(p);
		c = build_capture(p, path, format->name);
		builder_end(p);
		format->read(in, p, c, NULL, NULL, e);
	}
	input_close(in);
	return p;
}

static event_id find_event(const struct profile *p, const char *name)
{
	struct profile_counts counts;

	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_events; i++)
		if (!strcmp(profile_string(p, profile_event(p, (event_id){ i })->name, NULL), name))
			return (event_id){ i };
	cr_assert_fail("no event %s", name);
	return (event_id){ 0 };
}

/* A line of pprof's table. */
struct line {
	double flat, cum; /* in per cent */
	char name[512];
};

/* "     0.29s 25.66% 25.66%      0.34s 30.09%  main.fib (inline)" */
static bool read_line(const char *s, struct line *l)
{
	double sum;
	char *mark;

	if (sscanf(s, " %*s %lf%% %lf%% %*s %lf%% %511[^\n]", &l->flat, &sum, &l->cum, l->name) !=
	    4)
		return false;
	mark = strstr(l->name, " (inline)");
	if (!mark)
		mark = strstr(l->name, " (partial-inline)");
	if (mark)
		*mark = '\0';
	return true;
}

/* pprof prints four digits at most. */
static bool is_near(double printed, int64_t part, int64_t whole)
{
	double share = 100.0 * (double)part / (double)whole;

	return fabs(printed - share) <= 0.0051 + (printed >= 100 ? 0.5 : 0);
}

static void expect_row(const struct analysis *a, const struct golden *g, const struct line *l)
{
	const struct table *t = &a->table;
	int64_t whole = a->weights.total[0];

	for (uint32_t i = 0; i < t->n_rows; i++) {
		if (strcmp(a->table_keys->key[t->key[i]].label, l->name) != 0)
			continue;
		cr_expect(is_near(l->flat, t->self[i], whole) &&
				  is_near(l->cum, t->total[i], whole),
			  "%s %s: %s has %ld and %ld of %ld, pprof %.2f %% and %.2f %%", g->file,
			  g->type, l->name, (long)t->self[i], (long)t->total[i], (long)whole,
			  l->flat, l->cum);
		return;
	}
	cr_expect_fail("%s %s: no row for %s", g->file, g->type, l->name);
}

static void compare(const struct golden *g)
{
	char *path = xasprintf("%s/%s", CORPUS, g->file), text[1024];
	char *top = xasprintf("%s/golden/%s/%s", CORPUS, g->file, g->top);
	struct err e = ERR_INIT;
	struct profile *p = read_file(path, &e);
	FILE *in = fopen(top, "r");
	unsigned n_lines = 0;
	struct analysis *a;
	struct lens lens;
	struct line line;

	cr_assert(in, "%s cannot be read", top);
	cr_expect_eq(e.code, 0, "%s: %s", path, err_text(&e));
	lens_init(&lens, p);
	lens.column[0].metric = (struct metric){ find_event(p, g->type), MEASURE_WEIGHT, false };
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	while (fgets(text, sizeof(text), in)) {
		if (!read_line(text, &line))
			continue;
		n_lines++;
		expect_row(a, g, &line);
	}
	cr_expect_gt(n_lines, 0, "%s has no rows", top);
	analysis_free(a);
	lens_done(&lens);
	profile_free(p);
	fclose(in);
	free(path);
	free(top);
	err_clear(&e);
}

Test(pprof, functions_have_the_shares_that_pprof_prints)
{
	if (access(CORPUS "/made/pprof", R_OK) != 0)
		cr_skip("skipped: no corpus");
	for (size_t i = 0; i < N(goldens); i++)
		compare(&goldens[i]);
}

/* What a filter lets pass, of a recording with pprof.Do(kind, worker). */
Test(pprof, labels_are_filter_terms)
{
	static const struct {
		const char *filter;
		int64_t ms;
	} cases[] = { { "", 1130 },
		      { "label:kind=sort", 610 },
		      { "label:kind=fib", 340 },
		      { "label:worker=2", 150 },
		      { "!label:.", 30 } };
	struct err e = ERR_INIT;
	struct profile *p;

	if (access(CORPUS "/made/pprof/cpu.pb.gz", R_OK) != 0)
		cr_skip("skipped: no corpus");
	p = read_file(CORPUS "/made/pprof/cpu.pb.gz", &e);
	for (size_t i = 0; i < N(cases); i++) {
		struct analysis *a;
		struct lens lens;

		lens_init(&lens, p);
		cr_assert_eq(filter_parse(cases[i].filter, &lens.filter, &e), 0, "%s",
			     err_text(&e));
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		cr_expect_eq(a->weights.total[0], cases[i].ms * 1000000, "%s: %ld", cases[i].filter,
			     (long)a->weights.total[0]);
		analysis_free(a);
		lens_done(&lens);
	}
	profile_free(p);
}

/* A profile of bytes: sample types "n" count and "cpu" nanoseconds, functions a and b, b inlined into a at 0x10. */
static const char small[] =
	"\x0a\x04\x08\x01\x10\x02"                                 /* type: n, count */
	"\x0a\x04\x08\x03\x10\x04"                                 /* cpu, nanoseconds */
	"\x12\x08\x0a\x02\x01\x02\x12\x02\x01\x07"                 /* locations 1 in 2: 1 and 7 */
	"\x12\x07\x0a\x01\x02\x12\x02\x02\x05"                     /* location 2: 2 and 5 */
	"\x22\x0c\x08\x01\x18\x10\x22\x02\x08\x02\x22\x02\x08\x01" /* 1: b in a */
	"\x22\x06\x08\x02\x22\x02\x08\x01"                         /* 2: a */
	"\x2a\x04\x08\x01\x10\x05"                                 /* function 1: a */
	"\x2a\x04\x08\x02\x10\x06"                                 /* 2: b */
	"\x32\x00\x32\x01n\x32\x05"
	"count\x32\x03"
	"cpu\x32\x0b"
	"nanoseconds\x32\x01"
	"a\x32\x01"
	"b";

static struct profile *read_bytes(const void *bytes, size_t n, int *rc, struct err *e)
{
	struct input *in = input_of_bytes(bytes, n, "x.pb");
	struct profile *p = profile_new();
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x.pb", "pprof");
	builder_end(p);
	*rc = format_pprof.read(in, p, c, NULL, NULL, e);
	input_close(in);
	return p;
}

/* label/self/total of each row, in the order of labels. */
static char *rows_of(const struct profile *p)
{
	char *out = xstrdup("");
	struct analysis *a;
	struct lens lens;

	lens_init(&lens, p);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	table_sort(&a->table, a->table_keys, ORDER_LABEL, 0, false);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		char *more = xasprintf("%s%s/%ld/%ld ", out,
				       a->table_keys->key[a->table.key[i]].label,
				       (long)a->table.self[i], (long)a->table.total[i]);

		free(out);
		out = more;
	}
	analysis_free(a);
	lens_done(&lens);
	return out;
}

/* The last type opens; an inlined frame has its own row. */
Test(pprof, inlined_frames_and_the_type_that_opens)
{
	struct err e = ERR_INIT;
	int rc;
	struct profile *p = read_bytes(small, sizeof(small) - 1, &rc, &e);
	char *rows = rows_of(p);

	cr_assert_eq(rc, 0, "%s", err_text(&e));
	cr_expect_str_eq(rows, "a/5/12 b/7/7 ");
	free(rows);
	profile_free(p);
}

/* The profile that is written of a profile. */
static struct profile *again(const struct profile *p, const char *filter)
{
	struct err e = ERR_INIT;
	struct profile *read;
	struct analysis *a;
	struct lens lens;
	char *text = NULL;
	size_t n = 0;
	FILE *to = open_memstream(&text, &n);
	int rc;

	lens_init(&lens, p);
	cr_assert_eq(filter_parse(filter, &lens.filter, &e), 0);
	cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
	cr_assert_eq(format_pprof.write(a, NULL, to, &e), 0, "%s", err_text(&e));
	fclose(to);
	read = read_bytes(text, n, &rc, &e);
	cr_assert_eq(rc, 0, "%s", err_text(&e));
	analysis_free(a);
	lens_done(&lens);
	free(text);
	return read;
}

/* What is written and read again has the same rows, and the same event opens. */
static void expect_same(const struct profile *p, const char *what)
{
	struct profile *read = again(p, "");
	char *before = rows_of(p), *after = rows_of(read);

	cr_expect_str_eq(before, after, "%s: %s became %s", what, before, after);
	free(before);
	free(after);
	profile_free(read);
}

Test(pprof, what_is_written_is_read_the_same)
{
	struct err e = ERR_INIT;
	int rc;
	struct profile *p = read_bytes(small, sizeof(small) - 1, &rc, &e);

	expect_same(p, "the small one");
	profile_free(p);
	for (size_t i = 0; i < N(goldens) && access(CORPUS "/made/pprof", R_OK) == 0; i++) {
		char *path = xasprintf("%s/%s", CORPUS, goldens[i].file);

		p = read_file(path, &e);
		expect_same(p, path);
		profile_free(p);
		free(path);
	}
}

/* Filters apply, and those that change stacks write the tree by functions. */
Test(pprof, filters_apply_to_what_is_written)
{
	static const struct {
		const char *filter, *rows;
	} cases[] = { { "leaf:b", "a/0/7 b/7/7 " },
		      { "merge:b", "a/12/12 " },
		      { "focus:b", "b/7/7 " } };
	struct err e = ERR_INIT;
	int rc;
	struct profile *p = read_bytes(small, sizeof(small) - 1, &rc, &e);

	for (size_t i = 0; i < N(cases); i++) {
		struct profile *read = again(p, cases[i].filter);
		char *rows = rows_of(read);

		cr_expect_str_eq(rows, cases[i].rows, "%s: %s", cases[i].filter, rows);
		free(rows);
		profile_free(read);
	}
	profile_free(p);
}

/* Wherever it ends it is read, or refused with a sentence; what is whole counts. */
Test(pprof, a_cut_at_each_offset)
{
	for (size_t n = 0; n < sizeof(small); n++) {
		struct err e = ERR_INIT;
		int rc;
		struct profile *p = read_bytes(small, n, &rc, &e);

		cr_expect(rc == 0 || (rc == -EBADMSG && strstr(err_text(&e), "x.pb")),
			  "%zu bytes: %d %s", n, rc, err_text(&e));
		profile_free(p);
		err_clear(&e);
	}
}

Test(pprof, hostile_bytes)
{
	fuzz_vary(fuzz_pprof, small, sizeof(small) - 1, 2500);
}

/* What a sentence says of files that cannot be shown. */
Test(pprof, refused)
{
	static const struct {
		const char *bytes;
		size_t n;
		const char *what;
	} cases[] = {
		{ "\x0a\x04\x08\x01\x10\x02\x32\x00", 8, "is a pprof profile without a sample" },
		{ "\x12\x07\x0a\x01\x02\x12\x02\x02\x05\x32\x00", 11, "names no type of value" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct err e = ERR_INIT;
		int rc;
		struct profile *p = read_bytes(cases[i].bytes, cases[i].n, &rc, &e);

		cr_expect(rc == -EBADMSG && strstr(err_text(&e), cases[i].what), "%d %s", rc,
			  err_text(&e));
		profile_free(p);
		err_clear(&e);
	}
}

/* The small profile with its ids or fields in another way, up to its function 2. */
#define TYPES    "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x03\x10\x04"
#define SAMPLE_2 "\x12\x07\x0a\x01\x02\x12\x02\x02\x05"
#define PLACES \
	"\x22\x0c\x08\x01\x18\x10\x22\x02\x08\x02\x22\x02\x08\x01\x22\x06\x08\x02\x22\x02\x08\x01"
#define FUNCTIONS "\x2a\x04\x08\x01\x10\x05\x2a\x04\x08\x02\x10\x06"
#define TEXTS \
	"\x32\x00\x32\x01n\x32\x05" \
	"count\x32\x03" \
	"cpu\x32\x0b" \
	"nanoseconds\x32\x01" \
	"a\x32\x01" \
	"b"

static const struct {
	const char *what, *bytes;
	size_t n;
} others[] = {
#define OTHER(what, bytes) \
	{ \
		what, bytes, sizeof(bytes) - 1 \
	}
	OTHER("numbers that are not packed",
	      TYPES "\x12\x08\x08\x01\x08\x02\x10\x01\x10\x07" SAMPLE_2 PLACES FUNCTIONS TEXTS),
	OTHER("ids far apart: location 100000 in place of 1",
	      TYPES "\x12\x0a\x0a\x04\xa0\x8d\x06\x02\x12\x02\x01\x07" SAMPLE_2
		    "\x22\x0e\x08\xa0\x8d\x06\x18\x10\x22\x02\x08\x02\x22\x02\x08\x01"
		    "\x22\x06\x08\x02\x22\x02\x08\x01" FUNCTIONS TEXTS),
	OTHER("location 2 twice: the first counts",
	      TYPES "\x12\x08\x0a\x02\x01\x02\x12\x02\x01\x07" SAMPLE_2 PLACES
		    "\x22\x04\x08\x02\x18\x20" FUNCTIONS TEXTS),
#undef OTHER
};

/* spent: NULL to read it at once; else it is prepared before, with what that gave of a file before it. */
static void read_after(struct profile *p, const void *bytes, size_t n, void **spent)
{
	struct input *in = input_of_bytes(bytes, n, "x.pb");
	struct read_options o = { 0 };
	struct err e = ERR_INIT;
	capture_id c;

	if (spent)
		o.prepared = *spent = format_pprof.prepare(in, *spent);
	cr_assert(!spent || *spent);
	builder_begin(p);
	c = build_capture(p, "x.pb", "pprof");
	builder_end(p);
	cr_expect_eq(format_pprof.read(in, p, c, &o, NULL, &e), 0, "%s", err_text(&e));
	input_close(in);
}

static void read_into(struct profile *p, const void *bytes, size_t n)
{
	read_after(p, bytes, n, NULL);
}

/*
 * Files that number the same locations in other ways have the same stacks, so that many of one program take little memory; also where
 * they were prepared.
 */
Test(pprof, files_of_one_program_share_their_stacks)
{
	for (int prepares = 0; prepares < 2; prepares++) {
		struct profile *p = profile_new();
		struct profile_counts one, all;
		void *made = NULL, **spent = prepares ? &made : NULL;
		char *rows;

		read_after(p, small, sizeof(small) - 1, spent);
		profile_counts_read(p, &one);
		for (size_t i = 0; i < N(others); i++)
			read_after(p, others[i].bytes, others[i].n, spent);
		profile_counts_read(p, &all);
		cr_expect_eq(all.n_captures, 1 + N(others));
		cr_expect_eq(all.n_samples, one.n_samples * (1 + N(others)));
		cr_expect_eq(all.n_locations, one.n_locations);
		cr_expect_eq(all.n_stacks, one.n_stacks);
		rows = rows_of(p);
		cr_expect_str_eq(rows, "a/20/48 b/28/28 ", "%s", rows);
		free(rows);
		profile_free(p);
		format_pprof.discard(made);
	}
}

/* The host is the file's where labels name one only; it stays a label of the samples. */
Test(pprof, a_label_names_the_host)
{
	static const struct {
		const char *first, *second;
		bool told;
	} cases[] = { { "w1", "w1", true }, { "w1", "w2", false }, { "w1", "", true } };

	for (size_t i = 0; i < N(cases); i++) {
		/* strings: "", n, count, host, and the two hosts */
		char text[256];
		struct profile *p = profile_new();
		size_t n = 0;

#define PUT(part) (memcpy(text + n, part, sizeof(part) - 1), n += sizeof(part) - 1)
		PUT("\x0a\x04\x08\x01\x10\x02");
		PUT("\x12\x0c\x0a\x01\x01\x12\x01\x07\x1a\x04\x08\x03\x10\x04");
		PUT("\x12\x0c\x0a\x01\x01\x12\x01\x05\x1a\x04\x08\x03\x10\x05");
		PUT("\x22\x06\x08\x01\x22\x02\x08\x01\x2a\x04\x08\x01\x10\x01");
		PUT("\x32\x00\x32\x01n\x32\x05"
		    "count\x32\x04"
		    "host");
#undef PUT
		for (int k = 0; k < 2; k++) {
			const char *host = k ? cases[i].second : cases[i].first;

			text[n++] = 0x32;
			text[n++] = (char)strlen(host);
			memcpy(text + n, host, strlen(host));
			n += strlen(host);
		}
		read_into(p, text, n);
		cr_expect_eq(has_fact(p, "w1"), cases[i].told, "%zu", i);
		profile_free(p);
	}
}

/* Go's heap is one of the model: what is in use, calls and bytes of all, by stack. */
Test(pprof, a_heap_of_go_is_a_heap)
{
	static const struct {
		enum measure measure;
		int64_t total;
	} wanted[] = { { MEASURE_LIVE, 3168282 },
		       { MEASURE_PEAK, 3168282 },
		       { MEASURE_WEIGHT, 0 },
		       { MEASURE_SAMPLES, 0 },
		       { MEASURE_LEAKED, 3168282 } };
	struct err e = ERR_INIT;
	struct profile *p;
	struct analysis *a;
	struct lens l;

	if (access(CORPUS "/made/pprof/heap.pb.gz", R_OK) != 0)
		cr_skip("skipped: no corpus");
	p = read_file(CORPUS "/made/pprof/heap.pb.gz", &e);
	for (size_t i = 0; i < N(wanted); i++) {
		static const char *const same[] = {
			[MEASURE_WEIGHT] = "alloc_space", [MEASURE_SAMPLES] = "alloc_objects"
		};
		int64_t total = wanted[i].total;

		lens_init(&l, p);
		cr_assert_eq(l.n_columns, 1);
		cr_assert(metric_is_heap(p, l.column[0].metric), "it does not open first");
		if (total == 0) {
			l.column[0].metric = (struct metric){
				find_event(p, same[wanted[i].measure]), MEASURE_WEIGHT, false
			};
			cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
			total = a->weights.total[0];
			analysis_free(a);
		}
		l.column[0].metric = (struct metric){ find_event(p, "malloc"), wanted[i].measure,
						      false };
		cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
		cr_expect_eq(a->weights.total[0], total, "measure %d: %ld, not %ld",
			     (int)wanted[i].measure, (long)a->weights.total[0], (long)total);
		analysis_free(a);
		lens_done(&l);
	}
	profile_free(p);
}

/* What a heap of single blocks becomes: all calls and bytes, what is in use at the end in blocks and bytes, and the peak. */
Test(pprof, a_heap_is_written_as_those_of_go)
{
	static const struct {
		const char *event;
		int64_t total;
	} wanted[] = { { "alloc_objects", 4 },
		       { "alloc_space", 1111 },
		       { "inuse_objects", 3 },
		       { "inuse_space", 1101 },
		       { "peak_space", 1111 } };
	struct profile *p = profile_new(), *read;
	const struct heap_origin o = { .thread = ID_NONE };
	allocation_id freed;
	origin_id origin;
	track_id track;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x", "heap");
	build_event_default(p, build_heap_event(p, "malloc"));
	track = build_heap_track(p, build_process_of_name(p, c, (string_id){ 0 }), 0, 0);
	origin = build_heap_origin(p, &o);
	build_moment(p, track, 0);
	freed = build_allocation(p, track, 10, origin);
	build_allocation(p, track, 1, origin);
	build_allocation(p, track, 100, origin);
	build_allocation(p, track, 1000, origin);
	build_moment(p, track, 1000);
	build_release(p, freed, track, false, (origin_id){ ID_NONE });
	builder_end(p);
	read = again(p, "");
	for (size_t i = 0; i < N(wanted); i++) {
		struct analysis *a;
		struct lens l;

		lens_init(&l, read);
		l.column[0].metric = (struct metric){ find_event(read, wanted[i].event),
						      MEASURE_WEIGHT, false };
		cr_assert_eq(analysis_new(read, &l, NULL, &a), 0);
		cr_expect_eq(a->weights.total[0], wanted[i].total, "%s: %ld", wanted[i].event,
			     (long)a->weights.total[0]);
		analysis_free(a);
		lens_done(&l);
	}
	profile_free(read);
	profile_free(p);
}

Test(pprof, other_ways_to_write_the_same)
{
	for (size_t i = 0; i < N(others); i++) {
		struct profile *p = profile_new();
		char *rows;

		read_into(p, others[i].bytes, others[i].n);
		rows = rows_of(p);
		cr_expect_str_eq(rows, "a/5/12 b/7/7 ", "%s: %s", others[i].what, rows);
		free(rows);
		profile_free(p);
	}
}

/* Location ids of a wrong wire type, a number without an end, a label that is a number: each is a loss, and the rest counts. */
Test(pprof, samples_that_cannot_be_unpacked)
{
	static const char bytes[] = TYPES
		"\x12\x05\x0d\x01\x00\x00\x00"
		"\x12\x03\x0a\x01\x80"
		"\x12\x02\x18\x01"
		"\x12\x04\x1a\x02\x0a\x00" SAMPLE_2 PLACES FUNCTIONS TEXTS;
	struct profile *p = profile_new();
	char *rows;

	read_into(p, bytes, sizeof(bytes) - 1);
	cr_expect(has_fact(p, "4 samples cannot be unpacked"));
	rows = rows_of(p);
	cr_expect_str_eq(rows, "a/5/5 ", "%s", rows);
	free(rows);
	profile_free(p);
}

/* Packed ids of none, in the very first sample, and no values in any: a fuzzer's finds, undefined with null pointers. */
Test(pprof, a_first_sample_without_frames)
{
	static const char bytes[] = TYPES "\x12\x02\x0a\x00" SAMPLE_2 PLACES FUNCTIONS TEXTS;
	static const char none[] = TYPES "\x12\x02\x0a\x00" TEXTS;
	struct profile *p = profile_new();
	char *rows;

	read_into(p, none, sizeof(none) - 1);
	read_into(p, bytes, sizeof(bytes) - 1);
	rows = rows_of(p);
	cr_expect_str_eq(rows, "a/5/5 ", "%s", rows);
	free(rows);
	profile_free(p);
}

/*
 * Samples whose ids end as those of the sample before: with the last byte of another number, as a whole, with more in front,
 * behind a sample that is lost, and in two fields.
 */
Test(pprof, samples_that_end_as_the_one_before)
{
#define PLACE_300 "\x22\x07\x08\xac\x02\x22\x02\x08\x02"
	static const char packed[] = TYPES
		"\x12\x09\x0a\x03\x01\xac\x02\x12\x02\x00\x01"
		"\x12\x08\x0a\x02\x01\x02\x12\x02\x00\x02"
		"\x12\x07\x0a\x01\x02\x12\x02\x00\x04"
		"\x12\x0a\x0a\x04\xac\x02\x01\x02\x12\x02\x00\x08"
		"\x12\x03\x0a\x01\x80"
		"\x12\x0a\x0a\x01\x01\x0a\x01\x02\x12\x02\x00\x10"
		"\x12\x08\x0a\x02\x01\x02\x12\x02\x00\x20" PLACES PLACE_300 FUNCTIONS TEXTS;
	static const char plain[] = TYPES
		"\x12\x09\x08\x01\x08\xac\x02\x12\x02\x00\x01"
		"\x12\x08\x08\x01\x08\x02\x12\x02\x00\x02"
		"\x12\x06\x08\x02\x12\x02\x00\x04"
		"\x12\x0b\x08\xac\x02\x08\x01\x08\x02\x12\x02\x00\x08"
		"\x12\x08\x08\x01\x08\x02\x12\x02\x00\x10"
		"\x12\x08\x08\x01\x08\x02\x12\x02\x00\x20" PLACES PLACE_300 FUNCTIONS TEXTS;
#undef PLACE_300
	struct profile *p = profile_new();
	struct profile_counts one, both;
	char *rows;

	read_into(p, packed, sizeof(packed) - 1);
	cr_expect(has_fact(p, "1 sample cannot be unpacked"));
	profile_counts_read(p, &one);
	rows = rows_of(p);
	cr_expect_str_eq(rows, "a/4/63 b/59/59 ", "%s", rows);
	free(rows);
	read_into(p, plain, sizeof(plain) - 1);
	profile_counts_read(p, &both);
	cr_expect_eq(both.n_stacks, one.n_stacks);
	rows = rows_of(p);
	cr_expect_str_eq(rows, "a/8/126 b/118/118 ", "%s", rows);
	free(rows);
	profile_free(p);
}

/* As `go tool pprof -top` says above its table: "Time: 2026-11-20 12:22:53 UTC". */
Test(pprof, says_when_it_was_recorded)
{
	struct profile *p;

	if (access(CORPUS "/made/pprof/cpu.pb.gz", R_OK) != 0)
		cr_skip("skipped: no corpus");
	p = read_path_as(format_by_name("pprof"), CORPUS "/made/pprof/cpu.pb.gz");
	cr_expect(has_fact(p, "2026-11-20 12:22:53.198596497 UTC"));
	profile_free(p);
}

/* Two places with lines of one header; threads find the names of the second one first, or of the first. */
static struct profile *two_places(bool second_first)
{
	struct profile *p = profile_new();
	module_id module[2];
	location_id place[2];
	event_id e;

	builder_begin(p);
	e = build_event(p, "cycles", UNIT_COUNT, true);
	for (uint32_t i = 0; i < 2; i++) {
		module[i] = build_module(p, i ? "/lib/b.so" : "/lib/a.so", "", FAMILY_LIBRARY);
		place[i] = build_location(p, module[i], 16);
	}
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t at = i ^ second_first;
		const struct frame run[] = {
			{ .function = build_function(p, build_cstring(p, at ? "g" : "f"),
						     module[at], 0, (string_id){ 0 }, 0)
					      .v,
			  .file = build_cstring(p, at ? "b.c" : "a.c").v,
			  .line = 1 },
			{ .function = build_function(p, build_cstring(p, "step"), module[at], 0,
						     (string_id){ 0 }, 0)
					      .v,
			  .file = build_cstring(p, "step.h").v,
			  .line = 7 }
		};

		build_location_inlines(p, place[at], run, 2);
	}
	for (uint32_t i = 0; i < 2; i++)
		build_sample(
			p, &(struct sample){ .thread = { ID_NONE },
					     .cpu = CPU_NONE,
					     .event = e,
					     .weight = 3 - i,
					     .time_ns = TIME_NONE,
					     .stack = build_stack(p, (stack_id){ 0 }, place[i]) });
	builder_end(p);
	return p;
}

/* Which thread finds a name first is chance, and an index or a pack has another order: neither ids nor modules of lines go by it. */
Test(pprof, ids_and_lines_do_not_depend_on_who_finds_names)
{
	char *bytes[2], *module[2];
	size_t n[2];

	for (int i = 0; i < 2; i++) {
		const struct write_options o = { .name = "x" };
		struct profile *p = two_places(i == 1);
		FILE *to = open_memstream(&bytes[i], &n[i]);
		struct analysis *a;
		struct lens lens;

		lens_init(&lens, p);
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		cr_expect_eq(format_by_name("pprof")->write(a, &o, to, NULL), 0);
		fclose(to);
		analysis_free(a);
		lens.grouping = GROUP_LINE;
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		module[i] = NULL;
		for (uint32_t k = 0; k < a->keys.n; k++)
			if (strcmp(a->keys.key[k].label, "step.h:7") == 0)
				module[i] = xstrdup(a->keys.key[k].module);
		analysis_free(a);
		lens_done(&lens);
		profile_free(p);
	}
	cr_expect_eq(n[0], n[1]);
	cr_expect_arr_eq(bytes[0], bytes[1], n[0] < n[1] ? n[0] : n[1]);
	for (int i = 0; i < 2; i++) {
		cr_expect_str_eq(module[i], "a.so");
		free(bytes[i]);
		free(module[i]);
	}
}
