/* SPDX-License-Identifier: GPL-3.0-or-later */
/* callgrind.out and cachegrind.out, and that sums are those of callgrind_annotate. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/callgrind/callgrind.h"
#include "formats/callgrind/callgrind_graph.h"
#include "formats/callgrind/callgrind_text.h"
#include "formats/callgrind/callgrind_tree.h"
#include "formats/format.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/lens.h"
#include "query/tree/table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/read_rows.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static struct profile *read_bytes(const char *text, size_t n, int *rc, struct err *e)
{
	return read_bytes_as(&format_callgrind, text, n, rc, e);
}

/* With a column of that event; NULL: the one that opens. */
static struct analysis *analysis_of(const struct profile *p, struct lens *lens, const char *event)
{
	struct profile_counts counts;
	struct analysis *a;

	lens_init(lens, p);
	profile_counts_read(p, &counts);
	for (uint32_t i = 0; event && i < counts.n_events; i++)
		if (!strcmp(profile_string(p, profile_event(p, (event_id){ i })->name, NULL),
			    event))
			lens->column[0].metric = (struct metric){ { i }, MEASURE_WEIGHT, false };
	cr_assert_eq(analysis_new(p, lens, NULL, &a), 0);
	table_sort(&a->table, a->table_keys, ORDER_LABEL, 0, false);
	return a;
}

#define EXAMPLE_ROWS "func1:file1.c/100/400 func2:file2.c/700/700 main:file1.c/20/820 "

