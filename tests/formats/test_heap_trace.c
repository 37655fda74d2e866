/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "formats/heap_trace.h"

#include "base/err.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap.h"
#include "query/analysis.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/made_heap.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define N(rows) (sizeof(rows) / sizeof(*(rows)))

/* The totals of all measures of an event. */
static void totals(const struct profile *p, const char *event, int64_t to[MEASURE_TEMPORARY + 1])
{
	struct profile_counts counts;
	struct metric m;
	struct weights w;
	struct lens l;

	profile_counts_read(p, &counts);
	lens_init(&l, p);
	cr_assert_eq(metric_find(p, event, "", &m, NULL), 0);
	l.n_columns = MEASURE_TEMPORARY + 1;
	for (uint32_t i = 0; i < l.n_columns; i++)
		l.column[i].metric = (struct metric){ m.event, (enum measure)i, false };
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	for (uint32_t i = 0; i < l.n_columns; i++)
		to[i] = w.total[i];
	weights_done(&w);
	lens_done(&l);
}

/* Stories: what threads did, block by block, and what the profile must say. */
/* clang-format off */
#define A(t, i, s, bytes) { .op = HEAP_ALLOC, .time = t, .id = i, .stack = s, .size = bytes }
#define F(t, i)           { .op = HEAP_FREE, .time = t, .id = i, .stack = 1 }
#define R(t, old, i, s, bytes) \
	{ .op = HEAP_REALLOC, .time = t, .old_id = old, .id = i, .stack = s, .size = bytes }
#define E(t, i, at)       { .op = HEAP_EVICT, .time = t, .id = i, .address = at }
#define G(t, n)           { .op = HEAP_GAP, .time = t, .size = n }
#define FA(t, at)         { .op = HEAP_FREE_ADDRESS, .time = t, .old_address = at, .stack = 1 }
#define M(t, k, at, bytes, old, old_bytes) \
	{ .op = HEAP_RANGE, .time = t, .kind = k, .address = at, .size = bytes, \
	  .old_address = old, .old_size = old_bytes, .stack = 3 }

