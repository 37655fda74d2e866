/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files of bytehound, made by hand as its source describes them. */
#include "config.h"

#include "base/err.h"
#include "base/mem.h"
#include "formats/bytehound/bytehound.h"
#include "formats/bytehound/bytehound_events.h"
#include "formats/bytehound/lz4_block.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "query/core/aggregate.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_heap.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(rows) (sizeof(rows) / sizeof(*(rows)))

/* Events as they are made. */
struct made {
	VEC(uint8_t) bytes;
};

static void put(struct made *m, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		vec_push(&m->bytes, (uint8_t)(v >> 8 * i));
}

static void put_text(struct made *m, const char *s)
{
	put(m, strlen(s), 4);
	for (; *s; s++)
		put(m, (uint8_t)*s, 1);
}

static void put_varint(struct made *m, uint64_t v)
{
	if (v < 0x80) {
		put(m, v, 1);
	} else if (v < 0x4000) {
		put(m, 0x80 | v >> 8, 1);
		put(m, v & 0xff, 1);
	} else {
		put(m, 0xff, 1);
		put(m, v, 8);
	}
}

static void put_header(struct made *m)
{
	put(m, 0, 4);
	for (int i = 0; i < 2; i++)
		put(m, 7, 8);
	put(m, 1000, 8);
	put(m, 1000, 8);
	put(m, 0, 8);
	put(m, 0, 8);
	put(m, 42, 4);
	put_text(m, "./prog -x");
	put_text(m, "/bin/prog");
	put_text(m, "x86_64");
	put(m, 1, 8);
	put(m, 8, 1);
}

static void put_body(struct made *m, uint64_t pointer, uint64_t size, uint64_t backtrace,
		     uint32_t thread)
{
	put(m, pointer, 8);
	put(m, size, 8);
	put(m, backtrace, 8);
	put(m, thread, 4);
	put(m, 0, 4);
	put(m, 0, 4);
	put(m, 0, 8);
}

/* number 0: a block without an id. */
static void put_alloc(struct made *m, uint64_t us, uint64_t number, uint64_t pointer, uint64_t size,
		      uint64_t backtrace, uint32_t thread)
{
	put(m, 20, 4);
	put(m, number ? thread : 0, 8);
	put(m, number, 8);
	put(m, us, 8);
	put_body(m, pointer, size, backtrace, thread);
}

static void put_realloc(struct made *m, uint64_t us, uint64_t number, uint64_t old,
			uint64_t pointer, uint64_t size, uint64_t backtrace, uint32_t thread)
{
	put(m, 21, 4);
	put(m, number ? thread : 0, 8);
	put(m, number, 8);
	put(m, us, 8);
	put(m, old, 8);
	put_body(m, pointer, size, backtrace, thread);
}

/* owner: the thread of the block's id. */
static void put_free(struct made *m, uint64_t us, uint64_t number, uint64_t pointer, uint32_t owner,
		     uint32_t thread)
{
	put(m, 22, 4);
	put(m, number ? owner : 0, 8);
	put(m, number, 8);
	put(m, us, 8);
	put(m, pointer, 8);
	put(m, 0, 8);
	put(m, thread, 4);
}

static void put_backtrace(struct made *m, uint64_t id, uint64_t inner, uint64_t outer)
{
	put(m, 5, 4);
	put(m, id, 8);
	put(m, 2, 4);
	put(m, inner, 8);
	put(m, outer, 8);
}

static void put_region(struct made *m, uint64_t us, uint64_t start, uint64_t bytes,
		       const char *path)
{
	put(m, 24, 4);
	put(m, us, 8);
	put_varint(m, 3);
	put(m, start, 8);
	put_varint(m, bytes);
	put_varint(m, 0);
	put_varint(m, 70000);
	put(m, 0, 4);
	put(m, 0, 4);
	put(m, 5, 4);
	put_varint(m, strlen(path));
	for (; *path; path++)
		put(m, (uint8_t)*path, 1);
}

/* All events in chunks of so many bytes that are stored. */
static struct made chunks_of(const struct made *events, size_t each)
{
	struct made file = { 0 };

	for (size_t at = 0; at < events->bytes.n; at += each) {
		size_t n = events->bytes.n - at < each ? events->bytes.n - at : each;

		put(&file, 2, 1);
		put(&file, n, 4);
		for (size_t i = 0; i < n; i++)
			vec_push(&file.bytes, events->bytes.at[at + i]);
	}
	return file;
}

