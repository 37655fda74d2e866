/* SPDX-License-Identifier: GPL-3.0-or-later */
/* heaptrack's files: made ones, line by line, and those of the corpus against what heaptrack_print says of them. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/heaptrack/heaptrack.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "query/core/heap_pass.h"
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

/* What heaptrack counts, in its own order. */
struct sums {
	int64_t calls, temporary, leaked, peak;
};

static int read_input(struct input *in, struct profile **p, struct err *e)
{
	capture_id c;

	*p = profile_new();
	builder_begin(*p);
	c = build_capture(*p, "x", "heaptrack");
	builder_end(*p);
	return format_heaptrack.read(in, *p, c, NULL, NULL, e);
}

static int read_bytes(const void *bytes, size_t n, struct profile **p, struct err *e)
{
	struct input *in = input_of_bytes(bytes, n, "x");
	int rc = read_input(in, p, e);

	input_close(in);
	return rc;
}

static void aggregate_all(const struct profile *p, struct weights *w)
{
	struct profile_counts counts;
	struct lens l;

	profile_counts_read(p, &counts);
	lens_init(&l, p);
	l.n_columns = MEASURE_TEMPORARY + 1;
	for (uint32_t i = 0; i < l.n_columns; i++)
		l.column[i].metric = (struct metric){ { 0 }, (enum measure)i, false };
	cr_assert_eq(aggregate(p, &counts, &l, NULL, w), 0);
	lens_done(&l);
}

static struct sums sums_of(const struct profile *p)
{
	struct weights w;
	struct sums s;

	aggregate_all(p, &w);
	s = (struct sums){ .calls = w.total[MEASURE_SAMPLES],
			   .temporary = w.total[MEASURE_TEMPORARY],
			   .leaked = w.total[MEASURE_LEAKED],
			   .peak = w.total[MEASURE_PEAK] };
	weights_done(&w);
	return s;
}

/* Made files. */

#define STACKS "s 4 main\ns 1 f\ns 3 a.c\ni 10 0 1 3 5\ni 20 0 2 3 7\nt 1 0\nt 2 1\n"
#define OLD    "s main\ns f\ns a b.c\ni 10 0 1 3 5\ni 20 0 2 3 7\nt 1 0\nt 2 1\n"