static const struct story {
	const char *name, *event;
	int64_t bytes, calls, peak, leaked, temporary;
	size_t n_blocks;
	struct {
		uint32_t thread;
		uint64_t first_id;
		size_t n;
		struct heap_event e[8];
	} block[4];
} stories[] = {
	{ "one thread", "malloc", 157, 3, 150, 7, 1, 1,
	  { { 1, 1, 5, { A(1, 1, 1, 100), A(2, 2, 2, 50), F(3, 2), F(4, 1), A(5, 3, 3, 7) } } } },
	{ "all at one time, and one freed twice", "malloc", 157, 3, 150, 7, 1, 1,
	  { { 1, 1, 6, { A(1, 1, 1, 100), A(1, 2, 2, 50), F(1, 2), F(1, 2), F(1, 1), A(1, 3, 3, 7) } } } },
	{ "a realloc is a release and an allocation at once", "malloc", 310, 3, 150, 60, 0, 1,
	  { { 1, 1, 3, { A(1, 1, 1, 100), R(2, 1, 2, 1, 150), R(3, 2, 3, 1, 60) } } } },
	{ "a free whose block comes before that of its allocation", "malloc", 140, 3, 100, 40, 0, 2,
	  { { 2, 257, 2, { F(5, 1), A(6, 257, 2, 10) } },
	    { 1, 1, 2, { A(1, 1, 1, 100), A(9, 2, 1, 30) } } } },
	{ "a free before its allocation, by clocks that differ", "malloc", 110, 2, 100, 10, 0, 2,
	  { { 2, 257, 1, { F(5, 1) } },
	    { 1, 1, 2, { A(6, 1, 1, 100), A(7, 2, 1, 10) } } } },
	{ "forgotten and freed by address; other addresses mean nothing", "malloc",
	  100, 1, 100, 0, 0, 1,
	  { { 1, 1, 5, { A(1, 1, 1, 100), E(2, 1, 0x500), FA(3, 0x508), FA(4, 0x500), FA(5, 0x500) } } } },
	{ "freed by another thread is not temporary", "malloc", 100, 1, 100, 0, 0, 2,
	  { { 1, 1, 1, { A(1, 1, 1, 100) } },
	    { 2, 0, 1, { F(2, 1) } } } },
	{ "an id that is taken twice, and one that cannot be", "malloc", 151, 3, 151, 51, 0, 3,
	  { { 1, 1, 1, { A(1, 1, 1, 100) } },
	    { 1, 1, 1, { A(2, 1, 1, 50) } },
	    { 1, (uint64_t)1 << 40, 2, { A(3, 0, 1, 1), F(4, 1) } } } },
	{ "sizes that cannot be, each alone or together", "malloc", 162, 3, 150, 12, 0, 1,
	  { { 1, 1, 7, { A(1, 1, 1, 100), A(2, 2, 1, SIZE_MOST + 1), F(3, 2), A(4, 3, 1, 50),
			 R(5, 3, 4, 1, UINT64_MAX), F(6, 1), A(7, 5, 1, 12) } } } },
	{ "as much mapped at once as cannot be", "mmap", 0x1000, 1, 0x1000, 0x1000, 0, 1,
	  { { 1, 1, 3, { M(1, HEAP_MAP, 0x10000, SIZE_MOST + 1, 0, 0),
			 M(2, HEAP_MAP, 0x10000, 0x1000, 0, 0),
			 M(3, HEAP_BREAK, UINT64_MAX, 0, 0x20000, 0) } } } },
	{ "ids that are nobody's; what was culled in between, a block is not temporary", "malloc",
	  111, 3, 100, 10, 1, 1,
	  { { 1, 1, 8, { A(1, 1, 1, 100), G(2, 700), F(3, 1), A(4, 702, 1, 10), A(5, 703, 1, 1),
			 F(6, 703), F(7, 500), F(8, 2) } } } },
	{ "mapped memory, of which a part is given back", "mmap", 0x8000, 4, 0x4000, 0x4000, 0, 1,
	  { { 1, 1, 3, { M(1, HEAP_MAP, 0x10000, 0x4000, 0, 0),
			 M(2, HEAP_UNMAP, 0x11000, 0x1000, 0, 0),
			 M(3, HEAP_MAP, 0x20000, 0x1000, 0, 0) } } } },
	{ "remapped, and mapped over", "mmap", 0x5000, 3, 0x2000, 0x2000, 0, 1,
	  { { 1, 1, 3, { M(1, HEAP_MAP, 0x10000, 0x1000, 0, 0),
			 M(2, HEAP_REMAP, 0x30000, 0x2000, 0x10000, 0x1000),
			 M(3, HEAP_MAP, 0x30000, 0x2000, 0, 0) } } } },
	{ "the heap's end moves up and down", "mmap", 0x3000, 2, 0x2000, 0x1000, 0, 1,
	  { { 1, 1, 3, { M(1, HEAP_BREAK, 0x3000, 0, 0x1000, 0),
			 M(2, HEAP_BREAK, 0x1000, 0, 0x3000, 0),
			 M(3, HEAP_BREAK, 0x2000, 0, 0x1000, 0) } } } },
};
/* clang-format on */

static void tell_story(struct made_heap *h, const struct story *s)
{
	made_heap_begin(h);
	for (size_t i = 0; i < s->n_blocks; i++)
		made_heap_events(h, s->block[i].thread, s->block[i].first_id, s->block[i].e,
				 s->block[i].n);
	made_heap_end(h);
}

Test(heap_trace, stories)
{
	for (size_t i = 0; i < 4 * N(stories); i++) {
		const struct story *s = &stories[i / 4];
		int64_t sum[MEASURE_TEMPORARY + 1];
		struct made_heap h;
		struct profile *p;

		made_heap_init(&h);
		h.packed = i % 2;
		h.free_stacks = i / 2 % 2;
		tell_story(&h, s);
		p = made_heap_read(&h);
		totals(p, s->event, sum);
		cr_expect_eq(sum[MEASURE_WEIGHT], s->bytes, "%s", s->name);
		cr_expect_eq(sum[MEASURE_SAMPLES], s->calls, "%s", s->name);
		cr_expect_eq(sum[MEASURE_PEAK], s->peak, "%s", s->name);
		cr_expect_eq(sum[MEASURE_LEAKED], s->leaked, "%s", s->name);
		cr_expect_eq(sum[MEASURE_TEMPORARY], s->temporary, "%s", s->name);
		cr_expect_null(made_heap_fact(p, "not finished"));
		profile_free(p);
		made_heap_done(&h);
	}
}