static int read_bytes(const struct made *m, size_t n, struct profile **p, struct err *e)
{
	struct input *in = input_of_bytes(m->bytes.at, n, "x");
	capture_id c;
	int rc;

	*p = profile_new();
	builder_begin(*p);
	c = build_capture(*p, "x", "bytehound");
	builder_end(*p);
	rc = format_bytehound.read(in, *p, c, NULL, NULL, e);
	input_close(in);
	return rc;
}

static struct profile *read_events(const struct made *events, size_t each)
{
	struct made file = chunks_of(events, each);
	struct err e = ERR_INIT;
	struct profile *p;

	cr_assert_eq(read_bytes(&file, file.bytes.n, &p, &e), 0, "%s", err_text(&e));
	vec_done(&file.bytes);
	return p;
}

static int64_t sum_of(const struct profile *p, enum measure measure)
{
	struct profile_counts counts;
	struct weights w;
	struct lens l;
	int64_t sum;

	profile_counts_read(p, &counts);
	lens_init(&l, p);
	l.n_columns = 1;
	l.column[0].metric = (struct metric){ .event = { 0 }, .measure = measure };
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	sum = w.total[0];
	weights_done(&w);
	lens_done(&l);
	return sum;
}

/* A story of two threads: ids, addresses, a realloc, events out of order, a program in the file. */
static void tell(struct made *m)
{
	put_header(m);
	put(m, 23, 4); /* a program, which is passed over */
	put(m, 1000, 8);
	put_text(m, "/bin/prog");
	put(m, 3000, 8);
	for (int i = 0; i < 3000; i++)
		put(m, 20, 1);
	put_region(m, 1000, 0x1000, 0x3000, "/no/such/lib.so");
	put_backtrace(m, 1, 0x1010, 0x1020);
	put_backtrace(m, 2, 0x1030, 0x1020);
	put_alloc(m, 1010, 1, 0x500, 100, 1, 42);
	put_free(m, 1020, 1, 0x500, 42, 42);
	put_alloc(m, 1030, 2, 0x500, 30, 2, 42);
	put_alloc(m, 1040, 0, 0x600, 50, 1, 43);
	put_realloc(m, 1060, 2, 0x500, 0x700, 80, 2, 42);
	put_free(m, 1050, 0, 0x600, 43, 42);
	put_free(m, 1070, 0, 0x999, 42, 42);
}

Test(bytehound, events)
{
	static const size_t chunks[] = { 1 << 20, 100, 7 };

	for (size_t i = 0; i < N(chunks); i++) {
		struct made m = { 0 };
		struct profile_counts counts;
		struct heap_track track;
		struct heap_columns c;
		struct profile *p;

		tell(&m);
		p = read_events(&m, chunks[i]);
		cr_expect_eq(sum_of(p, MEASURE_SAMPLES), 4);
		cr_expect_eq(sum_of(p, MEASURE_WEIGHT), 260);
		cr_expect_eq(sum_of(p, MEASURE_PEAK), 100);
		cr_expect_eq(sum_of(p, MEASURE_LEAKED), 80);
		cr_expect_eq(sum_of(p, MEASURE_TEMPORARY), 1);
		cr_expect_str_eq(made_heap_fact(p, "frees"),
				 "1 free of blocks that are not in the file");
		cr_expect_str_eq(made_heap_fact(p, "command"), "./prog -x");
		profile_heap(p, &c);
		cr_expect_eq(c.origins[allocation_origin(&c, 3)].flags, ORIGIN_REALLOC);
		track = profile_heap_track(p, (track_id){ 0 });
		cr_expect_eq(track.lacks, 0);
		cr_expect_eq(heap_track_time(&track, 0), 1010000);
		profile_counts_read(p, &counts);
		cr_expect_eq(counts.n_threads, 2);
		profile_free(p);
		vec_done(&m.bytes);
	}
}