static const struct {
	const char *what, *text, *event, *rows;
	const char *fact; /* a part of what info says, or NULL */
} files[] = {
	{ "the example of valgrind's manual",
	  "# callgrind format\nevents: Cycles Instructions Flops\nfl=file.f\nfn=main\n15 90 14 2\n"
	  "16 20 12\n",
	  "Instructions", "main:file.f/26/26 ", "functions without callers" },
	{ "names and positions that are compressed",
	  "events: Instructions\n\nfl=(1) file1.c\nfn=(1) main\n16 20\ncfn=(2) func1\ncalls=1 50\n"
	  "* 400\ncfi=(2) file2.c\ncfn=(3) func2\ncalls=3 20\n* 400\n\nfn=(2)\n+35 100\ncfi=(2)\n"
	  "cfn=(3)\ncalls=2 20\n* 300\n\nfl=(2)\nfn=(3)\n-31 700\n",
	  NULL, EXAMPLE_ROWS, "direct callers are exact" },
	{ "costs that are compressed, as speedscope reads them",
	  "# callgrind format\nevents: Instructions\nfl=file1.c\nfn=main\n16 20\ncfn=func1\n"
	  "calls=1 50\n* 400\ncfi=file2.c\ncfn=func2\ncalls=3 20\n* *\n\nfn=func1\n+35 -300\n"
	  "cfi=file2.c\ncfn=func2\ncalls=2 20\n* 300\n\nfl=file2.c\nfn=func2\n-31 +400\n",
	  NULL, EXAMPLE_ROWS, NULL },
	{ "how often functions were called",
	  "events: Ir\nfl=a.c\nfn=main\n1 5\ncfn=f\ncalls=3 9\n2 30\ncfn=f\ncalls=4 9\n3 40\nfn=f\n"
	  "9 70\n",
	  "calls", "f:a.c/7/7 main:a.c/0/7 ", NULL },
	{ "a callee is of the file that its caller's line is of",
	  "events: Ir\nfl=a.c\nfn=main\n1 5\nfi=b.h\n2 1\ncfn=f\ncalls=1 3\n2 30\nfe=a.c\n4 1\n"
	  "fl=b.h\nfn=f\n3 30\n",
	  NULL, "f:b.h/30/30 main:a.c/7/37 ", NULL },
	{ "two files with a function of one name; objects",
	  "events: Ir\nob=/bin/x\nfl=a.c\nfn=f\n1 5\nfl=b.c\nfn=f\n1 7\nob=/lib/y.so\nfn=f\n1 9\n",
	  NULL, "f:x/12/12 f:y.so/9/9 ", NULL },
	{ "a function that calls itself, and two that call each other",
	  "events: Ir\nfl=a.c\nfn=main\n1 10\ncfn=f\ncalls=1 1\n1 50\ncfn=g\ncalls=1 1\n1 30\nfn=f\n"
	  "2 50\ncfn=f\ncalls=9 2\n3 400\nfn=g\n4 10\ncfn=h\ncalls=5 4\n4 90\nfn=h\n5 20\ncfn=g\n"
	  "calls=4 4\n5 80\n",
	  NULL, "f:a.c/50/50 g:a.c/10/30 h:a.c/20/20 main:a.c/10/90 ", "3 functions in cycles" },
	{ "each caller gets its part of what a function calls",
	  "events: Ir\nfl=a.c\nfn=a\n1 1\ncfn=f\ncalls=1 1\n1 30\nfn=b\n1 1\ncfn=f\ncalls=1 1\n1 10\n"
	  "fn=f\n2 8\ncfn=g\ncalls=1 1\n3 32\nfn=g\n4 32\n",
	  NULL, "a:a.c/1/31 b:a.c/1/11 f:a.c/8/40 g:a.c/32/32 ", NULL },
	{ "calls that cost more than the callee, and less",
	  "events: Ir\nfl=a.c\nfn=a\n1 1\ncfn=f\ncalls=1 1\n1 300\ncfn=g\ncalls=1 1\n1 2\nfn=f\n2 8\n"
	  "fn=g\n4 32\n",
	  NULL, "a:a.c/1/11 f:a.c/8/8 g:a.c/32/32 ", "calls of 1 function cost more" },
	{ "addresses beside lines, jumps, and parts with other threads",
	  "version: 1\ncreator: callgrind-3\npid: 7\ncmd: /bin/x y\npart: 1\nthread: 1\n"
	  "positions: instr line\nevents: Ir Dr\nfl=a.c\nfn=f\n0x40 3 5 1\njcnd=1/2 +4 +1\n* *\n"
	  "jump=3 +4 +1\n* *\n+4 +1 7\ntotals: 12 1\npart: 2\nthread: 2\nevents: Ir Dr\nfn=f\n"
	  "0x40 3 2 1\ntotals: 2 1\n",
	  NULL, "f:a.c/14/14 ", "2, not shown" },
	{ "Xdebug: units behind names, and memory that is given back",
	  "version: 1\ncreator: xdebug 3.0.2 (PHP 7.4.14)\ncmd: /x.php\npart: 1\npositions: line\n\n"
	  "events: Time_(10ns) Memory_(bytes)\n\nfl=(1) x.php\nfn=(1) {main}\n16 20 15000\n"
	  "cfn=(2) f\ncalls=1 50\n16 400 -80\n\nfn=(2)\n51 400 -80\n",
	  "Time", "f:x.php/4000/4000 {main}:x.php/200/4200 ", "below zero" },
	{ "an event in two units, in a later part",
	  "# callgrind format\nevents: cpu(ms)\nfl=a.c\nfn=f\n1 5\nevents: cpu(us)\nfn=g\n1 5\n",
	  "cpu", "f:a.c/5000000/5000000 ", "line 6 has an event that the first part has not" },
	{ "an event in two units, side by side",
	  "# callgrind format\nevents: cpu(ms) cpu(us)\nfl=a.c\nfn=f\n1 5 7\n", "cpu(us)",
	  "f:a.c/7000/7000 ", NULL },
	{ "lines that are none, and a number without a name",
	  "events: Ir\nfl=a.c\nfn=(7)\n1 5\nhello\n2 x\n", NULL, "(7):a.c/5/5 ",
	  "line 5 is not of this format, line 6 has no cost" },
	{ "a part that ends too soon",
	  "# callgrind format\ncreator: callgrind-3\npart: 1\nevents: Ir\nfl=a.c\nfn=f\n1 5\n",
	  NULL, "f:a.c/5/5 ", "ends before the totals" },
	{ "cachegrind, cut", "desc: I1 cache: 1\ncmd: ./x\nevents: Ir I1mr\nfl=a.c\nfn=f\n1 5 1\n",
	  "I1mr", "f:a.c/1/1 ", "ends before the totals" },
	{ "cachegrind",
	  "desc: I1 cache: 1\ncmd: ./x\nevents: Ir I1mr\nfl=a.c\nfn=f\n1 5 1\nsummary: 6 1\n", NULL,
	  "f:a.c/5/5 ", "functions cost 5, the totals of the file say 6" },
};