/* What is claimed to be larger than any memory, or than what sums can hold, is left out, and that is told. */
Test(heap_trace, sizes_that_cannot_be_are_told)
{
	enum { N_MOST = 40 };
	static const struct heap_record claims[] = {
		{ .type = HEAP_REC_CULLED, .number = { 1, 1, 1, 7, UINT64_MAX, 0 } },
		{ .type = HEAP_REC_SAMPLING, .number = { 60, UINT64_MAX, 0 } },
	};
	struct heap_event e[N_MOST];
	int64_t sum[MEASURE_TEMPORARY + 1];
	struct made_heap h;
	struct profile *p;

	for (uint64_t i = 0; i < N_MOST; i++)
		e[i] = (struct heap_event)A(i + 1, i + 1, 1, SIZE_MOST);
	made_heap_init(&h);
	made_heap_begin(&h);
	made_heap_events(&h, 1, 1, e, N_MOST);
	made_heap_records(&h, claims, N(claims));
	made_heap_end(&h);
	p = made_heap_read(&h);
	totals(p, "malloc", sum);
	cr_expect_eq(sum[MEASURE_WEIGHT], (int64_t)SIZE_SUM_MOST);
	cr_expect_eq(sum[MEASURE_PEAK], (int64_t)SIZE_SUM_MOST);
	cr_expect_str_eq(made_heap_fact(p, "sizes"),
			 "8 allocations of more bytes than there can be: left out");
	cr_expect_str_eq(made_heap_fact(p, "records"), "2 records without sense");
	profile_free(p);
	made_heap_done(&h);
}

/* Each of several traces may be believed, all together are more than sums can hold. */
Test(heap_trace, sums_of_several_hold)
{
	enum { N_MOST = 20, N_TRACES = 4 };
	static const struct heap_record culled = { .type = HEAP_REC_CULLED,
						   .number = { 1, 1, 1, 1, SIZE_MOST, 0 } };
	struct heap_event e[N_MOST];
	int64_t sum[MEASURE_TEMPORARY + 1];
	struct made_heap h;
	struct profile *p;

	for (uint64_t i = 0; i < N_MOST; i++)
		e[i] = (struct heap_event)A(i + 1, i + 1, 1, SIZE_MOST);
	made_heap_init(&h);
	made_heap_begin(&h);
	made_heap_events(&h, 1, 1, e, N_MOST);
	made_heap_records(&h, &culled, 1);
	made_heap_end(&h);
	p = made_heap_read(&h);
	for (int i = 1; i < N_TRACES; i++)
		made_heap_read_again(&h, p);
	totals(p, "malloc", sum);
	cr_expect_eq(sum[MEASURE_WEIGHT], (int64_t)SIZE_SUM_MOST);
	cr_expect_eq(sum[MEASURE_LEAKED], (int64_t)(SIZE_SUM_MOST - SIZE_MOST));
	cr_expect_str_eq(made_heap_fact(p, "sizes"),
			 "9 allocations of more bytes than there can be: left out");
	cr_expect_str_eq(made_heap_fact(p, "records"), "1 record without sense");
	profile_free(p);
	made_heap_done(&h);
}