/* Queues of threads are written in turn: a free may even have an earlier time than its allocation. */
Test(bytehound, a_free_before_its_allocation)
{
	struct made m = { 0 };
	struct profile *p;

	put_header(&m);
	put_backtrace(&m, 1, 0x10, 0x20);
	put_free(&m, 1020, 5, 0x500, 42, 43);
	put_alloc(&m, 1030, 5, 0x500, 100, 1, 42);
	p = read_events(&m, 1 << 20);
	cr_expect_eq(sum_of(p, MEASURE_SAMPLES), 1);
	cr_expect_eq(sum_of(p, MEASURE_LEAKED), 0);
	cr_expect_null(made_heap_fact(p, "frees"));
	profile_free(p);
	vec_done(&m.bytes);
}

/* Names of the frames of the allocation's stack, innermost first, its thread last. */
static void expect_stack(const struct profile *p, uint32_t row, const char *want)
{
	struct location_columns places;
	struct stack_columns stacks;
	struct heap_columns c;
	char text[256] = "";

	profile_heap(p, &c);
	profile_stacks(p, &stacks);
	profile_locations(p, &places);
	for (uint32_t s = c.origins[allocation_origin(&c, row)].stack; s != 0;
	     s = stacks.parent[s]) {
		const struct frame *run = location_frames(&places, stacks.location[s]);
		uint32_t id = location_function(&places, stacks.location[s]);

		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s@%" PRIx64 " ",
			 profile_string(
				 p,
				 profile_function(p, (function_id){ run ? run->function : id })
					 ->name,
				 NULL),
			 places.address[stacks.location[s]]);
		for (uint32_t i = 1; run && i <= run->n_more; i++)
			snprintf(
				text + strlen(text), sizeof(text) - strlen(text), "(%s:%u) ",
				profile_string(
					p,
					profile_function(p, (function_id){ run[i].function })->name,
					NULL),
				run[i].line);
	}
	cr_expect_str_eq(text, want);
}

/* A stack shares its outer frames with the last one of its thread. */
Test(bytehound, partial_stacks)
{
	struct made m = { 0 };
	struct profile *p;

	put_header(&m);
	put_region(&m, 1000, 0x1000, 0x3000, "/no/such/lib.so");
	for (uint64_t id = 1; id <= 2; id++) {
		put(&m, id == 1 ? 13 : 18, 4);
		put(&m, id, 8);
		put(&m, 42, 4);
		put(&m, id == 1 ? UINT32_MAX : 1, 4);
		put(&m, id == 1 ? 2 : 1, 4);
		put(&m, id == 1 ? 0x1010 : 0x1030, id == 1 ? 8 : 4);
		if (id == 1)
			put(&m, 0x1020, 8);
		put_alloc(&m, 1010 + id, id, 0x500 * id, 8, id, 42);
	}
	p = read_events(&m, 1 << 20);
	expect_stack(p, 0, "[lib.so]@f [lib.so]@1f prog@0 ");
	expect_stack(p, 1, "[lib.so]@2f [lib.so]@1f prog@0 ");
	profile_free(p);
	vec_done(&m.bytes);
}

static void put_shared(struct made *m, uint64_t id, uint32_t gone, uint32_t n)
{
	put(m, 13, 4);
	put(m, id, 8);
	put(m, 42, 4);
	put(m, gone, 4);
	put(m, n, 4);
	for (uint32_t i = 0; i < n; i++)
		put(m, 0x1010 + i, 8);
}

/* What stacks share is held once, and of stacks with one id the first. */
Test(bytehound, shared_frames_are_held_once)
{
	struct made m = { 0 }, file;
	struct bytehound_events e = { .p = profile_new(), .damage = ERR_INIT };
	struct input *in;

	put_header(&m);
	put_shared(&m, 1, UINT32_MAX, 1000);
	for (uint64_t id = 2; id < 500; id++)
		put_shared(&m, id, 0, 0);
	put_shared(&m, 500, 400, 1);
	put_shared(&m, 500, 0, 3);
	put_shared(&m, 501, 605, 0);
	file = chunks_of(&m, 700);
	in = input_of_bytes(file.bytes.at, file.bytes.n, "x");
	cr_assert_eq(bytehound_events_read(&e, in, NULL), 0);
	cr_expect_eq(e.damage.code, 0, "%s", err_text(&e.damage));
	cr_expect_eq(e.links.n, 1004);
	cr_expect_eq(e.backtraces.n, 501);
	cr_expect_eq(bytehound_backtrace_of(&e, 499)->n, 1000);
	cr_expect_eq(bytehound_backtrace_of(&e, 500)->n, 601);
	cr_expect_eq(bytehound_backtrace_of(&e, 501)->n, 0);
	cr_expect_eq(e.n_odd, 1);
	bytehound_events_done(&e);
	input_close(in);
	profile_free(e.p);
	vec_done(&file.bytes);
	vec_done(&m.bytes);
}