Test(callgrind, what_files_say)
{
	for (size_t i = 0; i < N(files); i++) {
		struct err e = ERR_INIT;
		int rc;
		struct profile *p;
		char *rows;

		cr_expect_eq(probe_bytes(files[i].text, strlen(files[i].text)), &format_callgrind,
			     "%s", files[i].what);
		p = read_bytes(files[i].text, strlen(files[i].text), &rc, &e);
		cr_assert_eq(rc, 0, "%s: %s", files[i].what, err_text(&e));
		rows = rows_of_event(p, files[i].event);
		cr_expect_str_eq(rows, files[i].rows, "%s: %s", files[i].what, rows);
		cr_expect(!files[i].fact || has_fact(p, files[i].fact), "%s: %s", files[i].what,
			  files[i].fact);
		free(rows);
		profile_free(p);
	}
}

static char *data_of(const char *name, size_t *n)
{
	char *path = xasprintf("%s/callgrind/%s", TEST_DATA, name), *text;
	FILE *f = fopen(path, "r");

	cr_assert(f, "%s", path);
	text = xcalloc(1, (size_t)1 << 20);
	*n = fread(text, 1, ((size_t)1 << 20) - 1, f);
	cr_assert(*n > 0 && feof(f));
	fclose(f);
	free(path);
	return text;
}

/* The sums of all functions of that name; those of several objects are told apart by nobody here. */
static void sums_of(const struct analysis *a, const char *name, int64_t *self, int64_t *total)
{
	*self = *total = 0;
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		if (strcmp(a->table_keys->key[a->table.key[i]].label, name) != 0)
			continue;
		*self += a->table.self[i];
		*total += a->table.total[i];
	}
}

/*
 * calls.tsv has what callgrind_annotate says: event, self, inclusive, function. Its inclusive costs of recursive functions count inner
 * calls several times and are left out ("-"), as are those of functions that it shows in several rows.
 */