Test(heap_trace, stacks_have_the_threads_name_and_places_in_modules)
{
	struct stack_columns stacks;
	struct location_columns places;
	struct heap_columns c;
	const struct function *root;
	struct made_heap h;
	struct profile *p;
	uint32_t at;

	made_heap_init(&h);
	tell_story(&h, &stories[0]);
	p = made_heap_read(&h);
	profile_heap(p, &c);
	profile_stacks(p, &stacks);
	profile_locations(p, &places);
	at = c.origins[allocation_origin(&c, 2)].stack;
	for (int i = 0; i < 3; i++, at = stacks.parent[at])
		cr_expect_eq(places.address[stacks.location[at]], 0x2f - 0x10 * (uint64_t)i);
	root = profile_function(p, (function_id){ places.function[stacks.location[at]] });
	cr_expect(root->flags & FUNCTION_COMM);
	cr_expect_str_eq(profile_string(p, root->name, NULL), "main");
	cr_expect_eq(stacks.parent[at], 0);
	cr_expect_eq(c.origins[allocation_release(&c, 0)].stack,
		     stacks.parent[stacks.parent[c.origins[allocation_origin(&c, 2)].stack]],
		     "who freed it");
	profile_free(p);
	made_heap_done(&h);
}

/* A thread whose name could not be read any more, as it had ended. */
Test(heap_trace, threads_without_a_name_have_that_of_their_process)
{
	const struct heap_record unnamed = { .type = HEAP_REC_THREAD, .number = { 0, 3, 9 } };
	struct profile_counts counts;
	struct made_heap h;
	struct profile *p;

	made_heap_init(&h);
	made_heap_begin(&h);
	made_heap_records(&h, &unnamed, 1);
	made_heap_end(&h);
	p = made_heap_read(&h);
	profile_counts_read(p, &counts);
	cr_assert_gt(counts.n_threads, 0);
	cr_expect_str_eq(
		profile_string(p, profile_thread(p, (thread_id){ counts.n_threads - 1 })->name,
			       NULL),
		"prog");
	profile_free(p);
	made_heap_done(&h);
}

Test(heap_trace, what_is_beside_the_events)
{
	static const struct heap_event e[] = { A(1000, 1, 1, 5) };
	const struct heap_record records[] = {
		{ .type = HEAP_REC_USAGE, .number = { 500, 4096, 0, 0, 0, 3, 1 } },
		{ .type = HEAP_REC_USAGE, .number = { 900, 8192, 0, 0, 0, 4, 1 } },
		{ .type = HEAP_REC_MARK,
		  .number = { 700, 1 },
		  .text = { { (const uint8_t *)"phase", 5 } } },
		{ .type = HEAP_REC_CULLED, .number = { 1, 0, 2, 10, 200, 5, 2 } },
		{ .type = HEAP_REC_LOST, .number = { 1, 1, 3 } },
	};
	int64_t sum[MEASURE_TEMPORARY + 1];
	struct heap_columns c;
	struct made_heap h;
	struct profile *p;

	made_heap_init(&h);
	made_heap_begin(&h);
	made_heap_events(&h, 1, 1, e, N(e));
	made_heap_records(&h, records, N(records));
	p = made_heap_read(&h);
	totals(p, "malloc", sum);
	cr_expect_eq(sum[MEASURE_WEIGHT], 205);
	cr_expect_eq(sum[MEASURE_SAMPLES], 11);
	cr_expect_eq(sum[MEASURE_LEAKED], 5);
	profile_heap(p, &c);
	cr_expect_eq(c.n_marks, 1);
	cr_expect_eq(profile_heap_marks(p)[0].time_ns, 1000700000);
	cr_expect_eq(c.n_readings, 6);
	cr_expect_eq(profile_heap_readings(p)[0].value, 4096);
	cr_expect_eq(strncmp(made_heap_fact(p, "lost"), "3 events ", 9), 0);
	cr_expect_not_null(made_heap_fact(p, "not finished"));
	profile_free(p);
	made_heap_done(&h);
}