/* Of deeper stacks than any program's the inner frames are kept. */
Test(bytehound, stacks_too_deep)
{
	struct made m = { 0 };
	struct profile_counts counts;
	struct profile *p;

	put_header(&m);
	put_shared(&m, 1, UINT32_MAX, 5000);
	put_alloc(&m, 1010, 1, 0x500, 8, 1, 42);
	p = read_events(&m, 1000);
	profile_counts_read(p, &counts);
	cr_expect_leq(counts.n_stacks, 4096 + 2);
	cr_expect_geq(counts.n_stacks, 4096);
	cr_expect_eq(sum_of(p, MEASURE_WEIGHT), 8);
	profile_free(p);
	vec_done(&m.bytes);
}

/* Files whose names were looked up have frames; those that were inlined stand before their callers. */
Test(bytehound, decoded_stacks)
{
	static const char *const texts[] = { "/lib/x.so", "inner", "outer", "a.rs" };
	struct made m = { 0 };
	struct profile *p;

	put_header(&m);
	for (uint32_t i = 0; i < N(texts); i++) {
		put(&m, 14, 4);
		put(&m, i, 4);
		put_text(&m, texts[i]);
	}
	for (uint32_t i = 0; i < 3; i++) {
		put(&m, 15, 4);
		put(&m, 0x10, 8);
		put(&m, 0, 4);
		put(&m, UINT32_MAX, 4);
		put(&m, i == 2 ? UINT32_MAX : i + 1, 4);
		put(&m, 3, 4);
		put(&m, i == 0 ? 7 : UINT32_MAX, 4);
		put(&m, UINT32_MAX, 4);
		put(&m, i == 0, 1);
	}
	put(&m, 16, 4);
	put(&m, 3, 4);
	for (uint32_t i = 0; i < 3; i++)
		put(&m, i, 4);
	put(&m, 17, 4); /* of a stripped file: five blocks of 40 bytes in all */
	put(&m, 0, 8);
	put(&m, 1010, 8);
	put(&m, 1020, 8);
	put(&m, 5, 8);
	put(&m, 40, 8);
	put(&m, 8, 8);
	put(&m, 8, 8);
	put_alloc(&m, 1010, 1, 0x500, 8, 0, 42);
	p = read_events(&m, 1 << 20);
	expect_stack(p, 0, "outer@0 (inner:7) [x.so]@0 prog@0 ");
	cr_expect_eq(sum_of(p, MEASURE_SAMPLES), 6);
	cr_expect_eq(sum_of(p, MEASURE_WEIGHT), 48);
	cr_expect_eq(sum_of(p, MEASURE_LEAKED), 8);
	cr_expect_not_null(made_heap_fact(p, "stripped"));
	profile_free(p);
	vec_done(&m.bytes);
}

Test(bytehound, damage)
{
	struct made m = { 0 }, file;
	struct err e = ERR_INIT;
	struct profile *p;

	tell(&m);
	put(&m, 99, 4);
	file = chunks_of(&m, 1 << 20);
	cr_assert_eq(read_bytes(&file, file.bytes.n, &p, &e), 0);
	cr_expect_str_eq(made_heap_fact(p, "rest of the file"),
			 "x: an event of no known kind in the chunk at offset 0");
	cr_expect_eq(sum_of(p, MEASURE_SAMPLES), 4);
	profile_free(p);
	put(&file, 1, 1);
	put(&file, 0x7fffffff, 4);
	cr_assert_eq(read_bytes(&file, file.bytes.n, &p, &e), 0);
	profile_free(p);
	vec_done(&file.bytes);
	m.bytes.n = 0;
	put_header(&m);
	file = chunks_of(&m, 1 << 20);
	cr_expect_eq(read_bytes(&file, file.bytes.n, &p, &e), -EBADMSG);
	cr_expect_str_eq(err_text(&e), "x: is a bytehound file without an allocation");
	err_clear(&e);
	profile_free(p);
	vec_done(&file.bytes);
	vec_done(&m.bytes);
}