static const struct made {
	const char *what, *text;
	struct sums sums;
	uint32_t lacks;
	const char *fact, *says; /* a fact, and how its text begins; NULL: none */
} files[] = {
	{ "two kinds; the one that was just allocated is temporary",
	  "v 10400 3\nX ./a b\nI 1000 10\n" STACKS
	  "a 64 2\na 8 1\n+ 0\nc a\n+ 1\n- 1\n- 0\n+ 1\n# strings: 3\n",
	  { 3, 1, 8, 0x6c },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "temporary by heaptrack",
	  "2, as" },
	{ "of two blocks of a kind the newer one is freed; a time or a stack between is no deed",
	  "v 10400 3\nX a\n" STACKS "a 10 2\n+ 0\n+ 0\nc 5\nR 3\nt 1 2\na 1 3\n- 0\n# strings: 3\n",
	  { 2, 1, 0x10, 0x20 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "duration",
	  "5.00 ms" },
	{ "version 2: strings to the end of the line, a suppression without a length",
	  "v 10100 2\nX a\nS leak:f g\n" OLD "a 64 2\n+ 0\n# strings: 3\n",
	  { 1, 0, 0x64, 0x64 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "suppression 1",
	  "leak:f g" },
	{ "version 3: a suppression with a length",
	  "v 10400 3\nX a\nS 8 leak:foo\n" STACKS "a 64 2\n+ 0\n# strings: 3\n",
	  { 1, 0, 0x64, 0x64 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "suppression 1",
	  "leak:foo" },
	{ "1.0's number is version 1",
	  "v 10200\nX a\n" OLD "a 64 2\n+ 0\n- 0\n# strings: 3\n",
	  { 1, 1, 0, 0x64 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  NULL,
	  NULL },
	{ "version 0 has addresses; the second of two equal blocks is freed: the first lives",
	  "v 10000\nX a\n" OLD "+ 64 2 500\n+ 64 2 600\n- 500\n- 500\n- 700\n",
	  { 2, 0, 0x64, 0xc8 },
	  HEAP_LACKS_THREADS,
	  "frees",
	  "2 frees of blocks" },
	{ "raw, without files of its modules; heaptrack_print counts a temporary one that is none",
	  "v 10400 3\nx 2 /a\nX /a\nm 1 -\nm 1 x 1000 0 500 1000 600\nm 3 y z 9000 0 10\n"
	  "t 1010 0\nt 9008 1\n+ 64 2 500\n+ 64 2 600\n- 500\n+ 8 1 700\n- 700\n",
	  { 3, 1, 0x64, 0xc8 },
	  HEAP_LACKS_THREADS,
	  "temporary by heaptrack",
	  "2, as" },
	{ "an address that was not freed is taken again",
	  "v 10400 3\nx 2 /a\nX /a\nt 1010 0\n+ 8 1 500\n+ 4 1 500\n- 500\n",
	  { 2, 1, 8, 0xc },
	  HEAP_LACKS_THREADS,
	  "addresses",
	  "1 allocation at an address" },
	{ "attached, and without a program",
	  "v 10400 3\nA\n" STACKS "a 64 2\n+ 0\n# strings: 3\n",
	  { 1, 0, 0x64, 0x64 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "attached",
	  "to a process" },
	{ "numbers of nothing, more frees than blocks, a definition that cannot be read keeps its number",
	  "v 10400 3\nX a\nX b\n" STACKS
	  "a zz 2\na 64 2\na 5 9\n+ 0\n+ 1\n+ 2\n+ 3\n- 1\n- 1\n+ 1\nQ 1\nt 9 0\nt 1 99\n"
	  "# strings: 3\n",
	  { 2, 1, 0x64, 0x64 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "frees",
	  "1 free of blocks" },
	{ "a time that goes back",
	  "v 10400 3\nX a\n" STACKS "a 64 2\nc 64\n+ 0\nc 5\n- 0\n# strings: 3\n",
	  { 1, 1, 0, 0x64 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "clock",
	  "1 time that went back" },
	{ "sizes that cannot be, and one of more than 32 bits",
	  "v 10400 3\nX a\n" STACKS
	  "a ffffffffffffffff 2\na 200000000 2\na 11112222333344445 1\n+ 0\n- 0\n+ 1\n+ 2\n# strings: 3\n",
	  { 1, 0, 0x200000000, 0x200000000 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "sizes",
	  "1 allocation of more bytes" },
	{ "cut before its end",
	  "v 10400 3\nX a\n" STACKS "a 64 2\n+ 0",
	  { 1, 0, 0x64, 0x64 },
	  HEAP_LACKS_THREADS | HEAP_LACKS_LIFETIMES,
	  "not finished",
	  "its last lines" },
};

Test(heaptrack, lines)
{
	for (size_t i = 0; i < N(files); i++) {
		const struct made *f = &files[i];
		struct err e = ERR_INIT;
		struct profile_counts counts;
		struct profile *p;
		struct sums s;

		cr_expect_geq(format_heaptrack.probe((const uint8_t *)f->text, strlen(f->text)),
			      FORMAT_SURE, "%s", f->what);
		cr_assert_eq(read_bytes(f->text, strlen(f->text), &p, &e), 0, "%s: %s", f->what,
			     err_text(&e));
		s = sums_of(p);
		cr_expect_eq(s.calls, f->sums.calls, "%s: %" PRId64 " calls", f->what, s.calls);
		cr_expect_eq(s.temporary, f->sums.temporary, "%s: %" PRId64 " temporary", f->what,
			     s.temporary);
		cr_expect_eq(s.leaked, f->sums.leaked, "%s: %" PRId64 " leaked", f->what, s.leaked);
		cr_expect_eq(s.peak, f->sums.peak, "%s: peak %" PRId64, f->what, s.peak);
		profile_counts_read(p, &counts);
		cr_expect_eq(heap_manner_of(p, &counts).lacks, f->lacks, "%s", f->what);
		if (f->fact) {
			const char *text = made_heap_fact(p, f->fact);

			cr_expect(text && strncmp(text, f->says, strlen(f->says)) == 0, "%s: %s",
				  f->what, text ? text : "no such fact");
		}
		profile_free(p);
	}
}

/* Frames of a pointer are innermost first in the file, and outermost first in the profile. */
Test(heaptrack, inlined_frames_and_names)
{
	static const char text[] =
		"v 10400 3\nX a\ns b /lib/x.so.1\ns 5 inner\ns 5 outer\ns 3 a.c\n"
		"s f _RNvC1a4crazyZ\ns 1c big::main::h3884c89f8cf93024\n"
		"i 10 1 2 4 7 3 4 9\ni 20 1\ni 30 1 6\nt 1 0\nt 2 1\nt 3 2\na 8 3\n+ 0\n# strings: 6\n";
	static const char *const names[] = { "big::main", "[x.so.1]", "outer" };
	struct location_columns places;
	const struct frame *run;
	struct err e = ERR_INIT;
	struct stack_columns stacks;
	struct heap_columns c;
	struct profile *p;
	uint32_t at;

	cr_assert_eq(read_bytes(text, sizeof(text) - 1, &p, &e), 0, "%s", err_text(&e));
	profile_heap(p, &c);
	profile_stacks(p, &stacks);
	profile_locations(p, &places);
	at = c.origins[allocation_origin(&c, 0)].stack;
	for (size_t i = 0; i < N(names); i++, at = stacks.parent[at]) {
		run = location_frames(&places, stacks.location[at]);
		cr_assert_not_null(run);
		cr_expect_str_eq(
			profile_string(p, profile_function(p, (function_id){ run->function })->name,
				       NULL),
			names[i]);
	}
	cr_expect_eq(run[0].n_more, 1);
	cr_expect_eq(run[0].line, 9);
	cr_expect_eq(run[1].line, 7);
	cr_expect_eq(at, 0);
	profile_free(p);
}

/* What is written of a profile, and read again. */
static struct profile *written_again(const struct profile *p, const char *name)
{
	const struct write_options o = { .name = name };
	struct err e = ERR_INIT;
	struct analysis *a;
	struct profile *again;
	struct lens l;
	char *text;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	lens_init(&l, p);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	cr_assert_eq(format_heaptrack.write(a, &o, to, &e), 0, "%s", err_text(&e));
	analysis_free(a);
	lens_done(&l);
	fclose(to);
	cr_assert_eq(read_bytes(text, n, &again, &e), 0, "%s: %s", name, err_text(&e));
	free(text);
	return again;
}

Test(heaptrack, writes_what_it_read)
{
	static const char *const names[] = { "x", "x.zst", "x.gz" };

	for (size_t i = 0; i < N(files); i++) {
		struct profile *p, *again;
		struct err e = ERR_INIT;
		struct sums s;

		cr_assert_eq(read_bytes(files[i].text, strlen(files[i].text), &p, &e), 0);
		again = written_again(p, names[i % N(names)]);
		s = sums_of(again);
		cr_expect_eq(s.calls, files[i].sums.calls, "%s", files[i].what);
		/* Two blocks of a kind cannot be told apart any more. */
		cr_expect_geq(s.temporary, files[i].sums.temporary, "%s", files[i].what);
		cr_expect_eq(s.leaked, files[i].sums.leaked, "%s", files[i].what);
		cr_expect_eq(s.peak, files[i].sums.peak, "%s", files[i].what);
		cr_expect_null(made_heap_fact(again, "malformed lines"), "%s", files[i].what);
		profile_free(again);
		profile_free(p);
	}
}

/* Blocks that are known as sums only are written as pairs, where they do not raise the peak. */
Test(heaptrack, writes_sums_of_blocks)
{
	struct profile *p = profile_new(), *again;
	struct heap_origin o = { .thread = ID_NONE };
	struct sums s;
	track_id t;
	origin_id by;
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x", "heap");
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	t = build_heap_track(p, build_process(p, c, 1), 0, 0);
	by = build_heap_origin(p, &o);
	for (int i = 0; i < 3; i++) {
		build_moment(p, t, i * 1000000);
		build_allocation(p, t, 100, by);
	}
	build_bulk(p, &(struct heap_bulk){ .origin = by.v, .moment = 2, .calls = 7, .bytes = 500 });
	builder_end(p);
	again = written_again(p, NULL);
	s = sums_of(again);
	cr_expect_eq(s.calls, 10);
	cr_expect_eq(s.peak, 300);
	cr_expect_eq(s.leaked, 300);
	profile_free(again);
	profile_free(p);
}

/* What the format cannot say is not written. */
Test(heaptrack, does_not_write_estimates)
{
	struct profile *p = profile_new();
	struct err e = ERR_INIT;
	struct analysis *a;
	capture_id c;
	struct lens l;

	builder_begin(p);
	c = build_capture(p, "x", "heap");
	build_heap_event(p, "malloc");
	build_heap_track(p, build_process(p, c, 1), 512, 0);
	builder_end(p);
	lens_init(&l, p);
	cr_assert_eq(analysis_new(p, &l, NULL, &a), 0);
	cr_expect_eq(format_heaptrack.write(a, NULL, stderr, &e), -EINVAL);
	cr_expect_not_null(strstr(err_text(&e), "sampled"));
	err_clear(&e);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

Test(heaptrack, refusals)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "v 99999 9\nX a\n+ 1\n", "is of version 9 of heaptrack's format" },
		{ "v 10400 3\nX a\n", "there is no allocation in its 2 lines" },
		{ "v 10400 3\nX a\n+ 7\n", "line 3 has a block that is not there" },
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

/* Lines that are taken without care, over many blocks, count as lines; those that need care are seen. */
Test(heaptrack, many_short_lines)
{
	enum { N_PAIRS = 100000 };
	static const char head[] = "v 10400 3\nX a\n" STACKS "a 64 2\n";
	struct profile_counts counts;
	struct err e = ERR_INIT;
	struct profile *p;
	bool found = false;
	char *text;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	fputs(head, to);
	for (int i = 0; i < N_PAIRS; i++)
		fputs(i == N_PAIRS / 2 ? "+ 0\n- 0z\n- 0\n- 00000000000000000\n+ 7\n"
				       : "+ 0\n- 0\n",
		      to);
	fputs("+ 0", to);
	fclose(to);
	cr_assert_eq(read_bytes(text, n, &p, &e), 0, "%s", err_text(&e));
	cr_expect_eq(sums_of(p).calls, N_PAIRS + 1);
	cr_expect_eq(sums_of(p).temporary, N_PAIRS);
	cr_expect_eq(sums_of(p).leaked, 0x64);
	profile_counts_read(p, &counts);
	for (uint32_t i = 0; i < counts.n_facts; i++)
		found |= strstr(profile_string(p, profile_fact(p, i).text, NULL), "100012") != NULL;
	cr_expect(found, "the number of a line in the middle");
	profile_free(p);
	free(text);
}

/* Numbers as events have them, of kinds that are there; then others, and what is no number. */
static const char *const numbers[] = { "0",  "1",  "2",        "3",       "4",        "5",
				       "6",  "10", "7",        "a",       "f",        "g",
				       "A",  "9",  ":",        "/",       "`",        "1g",
				       "g1", "",   "ffffffff", "fffffff", "100000000" };

enum { N_GOOD = 8, N_LINES = 300000 };

/* One random file of events; with all numbers of 16 digits where padded. Most blocks end at once. */
static char *made_events(bool padded, size_t *n)
{
	static const char head[] =
		"v 10400 3\nX a\n" STACKS
		"a 64 2\na 8 1\na ffff 1\na fffe 2\na 123456789 1\na 0 2\na 8 9\n";
	uint32_t seed = 1;
	char *text;
	FILE *to = open_memstream(&text, n);

	fputs(head, to);
	for (uint32_t i = 7; i <= 0x10; i++)
		fprintf(to, "a %x %u\n", i, i % 3);
	for (int i = 0; i < N_LINES; i++) {
		uint32_t r = (seed = seed * 1664525 + 1013904223) >> 8;
		const char *number = numbers[r % 64 == 0 ? r / 64 % N(numbers) : r / 64 % N_GOOD];
		const char *zeroes = padded && *number ? &"0000000000000000"[strlen(number)] : "";

		if (r % 1000 == 0)
			fprintf(to, "c %x\n", i);
		if (r / 1024 % 8 > 1)
			fprintf(to, "+ %s%s\n- %s%s\n", zeroes, number, zeroes, number);
		else
			fprintf(to, "%c %s%s\n", "+-"[r / 8192 % 2], zeroes, number);
	}
	fclose(to);
	return text;
}

/* Events that are taken without care are those that are taken with it. */
Test(heaptrack, short_numbers_are_as_long_ones)
{
	static const char *const facts[] = { "temporary by heaptrack", "malformed lines", "frees",
					     "events" };
	struct heap_columns c[2];
	struct profile *p[2];

	for (int i = 0; i < 2; i++) {
		struct err e = ERR_INIT;
		size_t n;
		char *text = made_events(i == 1, &n);

		cr_assert_eq(read_bytes(text, n, &p[i], &e), 0, "%s", err_text(&e));
		free(text);
		profile_heap(p[i], &c[i]);
	}
	cr_assert_gt(c[0].n_allocations, N_LINES / 2);
	cr_assert_eq(c[0].n_allocations, c[1].n_allocations);
	for (uint32_t i = 0; i < c[0].n_allocations; i++)
		cr_assert(allocation_begin(&c[0], i) == allocation_begin(&c[1], i) &&
				  allocation_end(&c[0], i, UINT32_MAX) ==
					  allocation_end(&c[1], i, UINT32_MAX) &&
				  allocation_size(&c[0], i) == allocation_size(&c[1], i) &&
				  allocation_origin(&c[0], i) == allocation_origin(&c[1], i),
			  "row %u", i);
	for (size_t i = 0; i < N(facts); i++) {
		cr_assert(made_heap_fact(p[0], facts[i]), "%s", facts[i]);
		cr_expect_str_eq(made_heap_fact(p[0], facts[i]), made_heap_fact(p[1], facts[i]));
	}
	profile_free(p[0]);
	profile_free(p[1]);
}

/* However a file is cut, it gives what was before the cut, or a sentence. */
Test(heaptrack, cut_anywhere)
{
	static const size_t some[] = { 0, 2, 5, 6 };

	for (size_t k = 0; k < N(some); k++) {
		size_t i = some[k];

		for (size_t n = 0; n < strlen(files[i].text); n++) {
			struct err e = ERR_INIT;
			struct profile *p;
			int rc = read_bytes(files[i].text, n, &p, &e);

			cr_expect_eq(rc, e.code, "%s: %zu", files[i].what, n);
			if (rc == 0)
				cr_expect_leq(sums_of(p).calls, files[i].sums.calls);
			err_clear(&e);
			profile_free(p);
		}
	}
}

Test(heaptrack, variations)
{
	for (size_t i = 0; i < N(files); i++)
		fuzz_vary(fuzz_heaptrack, files[i].text, strlen(files[i].text), 30);
}

/* The corpus. */

static char *load(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t n = 0;

	if (!f)
		return NULL;
	if (getdelim(&text, &n, EOF, f) < 0) {
		free(text);
		text = NULL;
	}
	fclose(f);
	return text;
}

/* "5.42M", as heaptrack_print writes it. */
static void write_bytes(char out[32], double n)
{
	static const char *const units[] = { "K", "M", "G", "T" };
	size_t i = 0;

	if (n < 1000) {
		snprintf(out, 32, "%.0fB", n);
		return;
	}
	for (n /= 1000; n >= 1000 && i + 1 < N(units); i++)
		n /= 1000;
	snprintf(out, 32, "%.2f%s", n, units[i]);
}

/* What stands behind a title in a summary, up to a blank or the line's end; "" where it is not there. */
static void said(const char *summary, const char *title, char out[32])
{
	const char *at = strstr(summary, title);

	*out = '\0';
	if (at)
		snprintf(out, 32, "%.*s", (int)strcspn(at + strlen(title), " \n"),
			 at + strlen(title));
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Are the weights of a flame graph those of the stacks? Where they are summed up by names, they cannot be compared. */
static void compare_stacks(const char *file, const char *golden, const struct weights *w,
			   enum measure measure)
{
	char path[512], *text, *line, *rest;
	VEC(int64_t) theirs = { 0 };
	VEC(int64_t) ours = { 0 };

	snprintf(path, sizeof(path), "%s/flame.%s.folded", golden,
		 measure == MEASURE_SAMPLES ? "allocations"
		 : measure == MEASURE_PEAK  ? "peak"
					    : "leaked");
	text = rest = load(path);
	cr_assert_not_null(text, "%s", path);
	while ((line = strsep(&rest, "\n"))) {
		const char *blank = strrchr(line, ' ');

		if (blank && atoll(blank) != 0)
			vec_push(&theirs, atoll(blank));
	}
	for (uint32_t i = 0; i < w->n_stacks; i++)
		if (w->stack[i * w->n_columns + measure] != 0)
			vec_push(&ours, w->stack[i * w->n_columns + measure]);
	cr_expect_eq(ours.n, theirs.n, "%s: %zu and %zu stacks", path, ours.n, theirs.n);
	if (ours.n > 0)
		qsort(ours.at, ours.n, sizeof(*ours.at), by_value);
	if (theirs.n > 0)
		qsort(theirs.at, theirs.n, sizeof(*theirs.at), by_value);
	for (size_t i = 0; i < ours.n && i < theirs.n; i++)
		cr_expect_eq(ours.at[i], theirs.at[i], "%s %s: %" PRId64 " and %" PRId64, file,
			     path, ours.at[i], theirs.at[i]);
	vec_done(&ours);
	vec_done(&theirs);
	free(text);
}

/* How many blocks there are of each size. */
static void compare_sizes(const char *golden, const struct profile *p)
{
	char path[512], *text, *line, *rest;
	struct heap_columns c;
	uint64_t n = 0;

	snprintf(path, sizeof(path), "%s/histogram.tsv", golden);
	text = rest = load(path);
	cr_assert_not_null(text, "%s", path);
	profile_heap(p, &c);
	while ((line = strsep(&rest, "\n"))) {
		uint64_t size, theirs, ours = 0;

		if (sscanf(line, "%" SCNu64 " %" SCNu64, &size, &theirs) != 2)
			continue;
		for (uint32_t i = 0; i < c.n_allocations; i++)
			ours += allocation_size(&c, i) == size;
		cr_expect_eq(ours, theirs, "%s: %" PRIu64 " of size %" PRIu64, path, ours, size);
		n += ours;
	}
	cr_expect_eq(n, c.n_allocations);
	free(text);
}

/* What leaks says without what the program itself suppresses: bytes, as heaptrack_print writes them. */
static void compare_leaks(const char *file, const struct profile *p, const char *want)
{
	struct profile_counts counts;
	struct heap_table *t;
	struct footprint *f;
	int64_t leaked = 0;
	char text[32];
	struct lens l;

	profile_counts_read(p, &counts);
	lens_init(&l, p);
	cr_assert_eq(footprint_new(p, &counts, &l, lens_usual_metric(p, NULL), NULL, &f), 0);
	cr_assert_eq(heap_table_new(f, HEAP_LEAKS, NULL, NULL, &t), 0);
	for (size_t i = 0; i < t->rows.n; i++)
		leaked += t->rows.at[i].cell[3];
	write_bytes(text, (double)leaked);
	cr_expect_str_eq(text, want, "%s", file);
	heap_table_free(t);
	footprint_free(f);
	lens_done(&l);
}

/* raw: of a file that heaptrack_print does not read, whose golden is that of the interpreted one. */
static void compare(const char *file, const char *name, bool stacks)
{
	char golden[300], path[512], *summary, calls[32], temporary[32], text[32], want[32];
	struct err e = ERR_INIT;
	struct weights w;
	struct profile *p;
	struct input *in;
	int64_t suppressed;

	snprintf(golden, sizeof(golden), CORPUS "/golden/%s", name);
	snprintf(path, sizeof(path), "%s/summary.txt", golden);
	summary = load(path);
	cr_assert_not_null(summary, "%s", path);
	snprintf(path, sizeof(path), CORPUS "/%s", file);
	cr_assert_eq(input_open(path, &in, &e), 0);
	cr_assert_eq(read_input(in, &p, &e), 0, "%s: %s", file, err_text(&e));
	input_close(in);
	aggregate_all(p, &w);
	said(summary, "calls to allocation functions: ", want);
	snprintf(calls, sizeof(calls), "%" PRId64, w.total[MEASURE_SAMPLES]);
	cr_expect_str_eq(calls, want, "%s", file);
	said(summary, "temporary memory allocations: ", want);
	snprintf(temporary, sizeof(temporary), "%.*s",
		 (int)strcspn(made_heap_fact(p, "temporary by heaptrack"), ","),
		 made_heap_fact(p, "temporary by heaptrack"));
	cr_expect_str_eq(temporary, want, "%s", file);
	cr_expect_leq(llabs(w.total[MEASURE_TEMPORARY] - atoll(want)), 2, "%s", file);
	said(summary, "peak heap memory consumption: ", want);
	write_bytes(text, (double)w.total[MEASURE_PEAK]);
	cr_expect_str_eq(text, want, "%s", file);
	said(summary, "suppressed leaks: ", want);
	suppressed = atoll(want);
	said(summary, "total memory leaked: ", want);
	write_bytes(text, (double)(w.total[MEASURE_LEAKED] - suppressed));
	cr_expect_str_eq(text, want, "%s", file);
	if (suppressed > 0)
		compare_leaks(file, p, want);
	if (stacks) {
		compare_stacks(file, golden, &w, MEASURE_SAMPLES);
		compare_stacks(file, golden, &w, MEASURE_PEAK);
		if (suppressed == 0)
			compare_stacks(file, golden, &w, MEASURE_LEAKED);
		compare_sizes(golden, p);
	}
	weights_done(&w);
	profile_free(p);
	free(summary);
}

Test(heaptrack, totals_and_stacks_are_those_of_heaptrack_print, .timeout = 120)
{
	static const struct {
		const char *file, *golden;
		bool stacks;
	} corpus[] = {
		{ "made/heaptrack/alloc.zst", "made/heaptrack/alloc.zst", true },
		{ "made/heaptrack/alloc_as_gzip.gz", "made/heaptrack/alloc_as_gzip.gz", true },
		{ "made/heaptrack/alloc_plain.txt", "made/heaptrack/alloc.zst", true },
		{ "made/heaptrack/alloc_raw.raw.zst", "made/heaptrack/alloc.zst", false },
		{ "made/heaptrack/sort.zst", "made/heaptrack/sort.zst", true },
		{ "made/heaptrack/threads.zst", "made/heaptrack/threads.zst", true },
		{ "made/heaptrack/true.zst", "made/heaptrack/true.zst", true },
		{ "made/heaptrack/xz.zst", "made/heaptrack/xz.zst", true },
		{ "made/heaptrack/rs.zst", "made/heaptrack/rs.zst", true },
		{ "made/heaptrack/unknown_record.zst", "made/heaptrack/unknown_record.zst", false },
		{ "made/heaptrack/trunc_text_half.zst", "made/heaptrack/trunc_text_half.zst",
		  false },
		{ "heaptrack/heaptrack.embedded_lsan_suppressions.84207.zst",
		  "heaptrack/heaptrack.embedded_lsan_suppressions.84207.zst", true },
	};

	if (access(CORPUS "/made/heaptrack/alloc.zst", R_OK) != 0)
		cr_skip("skipped: no corpus");
	for (size_t i = 0; i < N(corpus); i++)
		compare(corpus[i].file, corpus[i].golden, corpus[i].stacks);
}