/* One pause that ends, and one that is said twice and lasts until the end. */
/* What bears on a heap is shown, the rest counted; a note of what is missing is a loss. */
Test(heap_trace, environment_and_notes)
{
	static const char all[] =
		"PATH=/bin\0MALLOC_ARENA_MAX=1\0LD_PRELOAD=/x.so\0MALLOCNOT=1\0G_SLICE=\0odd\0GOGC=2";
	static const char missing[] = "x in y: its calls are not recorded",
			  plain[] = "x in y: fine";
	struct heap_record r[] = {
		{ .type = HEAP_REC_ENVIRONMENT,
		  .text = { { (const uint8_t *)all, sizeof(all) - 1 } } },
		{ .type = HEAP_REC_NOTE, .text = { { (const uint8_t *)plain, strlen(plain) } } },
		{ .type = HEAP_REC_NOTE,
		  .text = { { (const uint8_t *)missing, strlen(missing) } } },
	};
	static const struct {
		const char *name, *text;
	} facts[] = {
		{ "MALLOC_ARENA_MAX", "1" },
		{ "LD_PRELOAD", "/x.so" },
		{ "G_SLICE", "" },
		{ "GOGC", "2" },
		{ "PATH", NULL },
		{ "MALLOCNOT", NULL },
		{ "others", "3, kept in the file" },
		{ "note", plain },
		{ "note 2", missing },
	};
	struct profile_counts n;
	struct made_heap h;
	struct profile *p;

	made_heap_init(&h);
	made_heap_begin(&h);
	made_heap_records(&h, r, N(r));
	made_heap_end(&h);
	p = made_heap_read(&h);
	for (size_t i = 0; i < N(facts); i++) {
		const char *text = made_heap_fact(p, facts[i].name);

		cr_expect_eq(text == NULL, facts[i].text == NULL, "%s", facts[i].name);
		if (text && facts[i].text)
			cr_expect_str_eq(text, facts[i].text);
	}
	profile_counts_read(p, &n);
	for (uint32_t i = 0; i < n.n_facts; i++) {
		struct fact f = profile_fact(p, i);

		if (strncmp(profile_string(p, f.name, NULL), "note", 4) == 0)
			cr_expect_eq(f.kind == FACT_LOSS,
				     strcmp(profile_string(p, f.text, NULL), missing) == 0);
	}
	profile_free(p);
	made_heap_done(&h);
}

Test(heap_trace, for_how_long_it_was_paused)
{
	static const struct heap_event e[] = { A(0, 1, 1, 5), A(100, 2, 1, 5) };
	static const struct heap_record switches[] = {
		{ .type = HEAP_REC_SWITCH, .number = { 10, 0 } },
		{ .type = HEAP_REC_SWITCH, .number = { 30, 1 } },
		{ .type = HEAP_REC_SWITCH, .number = { 50, 0 } },
		{ .type = HEAP_REC_SWITCH, .number = { 60, 0 } },
	};

	for (size_t n = 0; n <= N(switches); n += N(switches)) {
		struct made_heap h;
		struct profile *p;

		made_heap_init(&h);
		made_heap_begin(&h);
		made_heap_events(&h, 1, 1, e, N(e));
		if (n > 0)
			made_heap_records(&h, switches, n);
		made_heap_end(&h);
		p = made_heap_read(&h);
		if (n > 0)
			cr_expect_str_eq(
				made_heap_fact(p, "paused"),
				"2 times, in all for about 70.0 µs: what was allocated then is not known");
		else
			cr_expect_null(made_heap_fact(p, "paused"));
		profile_free(p);
		made_heap_done(&h);
	}
}

/* Nothing is lost where a program became another one; if it stayed what it was, the end is missing. */
Test(heap_trace, a_program_that_became_another_one)
{
	static const struct heap_event e[] = { A(1, 1, 1, 100), A(2, 2, 1, 10) };

	for (int goes_on = 0; goes_on < 2; goes_on++) {
		const struct heap_record exec = {
			.type = HEAP_REC_EXEC,
			.number = { 3 },
			.text = { { (const uint8_t *)"/bin/env", 8 } },
		};
		struct made_heap h;
		struct profile *p;

		made_heap_init(&h);
		made_heap_begin(&h);
		made_heap_events(&h, 1, 1, e, 1);
		made_heap_records(&h, &exec, 1);
		if (goes_on)
			made_heap_events(&h, 1, 2, e + 1, 1);
		p = made_heap_read(&h);
		cr_expect_str_eq(made_heap_fact(p, "became"), "/bin/env");
		cr_expect_eq(made_heap_fact(p, "not finished") != NULL, goes_on);
		cr_expect_eq(made_heap_fact(p, "ended") != NULL, !goes_on);
		profile_free(p);
		made_heap_done(&h);
	}
}