Test(bytehound, cut_anywhere)
{
	struct made m = { 0 }, file;

	put_header(&m);
	put_region(&m, 1000, 0x1000, 0x3000, "/no/such/lib.so");
	put_backtrace(&m, 1, 0x1010, 0x1020);
	put_alloc(&m, 1010, 1, 0x500, 100, 1, 42);
	put_free(&m, 1020, 1, 0x500, 42, 42);
	file = chunks_of(&m, 60);
	for (size_t n = 0; n < file.bytes.n; n++) {
		struct err e = ERR_INIT;
		struct profile *p;
		int rc = read_bytes(&file, n, &p, &e);

		cr_expect_eq(rc, e.code, "%zu", n);
		cr_expect(rc == 0 || strncmp(err_text(&e), "x: ", 3) == 0, "%s", err_text(&e));
		err_clear(&e);
		profile_free(p);
	}
	vec_done(&file.bytes);
	vec_done(&m.bytes);
}

Test(bytehound, variations)
{
	/* A backtrace without a frame, in a file without any: found by fuzzing. */
	static const uint8_t no_frames[] = {
		[6] = 0xb7,   [7] = 0xff,   [8] = 0xff,   [9] = 0xff,   [10] = 0xf8,  [11] = 0x6f,
		[12] = 0xff,  [13] = 0xd4,  [30] = 0x02,  [31] = 0x02,  [32] = 0x01,  [49] = 0x80,
		[69] = 0x02,  [70] = 0x02,  [71] = 0x01,  [77] = 0x01,  [83] = 0x3a,  [133] = 0x03,
		[139] = 0x24, [144] = 0x98, [147] = 0xe6, [148] = 0x01, [165] = 0x10, [185] = 0x70,
	};
	struct made m = { 0 }, file;

	tell(&m);
	file = chunks_of(&m, 1 << 20);
	cr_expect_geq(format_bytehound.probe(file.bytes.at, file.bytes.n), FORMAT_SURE);
	cr_expect_geq(format_bytehound.probe(file.bytes.at, 600), FORMAT_SURE,
		      "of its first bytes");
	fuzz_bytehound(no_frames, sizeof(no_frames));
	fuzz_bytehound((const uint8_t *)"\n", 1); /* no chunk at all */
	fuzz_vary(fuzz_bytehound, m.bytes.at, m.bytes.n, 200);
	fuzz_vary(fuzz_bytehound, file.bytes.at, file.bytes.n, 100);
	vec_done(&file.bytes);
	vec_done(&m.bytes);
}

Test(bytehound, lz4)
{
	static const struct {
		const char *what, *in;
		size_t n, room;
		const char *out;
		bool good;
	} cases[] = {
		{ "literals",
		  "\x30"
		  "abc",
		  4, 64, "abc", true },
		{ "a copy that overlaps itself",
		  "\x24"
		  "ab\2\0\x10"
		  "c",
		  7, 64,
		  "ababababab"
		  "c",
		  true },
		{ "a long run of literals",
		  "\xf0\x01"
		  "0123456789abcdef",
		  18, 64, "0123456789abcdef", true },
		{ "a long copy",
		  "\x1f"
		  "x\1\0\2\x10"
		  "y",
		  7, 64, "xxxxxxxxxxxxxxxxxxxxxxy", true },
		{ "no room",
		  "\x30"
		  "abc",
		  4, 2, "ab", false },
		{ "no room for a copy",
		  "\x1f"
		  "x\1\0\2\x10"
		  "y",
		  7, 4, "xxxx", false },
		{ "a copy from before the beginning",
		  "\x20"
		  "ab\3\0",
		  5, 64, "ab", false },
		{ "cut within literals",
		  "\x50"
		  "abc",
		  4, 64, "abc", false },
		{ "cut within a distance",
		  "\x20"
		  "ab\1",
		  4, 64, "ab", false },
		{ "nothing", "", 0, 64, "", false },
	};

	for (size_t i = 0; i < N(cases); i++) {
		uint8_t out[64];
		size_t n = cases[i].room;
		bool good = lz4_block_unpack((const uint8_t *)cases[i].in, cases[i].n, out, &n);

		cr_expect_eq(good, cases[i].good, "%s", cases[i].what);
		cr_expect_eq(n, strlen(cases[i].out), "%s: %zu", cases[i].what, n);
		cr_expect(memcmp(out, cases[i].out, n) == 0, "%s: %.*s", cases[i].what, (int)n,
			  (char *)out);
	}
}
