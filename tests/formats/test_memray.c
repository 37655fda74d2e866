/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables of memray: made ones, and one that memray wrote. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/memray/memray.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/tree/table.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_heap.h"

#include <criterion/criterion.h>
#include <math.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(rows) (sizeof(rows) / sizeof(*(rows)))

#define HEAD "allocator,num_allocations,size,tid,thread_name,stack_trace\r\n"

static const char table[] = HEAD
	"MALLOC,2,100,1,main,inner;/x/a.py;5|outer;/x/b.py;9\r\n"
	"MMAP,1,4096,7,\"a, \"\"b\"\"\",outer;/x/b.py;9\r\nFREE,x,1,1,main,f;a;1\r\nMALLOC,1,\"5\r\n"
	"MALLOC,3,7,1,main,\r\n";

static int read_input(struct input *in, struct profile **p, struct err *e)
{
	capture_id c;

	*p = profile_new();
	builder_begin(*p);
	c = build_capture(*p, "x", "memray");
	builder_end(*p);
	return format_memray.read(in, *p, c, NULL, NULL, e);
}

static int read_bytes(const void *bytes, size_t n, struct profile **p, struct err *e)
{
	struct input *in = input_of_bytes(bytes, n, "x");
	int rc = read_input(in, p, e);

	input_close(in);
	return rc;
}

/* "function:module/self/total " of each row of an event, in order. */
static void expect_rows(const struct profile *p, const char *event, const char *want)
{
	struct analysis *a;
	struct metric m;
	struct lens l;
	char text[1024] = "";

	cr_assert_eq(metric_find(p, event, "", &m, NULL), 0);
	lens_init(&l, p);
	l.n_columns = 1;
	l.column[0].metric = m;
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	for (uint32_t i = 0; i < a->table.n_rows; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text),
			 "%s/%" PRId64 "/%" PRId64 " ", a->table_keys->key[a->table.key[i]].label,
			 a->table.self[i], a->table.total[i]);
	cr_expect_str_eq(text, want);
	analysis_free(a);
	lens_done(&l);
}

Test(memray, rows)
{
	struct err e = ERR_INIT;
	struct profile_counts counts;
	struct profile *p;

	cr_assert_eq(read_bytes(table, sizeof(table) - 1, &p, &e), 0, "%s", err_text(&e));
	expect_rows(p, "size", "outer/4096/4196 inner/100/100 ");
	expect_rows(p, "allocations", "inner/2/2 outer/1/3 ");
	profile_counts_read(p, &counts);
	cr_expect_eq(counts.n_samples, 6);
	cr_expect_str_eq(profile_string(p, profile_thread(p, (thread_id){ 2 })->name, NULL),
			 "a, \"b\"");
	cr_expect_str_eq(profile_string(p, profile_thread(p, (thread_id){ 3 })->labels, NULL),
			 "allocator=MMAP");
	profile_free(p);
}

Test(memray, refusals)
{
	struct err e = ERR_INIT;
	struct profile *p;

	cr_expect_eq(read_bytes(HEAD, sizeof(HEAD) - 1, &p, &e), -EBADMSG);
	cr_expect_str_eq(err_text(&e), "x: there is no stack in its 1 line");
	err_clear(&e);
	profile_free(p);
	cr_expect_eq(read_bytes(HEAD "1,2\n", sizeof(HEAD) + 3, &p, &e), -EBADMSG);
	cr_expect_str_eq(err_text(&e), "x: there is no stack in it; line 2 has no six columns");
	err_clear(&e);
	profile_free(p);
}

Test(memray, cut_anywhere)
{
	for (size_t n = 0; n < sizeof(table) - 1; n++) {
		struct err e = ERR_INIT;
		struct profile *p;

		cr_expect_eq(read_bytes(table, n, &p, &e), e.code);
		err_clear(&e);
		profile_free(p);
	}
}

Test(memray, variations)
{
	fuzz_vary(fuzz_memray, table, sizeof(table) - 1, 200);
}

/*
 * Tables of real recordings, and what memray stats and memray summary say of these: `memray run -o x.bin FILE.py`, `memray transform
 * csv x.bin`. keep.csv and work_keep.csv (work_keep.py) are at the peak, as work.csv (tests/data/tools/work.py), and work_temporary.csv is
 * of temporary allocations (--temporary-allocations). Directories of Python are taken out of the last three.
 */
Test(memray, recorded)
{
	static const struct {
		const char *file;
		double total, off; /* as printed, and half of its last digit */
		const char *hottest;
		int64_t self; /* of it, by the table */
	} files[] = {
		{ "keep.csv", 11.104e6, 500, "large", 10000005 },
		{ "work.csv", 115.265e3, 0.5, "iterencode", 53563 },
		{ "work_keep.csv", 8.509e6, 500, "<listcomp>", 4769824 },
		{ "work_temporary.csv", 4.664e6, 1000, "<listcomp>", 4563648 },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *path = xasprintf("%s/memray/%s", TEST_DATA, files[i].file);
		struct err e = ERR_INIT;
		struct profile *p;
		struct analysis *a;
		struct input *in;
		struct metric m;
		struct lens l;

		cr_assert_eq(input_open(path, &in, &e), 0, "%s", err_text(&e));
		cr_expect_eq(format_probe(in, &e), &format_memray);
		cr_assert_eq(read_input(in, &p, &e), 0, "%s", err_text(&e));
		input_close(in);
		cr_assert_eq(metric_find(p, "size", "", &m, NULL), 0);
		lens_init(&l, p);
		l.n_columns = 1;
		l.column[0].metric = m;
		cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
		cr_expect(fabs((double)a->weights.total[0] - files[i].total) <= files[i].off,
			  "%s: %ld", files[i].file, (long)a->weights.total[0]);
		table_sort(&a->table, a->table_keys, ORDER_SELF, 0, false);
		cr_expect_str_eq(a->table_keys->key[a->table.key[0]].label, files[i].hottest);
		cr_expect_eq(a->table.self[0], files[i].self, "%s: %ld", files[i].file,
			     (long)a->table.self[0]);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
		free(path);
	}
}