/*
 * Blocks were dropped, whose events were up to a time: what is left of that time is left out, be it a free or an
 * allocation, and a free of an allocation of then is nothing that is lost.
 */
Test(heap_trace, what_came_after_events_that_were_dropped)
{
	static const struct heap_event e[] = { A(1, 1, 1, 100),  A(2, 2, 1, 10), F(3, 1),
					       A(4, 3, 1, 1000), A(5, 4, 1, 7),  F(6, 2),
					       F(7, 4),          A(8, 5, 1, 20) };
	/* By the time up to which events were dropped. */
	static const struct {
		int64_t bytes, calls, leaked, peak;
		size_t n_unknown; /* frees */
	} want[] = {
		{ 1137, 5, 1020, 1020, 0 }, { 1037, 4, 1020, 1020, 1 }, { 1027, 3, 1020, 1020, 2 },
		{ 1027, 3, 1020, 1020, 1 }, { 27, 2, 20, 20, 1 },       { 20, 1, 20, 20, 2 },
		{ 20, 1, 20, 20, 1 },       { 20, 1, 20, 20, 0 },
	};

	for (size_t i = 0; i < N(want); i++) {
		int64_t sum[MEASURE_TEMPORARY + 1];
		char unknown[64] = "";
		struct made_heap h;
		struct profile *p;

		made_heap_init(&h);
		made_heap_begin(&h);
		made_heap_skipped(&h, 70000, i);
		made_heap_events(&h, 1, 1, e, N(e));
		made_heap_end(&h);
		p = made_heap_read(&h);
		totals(p, "malloc", sum);
		cr_expect_eq(sum[MEASURE_WEIGHT], want[i].bytes, "%zu: %ld", i,
			     (long)sum[MEASURE_WEIGHT]);
		cr_expect_eq(sum[MEASURE_SAMPLES], want[i].calls, "%zu", i);
		cr_expect_eq(sum[MEASURE_LEAKED], want[i].leaked, "%zu", i);
		cr_expect_eq(sum[MEASURE_PEAK], want[i].peak, "%zu: %ld", i,
			     (long)sum[MEASURE_PEAK]);
		snprintf(unknown, sizeof(unknown), "70,00%zu events", i);
		cr_expect_eq(strncmp(made_heap_fact(p, "dropped"), unknown, 13), 0, "%s",
			     made_heap_fact(p, "dropped"));
		cr_expect_null(made_heap_fact(p, "frees"));
		if (want[i].n_unknown) {
			snprintf(unknown, sizeof(unknown), "%zu, of", want[i].n_unknown);
			cr_assert_not_null(made_heap_fact(p, "frees of other blocks"), "%zu", i);
			cr_expect_eq(
				strncmp(made_heap_fact(p, "frees of other blocks"), unknown, 5), 0);
		} else {
			cr_expect_null(made_heap_fact(p, "frees of other blocks"));
		}
		profile_free(p);
		made_heap_done(&h);
	}
}