Test(callgrind, agrees_with_callgrind_annotate)
{
	size_t n, n_lines = 0, n_totals = 0;
	char *text = data_of("calls.out", &n), *golden, *save = NULL, *line;
	char event[16] = "";
	struct err e = ERR_INIT;
	struct analysis *a = NULL;
	struct lens lens;
	int rc;
	struct profile *p = read_bytes(text, n, &rc, &e);

	cr_assert_eq(rc, 0, "%s", err_text(&e));
	cr_expect_not(has_fact(p, "totals of"));
	golden = data_of("calls.tsv", &n);
	for (line = strtok_r(golden, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		char of[16], inclusive[32], name[256];
		int64_t self, total;
		long want;

		cr_assert_eq(sscanf(line, "%15[^\t]\t%ld\t%31[^\t]\t%255[^\n]", of, &want,
				    inclusive, name),
			     4);
		if (strcmp(of, event) != 0) {
			if (a) {
				analysis_free(a);
				lens_done(&lens);
			}
			snprintf(event, sizeof(event), "%s", of);
			a = analysis_of(p, &lens, event);
		}
		sums_of(a, name, &self, &total);
		cr_expect_eq(self, want, "%s of %s: %ld, not %ld", event, name, (long)self, want);
		n_lines++;
		if (inclusive[0] == '-')
			continue;
		n_totals++;
		cr_expect_eq(total, atol(inclusive), "%s of %s and below: %ld, not %s", event, name,
			     (long)total, inclusive);
	}
	cr_expect(n_lines > 100 && n_totals > 80);
	analysis_free(a);
	lens_done(&lens);
	free(text);
	free(golden);
	profile_free(p);
}

/* Two parts in one file, addresses instead of lines: functions cost what both parts say together. */
Test(callgrind, parts)
{
	size_t n;
	char *text = data_of("parts.out", &n), *rows;
	struct err e = ERR_INIT;
	int rc;
	struct profile *p = read_bytes(text, n, &rc, &e);

	cr_assert_eq(rc, 0, "%s", err_text(&e));
	rows = rows_of_event(p, NULL);
	cr_expect(strstr(rows, "work:calls/275052/275052 "), "%s", rows);
	cr_expect(strstr(rows, "fib:calls/28587/28587 ") || strstr(rows, "fib:calls/28605/28605 "),
		  "%s", rows);
	cr_expect(has_fact(p, ", added up"));
	free(rows);
	free(text);
	profile_free(p);
}

/* Wherever it ends it is read or refused with its name; read, it says what is missing. */
Test(callgrind, cut_at_each_offset)
{
	for (size_t i = 0; i < N(files); i++)
		for (size_t n = 0; n < strlen(files[i].text); n++) {
			struct err e = ERR_INIT;
			char *exact = xstrndup(files[i].text, n);
			int rc;
			struct profile *p = read_bytes(exact, n, &rc, &e);

			if (rc < 0)
				cr_expect(rc == -EBADMSG && strstr(err_text(&e), "x: "),
					  "%s, %zu bytes: %d %s", files[i].what, n, rc,
					  err_text(&e));
			else if (strstr(exact, "creator: callgrind") && !strstr(exact, "totals"))
				cr_expect(has_fact(p, "ends before the totals"), "%s, %zu bytes",
					  files[i].what, n);
			profile_free(p);
			err_clear(&e);
			free(exact);
		}
}

Test(callgrind, hostile_bytes, .timeout = 300)
{
	for (size_t i = 0; i < N(files); i++)
		fuzz_vary(fuzz_callgrind, files[i].text, strlen(files[i].text), 300);
}

/* A layered graph has 2^layers paths; costs stay exact though few of them are made. */
static char *layers(unsigned n, size_t *size)
{
	char *text = NULL;
	FILE *to = open_memstream(&text, size);

	fprintf(to, "events: Ir\nfl=a.c\nfn=main\n1 1\n");
	for (unsigned i = 0; i < n; i++)
		for (unsigned side = 0; side < (i ? 2u : 1u); side++) {
			unsigned cost = 2 * (n - 1 - i) * 64 + 64;

			if (i)
				fprintf(to, "fn=f%u_%u\n2 64\n", i, side);
			for (unsigned k = 0; k < 2 && i + 1 < n; k++)
				fprintf(to, "cfn=f%u_%u\ncalls=3 2\n3 %u\n", i + 1, k,
					(i ? (cost - 64) / 2 : cost - 64));
		}
	fclose(to);
	return text;
}

Test(callgrind, more_paths_than_memory_holds)
{
	size_t n;
	char *text = layers(40, &n);
	struct callgrind_text *t = xcalloc(1, sizeof(*t));
	struct input *in = input_of_bytes(text, n, "x");
	struct profile *p = profile_new();
	struct callgrind_tree_result result;
	struct analysis *a;
	struct lens lens;
	int64_t self, total;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x", "callgrind");
	builder_end(p);
	text_read_init(&t->text, in, p, c);
	callgrind_text_init(t);
	cr_assert_eq(text_read_all(&t->text, callgrind_text_take, t, NULL), 0);
	cr_assert_eq(callgrind_tree_build(t, p, c, ROOT_COMM, 20000, NULL, &result), 0);
	cr_expect(result.merged > 0.5 && result.merged < 1, "%f", result.merged);
	a = analysis_of(p, &lens, "Ir");
	for (unsigned i = 1; i < 40; i++) {
		char *name = xasprintf("f%u_1", i);

		sums_of(a, name, &self, &total);
		cr_expect_eq(self, 64, "%s: %ld", name, (long)self);
		free(name);
	}
	sums_of(a, "main", &self, &total);
	cr_expect_eq(self, 1);
	analysis_free(a);
	lens_done(&lens);
	callgrind_text_done(t);
	text_read_done(&t->text);
	free(t);
	input_close(in);
	profile_free(p);
	free(text);
}

/* Threads share the work: many with more paths than memory holds are held as well as one is. */
Test(callgrind, many_threads_of_too_many_paths)
{
	uint64_t n_rows[2];

	for (unsigned many = 0; many < 2; many++) {
		size_t n, size;
		char *text = layers(40, &n), *all;
		FILE *to = open_memstream(&all, &size);
		struct callgrind_text *t = xcalloc(1, sizeof(*t));
		struct profile *p = profile_new();
		struct callgrind_tree_result result;
		struct input *in;
		capture_id c;

		for (unsigned i = 0; i < (many ? 10 : 1); i++)
			fprintf(to, "thread: %u\n%s", i + 1, text);
		fclose(to);
		in = input_of_bytes(all, size, "x");
		builder_begin(p);
		c = build_capture(p, "x", "callgrind");
		builder_end(p);
		text_read_init(&t->text, in, p, c);
		callgrind_text_init(t);
		cr_assert_eq(text_read_all(&t->text, callgrind_text_take, t, NULL), 0);
		cr_assert_eq(callgrind_tree_build(t, p, c, ROOT_COMM, 200000, NULL, &result), 0);
		n_rows[many] = result.n_rows;
		callgrind_text_done(t);
		text_read_done(&t->text);
		free(t);
		input_close(in);
		profile_free(p);
		free(text);
		free(all);
	}
	cr_expect_lt(n_rows[1], 5 * n_rows[0], "%lu, %lu", (unsigned long)n_rows[0],
		     (unsigned long)n_rows[1]);
}

/* A chain of calls as long as a file can be, and a cycle of as many functions. */
Test(callgrind, deep_and_round)
{
	for (unsigned round = 0; round < 2; round++) {
		char *text = NULL, *rows;
		size_t size;
		FILE *to = open_memstream(&text, &size);
		struct err e = ERR_INIT;
		struct profile *p;
		int rc;

		fprintf(to, "events: Ir\nfl=a.c\n");
		for (unsigned i = 0; i < 20000; i++)
			fprintf(to, "fn=f%u\n1 1\ncfn=f%u\ncalls=1 1\n1 %u\n", i,
				round ? (i + 1) % 20000 : i + 1, 20000 - i);
		fprintf(to, "fn=f%u\n1 1\n", 20000);
		fclose(to);
		p = read_bytes(text, size, &rc, &e);
		cr_assert_eq(rc, 0, "%s", err_text(&e));
		rows = rows_of_event(p, "Ir");
		cr_expect(strstr(rows, round ? "f0:a.c/1/20000 " : "f0:a.c/1/20001 "));
		free(rows);
		free(text);
		profile_free(p);
	}
}

Test(callgrind, split_gives_all_and_no_more)
{
	static const struct {
		int64_t amount, part[3], share[3];
	} cases[] = {
		{ 10, { 10, 20, 30 }, { 2, 3, 5 } },
		{ 60, { 10, 20, 30 }, { 10, 20, 30 } },
		{ 0, { 1, 2, 3 }, { 0, 0, 0 } },
		{ 2, { 0, 1, 1 }, { 0, 1, 1 } },
		{ INT64_MAX, { INT64_MAX, INT64_MAX, 0 }, { INT64_MAX / 2 + 1, INT64_MAX / 2, 0 } },
	};

	for (size_t i = 0; i < N(cases); i++) {
		int64_t part[3], share[3], *at[3] = { &part[0], &part[1], &part[2] };

		memcpy(part, cases[i].part, sizeof(part));
		callgrind_split(cases[i].amount, at, 3, share);
		for (size_t k = 0; k < 3; k++) {
			cr_expect_eq(share[k], cases[i].share[k], "case %zu: %ld", i,
				     (long)share[k]);
			cr_expect_eq(part[k], cases[i].part[k] - share[k]);
		}
	}
}

/* Files of speedscope's and gprof2dot's own tests open. */
Test(callgrind, files_of_others)
{
	static const struct {
		const char *path, *rows;
	} cases[] = {
		{ "/other-formats/callgrind/callgrind.example.log", EXAMPLE_ROWS },
		{ "/other-formats/callgrind/callgrind.name-compression.log", EXAMPLE_ROWS },
		{ "/other-formats/callgrind/callgrind.subposition-compression.log", EXAMPLE_ROWS },
		{ "/other-formats/callgrind/callgrind.cfn-reset.log",
		  "alpha:alpha.c/10/40 beta:beta.c/10/10 delta:alpha.c/10/15 gamma:alpha.c/10/10 " },
		{ "/other-formats/callgrind/callgrind.multiple-event-types.log",
		  "func1:file1.c/1000/4000 func2:file2.c/7000/7000 main:file1.c/200/8200 " },
	};

	if (access(CORPUS "/other-formats/callgrind", R_OK) != 0)
		cr_skip("skipped: no corpus");
	for (size_t i = 0; i < N(cases); i++) {
		char *path = xasprintf("%s%s", CORPUS, cases[i].path), *rows;
		struct profile *p = read_path_as(&format_callgrind, path);

		rows = rows_of_event(p, NULL);
		cr_expect_str_eq(rows, cases[i].rows, "%s: %s", path, rows);
		free(rows);
		profile_free(p);
		free(path);
	}
}