/* Each block stands for as many as the rate says that held when it was made, also when it lives on. */
Test(heap_trace, rates_of_sampling_that_change)
{
	static const struct heap_event e[] = { A(10, 1, 1, 100),  A(20, 2, 2, 100),
					       A(30, 3, 1, 5000), A(40, 4, 1, 5000),
					       F(45, 2),          A(50, 5, 3, 100) };
	static const struct heap_record sampling[] = {
		{ .type = HEAP_REC_SAMPLING, .number = { 0, 1000, 0 } },
		{ .type = HEAP_REC_SAMPLING, .number = { 20, 200, 0 } },
		{ .type = HEAP_REC_SAMPLING, .number = { 35, 100000, 5000 } },
		{ .type = HEAP_REC_SAMPLING, .number = { 50, 0, 0 } },
	};
	const double n[] = { -1 / expm1(-0.1), -1 / expm1(-0.5), -1 / expm1(-25.0), 1, 1 };
	const double leaked = 100 * n[0] + 5000 * n[2] + 5000 * n[3] + 100 * n[4];
	const double most = 100 * (n[0] + n[1]) + 5000 * (n[2] + n[3]);

	for (int after = 0; after < 2; after++) {
		int64_t sum[MEASURE_TEMPORARY + 1];
		struct made_heap h;
		struct profile *p;

		made_heap_init(&h);
		made_heap_begin(&h);
		made_heap_records(&h, sampling, 1);
		if (!after)
			made_heap_records(&h, sampling + 1, N(sampling) - 1);
		made_heap_events(&h, 1, 1, e, N(e));
		if (after)
			made_heap_records(&h, sampling + 1, N(sampling) - 1);
		made_heap_end(&h);
		p = made_heap_read(&h);
		totals(p, "malloc", sum);
		cr_expect_float_eq((double)sum[MEASURE_WEIGHT], leaked + 100 * n[1], 3);
		cr_expect_float_eq((double)sum[MEASURE_LEAKED], leaked, 3);
		cr_expect_float_eq((double)sum[MEASURE_PEAK], most, 3);
		cr_expect_eq(strncmp(made_heap_fact(p, "sampling"), "at 4 rates", 10), 0);
		profile_free(p);
		made_heap_done(&h);
	}
}

/* All whole blocks of a file that ends anywhere. */
Test(heap_trace, cut_anywhere)
{
	struct made_heap h;

	made_heap_init(&h);
	tell_story(&h, &stories[2]);
	for (size_t n = 0; n < h.bytes.n; n++) {
		struct err e = ERR_INIT;
		struct profile *p;
		int rc = made_heap_read_bytes(h.bytes.at, n, NULL, &p, &e);

		if (n < HEAP_FILE_HEADER_SIZE) {
			cr_expect_eq(rc, -EBADMSG);
			cr_expect_eq(strncmp(err_text(&e), "x: ", 3), 0, "%s", err_text(&e));
		} else {
			cr_expect_eq(rc, 0, "%zu: %s", n, err_text(&e));
			cr_expect_not_null(made_heap_fact(p, "not finished"));
		}
		err_clear(&e);
		profile_free(p);
	}
	made_heap_done(&h);
}

Test(heap_trace, damage_is_stepped_over_and_said)
{
	int64_t sum[MEASURE_TEMPORARY + 1];
	struct made_heap h;
	struct profile *p;
	size_t at;

	made_heap_init(&h);
	made_heap_begin(&h);
	at = h.bytes.n;
	made_heap_events(&h, stories[0].block[0].thread, 1, stories[0].block[0].e, 5);
	h.bytes.at[h.bytes.n - 1] ^= 1;
	made_heap_events(&h, 1, 257, (struct heap_event[]){ A(50, 257, 1, 9) }, 1);
	made_heap_end(&h);
	p = made_heap_read(&h);
	totals(p, "malloc", sum);
	cr_expect_eq(sum[MEASURE_WEIGHT], 9);
	cr_expect_not_null(made_heap_fact(p, "damaged"));
	cr_expect_not_null(strstr(made_heap_fact(p, "damaged"), "at offset"));
	cr_expect_eq(strtoul(strstr(made_heap_fact(p, "damaged"), "offset ") + 7, NULL, 10), at);
	profile_free(p);
	made_heap_done(&h);
}

/* Does a file stand behind this memory? */
static bool is_in_file(const void *at)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long from, to, inode = 0;
	char line[512];
	bool found = false;

	cr_assert_not_null(maps);
	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%llx-%llx %*s %*s %*s %llu", &from, &to, &inode) == 3 &&
			from <= (uintptr_t)at && (uintptr_t)at < to;
	fclose(maps);
	cr_assert(found);
	return inode != 0;
}

/* What of an allocation is in files, of all that grows with their number: none of it, or all. */
static void expect_rows_in_files(const struct heap_columns *c, bool in_files)
{
	const void *const column[] = { c->group, c->step, c->size, c->origin, c->end };

	for (size_t i = 0; i < N(column); i++)
		cr_expect_eq(is_in_file(column[i]), in_files, "column %zu", i);
}

/* 14 bytes an allocation, as frees have stacks; so many that tables grow. */
Test(heap_trace, tables_that_are_too_large_are_in_files)
{
	enum { BLOCKS = 8, EACH = 60000 };
	static const uint64_t memory[] = { 14 * BLOCKS * EACH + 20, 14 * BLOCKS * EACH - 20 };
	struct heap_event *e = xcalloc(EACH, sizeof(*e));
	struct err err = ERR_INIT;
	struct profile *p[2];
	struct heap_columns c[2];
	struct made_heap h;

	made_heap_init(&h);
	made_heap_begin(&h);
	for (uint32_t i = 0; i < BLOCKS; i++) {
		uint64_t first = 1 + ((uint64_t)i << 16);

		for (uint32_t k = 0; k < EACH; k++)
			e[k] = (struct heap_event)A((uint64_t)i * EACH + k, first + k, 1 + k % 3,
						    k % 5000);
		made_heap_events(&h, 1, first, e, EACH);
	}
	made_heap_end(&h);
	for (int i = 0; i < 2; i++) {
		struct read_options o = { .memory_bytes = memory[i] };

		cr_assert_eq(made_heap_read_bytes(h.bytes.at, h.bytes.n, &o, &p[i], &err), 0);
		profile_heap(p[i], &c[i]);
		cr_expect_eq(c[i].n_allocations, BLOCKS * EACH);
	}
	cr_expect_null(made_heap_fact(p[0], "allocations"));
	cr_expect_not_null(made_heap_fact(p[1], "allocations"));
	cr_expect(made_heap_same(&c[0], &c[1]));
	expect_rows_in_files(&c[0], false);
	expect_rows_in_files(&c[1], true);
	profile_free(p[0]);
	profile_free(p[1]);
	made_heap_done(&h);
	free(e);
}

/* The sentence about --max-overhead has the shares of what was told last, rounded once, and says when they are above the limit. */
Test(heap_trace, what_recording_took_is_said)
{
	static const struct {
		uint64_t program, recording, passing, n_passed; /* µs */
		const char *says;
	} cases[] = {
		{ 0, 0, 0, 0,
		  "to be kept to 2% of the program's own time by recording fewer allocations; "
		  "what it took is not told" },
		{ 100000, 1250, 700, 5000,
		  "2% of the program's own time, of 2% allowed; of that, 0.7% for 5,000 calls "
		  "that were not recorded" },
		{ 100000, 1350, 710, 5000,
		  "2.1% of the program's own time, not the 2% allowed; of that, 0.7% for 5,000 "
		  "calls that were not recorded" },
		{ 100000, 500, 20100, 5000,
		  "20.6% of the program's own time, not the 2% allowed; the program allows no less "
		  "than 20.1%, which is what 5,000 calls take that are not recorded" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct heap_record records[] = {
			{ .type = HEAP_REC_OVERHEAD, .number = { 1, 20000 } },
			{ .type = HEAP_REC_COST, .number = { 2, 1000, 999, 0, 1 } },
			{ .type = HEAP_REC_COST,
			  .number = { 3, cases[i].program, cases[i].recording, cases[i].passing,
				      cases[i].n_passed } },
		};
		struct made_heap h;
		struct profile *p;

		made_heap_init(&h);
		made_heap_begin(&h);
		made_heap_records(&h, records, N(records));
		made_heap_end(&h);
		p = made_heap_read(&h);
		cr_expect_str_eq(made_heap_fact(p, "overhead"), cases[i].says);
		profile_free(p);
		made_heap_done(&h);
	}
}

Test(heap_trace, any_bytes)
{
	for (size_t i = 0; i < N(stories); i++) {
		struct made_heap h;

		made_heap_init(&h);
		tell_story(&h, &stories[i]);
		fuzz_vary(fuzz_heap_trace, h.bytes.at, h.bytes.n, 150);
		made_heap_done(&h);
	}
}
