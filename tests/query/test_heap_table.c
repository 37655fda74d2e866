/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables about a heap: against a replay of what happened, and suppressions. */
#include "config.h"

#include "query/heap/heap_table.h"

#include "base/err.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/heap/footprint.h"
#include "query/heap/suppressions.h"
#include "tests/support/made_profile.h"
#include "tests/support/made_story.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct footprint *footprint_of(const struct profile *p, const char *filter)
{
	struct profile_counts counts;
	struct footprint *f;
	struct lens l;

	profile_counts_read(p, &counts);
	made_lens(&l, p, filter);
	cr_assert_eq(footprint_new(p, &counts, &l, lens_usual_metric(p, NULL), NULL, &f), 0);
	lens_done(&l);
	return f;
}

static struct heap_table *ask(const struct footprint *f, enum heap_question q)
{
	struct heap_table *t;

	cr_assert_eq(heap_table_new(f, q, NULL, NULL, &t), 0);
	return t;
}

/* The sum of a column. */
static int64_t sum(const struct heap_table *t, int column)
{
	int64_t all = 0;

	for (size_t i = 0; i < t->rows.n; i++)
		all += t->rows.at[i].cell[column];
	return all;
}

static const struct heap_table_row *labelled(const struct heap_table *t, const char *label)
{
	for (size_t i = 0; i < t->rows.n; i++)
		if (t->rows.at[i].label && strcmp(t->rows.at[i].label, label) == 0)
			return &t->rows.at[i];
	return NULL;
}

/* How many blocks of a story have a size in [from, to), and how many bytes those that never died have. */
static int64_t sized(const struct story *s, uint64_t from, uint64_t to, int64_t *leaked)
{
	int64_t n = 0;

	*leaked = 0;
	for (uint32_t i = 0; i < s->n_blocks; i++) {
		const struct block *b = &s->block[i];

		if (b->size < from || b->size >= to)
			continue;
		n++;
		*leaked += b->died == UINT32_MAX ? (int64_t)b->size : 0;
	}
	return n;
}

Test(heap_table, sizes_are_a_replay)
{
	for (unsigned seed = 1; seed < 6; seed++) {
		struct story *s = story_new(seed);
		struct footprint *f = footprint_of(s->p, "");
		struct heap_table *t = ask(f, HEAP_SIZES);
		const struct heap_table_row *row = labelled(t, "1.02 kB – 2.05 kB");
		int64_t leaked;

		cr_assert_not_null(row);
		cr_expect_eq(row->cell[0], sized(s, 1024, 2048, &leaked));
		cr_expect_eq(row->cell[4], leaked);
		cr_expect_str_eq(row->filter, "size:1024,2048");
		cr_expect_eq(sum(t, 0), s->n_blocks);
		heap_table_free(t);
		footprint_free(f);
		story_free(s);
	}
}

/* Times of a story are microseconds apart and more, as ticks tell them. */
Test(heap_table, lifetimes_are_a_replay)
{
	for (unsigned seed = 1; seed < 6; seed++) {
		struct story *s = story_new(seed);
		struct footprint *f = footprint_of(s->p, "");
		struct heap_table *t = ask(f, HEAP_LIFETIMES);
		int64_t never = 0, bytes = 0;

		for (uint32_t i = 0; i < s->n_blocks; i++) {
			never += s->block[i].died == UINT32_MAX;
			bytes += (int64_t)s->block[i].size;
		}
		cr_expect_eq(sum(t, 0), s->n_blocks);
		cr_expect_eq(sum(t, 2), bytes);
		cr_expect_eq(never > 0, labelled(t, "never freed") != NULL);
		if (never > 0)
			cr_expect_eq(labelled(t, "never freed")->cell[0], never);
		heap_table_free(t);
		footprint_free(f);
		story_free(s);
	}
}

/* What a replay says of the blocks of a site. */
struct replayed {
	int64_t n, bytes, freed, leaked, lived_ns;
};

static struct replayed replay_of(const struct story *s, uint32_t stack)
{
	struct replayed r = { 0 };

	for (uint32_t i = 0; i < s->n_blocks; i++) {
		const struct block *b = &s->block[i];

		if (b->stack != stack)
			continue;
		r.n++;
		r.bytes += (int64_t)b->size;
		if (b->died == UINT32_MAX) {
			r.leaked += (int64_t)b->size;
			continue;
		}
		r.freed++;
		r.lived_ns += s->deed[b->died].time_ns - s->deed[b->born].time_ns;
	}
	return r;
}

Test(heap_table, averages_of_allocators_are_a_replay)
{
	for (unsigned seed = 1; seed < 6; seed++) {
		struct story *s = story_new(seed);
		struct footprint *f = footprint_of(s->p, "");
		struct heap_table *t = ask(f, HEAP_ALLOCATORS);

		cr_assert_eq(t->rows.n, STORY_STACKS);
		for (size_t i = 0; i < t->rows.n; i++) {
			const struct heap_table_row *row = &t->rows.at[i];
			const char *name = f->keys.key[row->key].label;
			struct replayed r = replay_of(s, (uint32_t)(name[1] - '0'));

			cr_assert_eq(name[0], 'f');
			cr_expect_eq(row->cell[ALLOCATORS_CALLS], r.n);
			cr_expect_eq(row->cell[ALLOCATORS_BYTES], r.bytes);
			cr_expect_eq(row->cell[ALLOCATORS_MEAN_SIZE],
				     llround((double)r.bytes / (double)r.n));
			cr_expect_eq(row->cell[ALLOCATORS_FREED], r.freed);
			cr_expect_eq(row->cell[ALLOCATORS_LEAKED], r.leaked);
			cr_expect_eq(row->cell[ALLOCATORS_LIVE], r.leaked);
			cr_assert_not_null(row->line_over_time);
			cr_expect_eq(row->line_over_time[HEAP_LINE - 1], r.leaked);
			cr_assert_gt(r.freed, 0);
			/* As exactly as times are kept, see build_moment(). */
			cr_expect_leq(llabs(row->cell[ALLOCATORS_MEAN_LIFE] - r.lived_ns / r.freed),
				      1000 + f->whole_ns / 500000);
		}
		heap_table_free(t);
		footprint_free(f);
		story_free(s);
	}
}

/* A block of 5 ms, and, if only_counted, 50 of which no lifetimes are known. */
static struct profile *brief(uint32_t lacks, bool only_counted)
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	struct heap_bulk bulk = { .calls = 50, .bytes = 5000, .temporary = 40 };
	allocation_id block;
	origin_id by;
	track_id t;

	builder_begin(p);
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, 0);
	build_heap_lacks(p, t, lacks);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	o.stack = build_stack(p, (stack_id){ 0 },
			      build_symbol_location(
				      p, build_function(p, build_cstring(p, "brief"),
							build_module(p, "prog", "", FAMILY_PROGRAM),
							0, (string_id){ 0 }, 0)))
			  .v;
	by = build_heap_origin(p, &o);
	build_moment(p, t, 1000000);
	block = build_allocation(p, t, 100, by);
	bulk.origin = by.v;
	if (only_counted)
		build_bulk(p, &bulk);
	build_moment(p, t, 6000000);
	build_release(p, block, t, false, by);
	builder_end(p);
	return p;
}

Test(heap_table, unknown_lifetimes_have_no_average)
{
	static const struct {
		uint32_t lacks;
		bool only_counted;
		int64_t calls, size, life, freed;
		const char *note; /* NULL: none */
	} cases[] = {
		{ 0, false, 1, 100, 5000000, 1, NULL },
		{ HEAP_LACKS_TIMES, false, 1, 100, CELL_NONE, 1,
		  "the file does not say how long each block lived" },
		{ HEAP_LACKS_LIFETIMES, false, 1, 100, CELL_NONE, 1,
		  "the file does not say how long each block lived" },
		{ 0, true, 51, 100, CELL_NONE, 51,
		  "no average lifetime of 1 site: some of the blocks are known as sums alone" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct profile *p = brief(cases[i].lacks, cases[i].only_counted);
		struct footprint *f = footprint_of(p, "");
		struct heap_table *t = ask(f, HEAP_ALLOCATORS);
		const int64_t *cell;

		cr_assert_eq(t->rows.n, 1);
		cell = t->rows.at[0].cell;
		cr_expect_eq(cell[0], cases[i].calls);
		cr_expect_eq(cell[2], cases[i].size);
		if (cases[i].life == CELL_NONE)
			cr_expect_eq(cell[3], CELL_NONE);
		else
			cr_expect_leq(llabs(cell[3] - cases[i].life), 1000);
		cr_expect_eq(cell[ALLOCATORS_FREED], cases[i].freed);
		cr_assert_eq(t->notes.n, cases[i].note ? 1 : 0);
		if (cases[i].note)
			cr_expect_str_eq(t->notes.at[0], cases[i].note);
		heap_table_free(t);
		footprint_free(f);
		profile_free(p);
	}
}

Test(heap_table, temporaries_and_blocks_are_a_replay)
{
	for (unsigned seed = 1; seed < 6; seed++) {
		struct story *s = story_new(seed);
		struct footprint *f = footprint_of(s->p, "thread:worker");
		struct heap_table *t = ask(f, HEAP_TEMPORARIES);
		int64_t temporary = 0, n = 0;
		uint64_t largest = 0;

		for (uint32_t i = 0; i < s->n_blocks; i++) {
			const struct block *b = &s->block[i];

			if (b->thread != 1)
				continue;
			n++;
			temporary += b->temporary;
			largest = b->size > largest ? b->size : largest;
		}
		cr_expect_eq(sum(t, 0), temporary);
		heap_table_free(t);
		t = ask(f, HEAP_BLOCKS);
		cr_assert_eq((int64_t)t->rows.n, n);
		cr_expect_eq(t->rows.at[0].cell[0], (int64_t)largest);
		for (size_t i = 1; i < t->rows.n; i++)
			cr_assert_geq(t->rows.at[i - 1].cell[0], t->rows.at[i].cell[0]);
		cr_expect_str_eq(t->rows.at[0].label, "worker");
		heap_table_free(t);
		footprint_free(f);
		story_free(s);
	}
}

/* One that grows by realloc, from 8 to 64 bytes, and one that another thread frees. */
static struct profile *growing(void)
{
	static const uint32_t sizes[] = { 8, 16, 32, 64 };
	struct profile *p = profile_new();
	struct heap_origin o = { 0 };
	allocation_id block = { ID_NONE };
	thread_id thread[2];
	origin_id by;
	process_id process;
	track_id t;

	builder_begin(p);
	process = build_process(p, build_capture(p, "x", "y"), 1);
	t = build_heap_track(p, process, 0, 0);
	for (int i = 0; i < 2; i++)
		thread[i] = build_thread(p, process, i, build_cstring(p, i ? "reader" : "writer"));
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	o.thread = thread[0].v;
	o.stack = build_stack(p, (stack_id){ 0 },
			      build_symbol_location(
				      p, build_function(p, build_cstring(p, "grow"),
							build_module(p, "prog", "", FAMILY_PROGRAM),
							0, (string_id){ 0 }, 0)))
			  .v;
	for (size_t i = 0; i < 4; i++) {
		o.flags = i > 0 ? ORIGIN_REALLOC : 0;
		build_moment(p, t, (int64_t)(i + 1) * 1000000);
		by = build_heap_origin(p, &o);
		if (i > 0)
			build_release(p, block, t, false, by);
		block = build_allocation(p, t, sizes[i], by);
	}
	o.thread = thread[1].v;
	build_moment(p, t, 9000000);
	build_release(p, block, t, false, build_heap_origin(p, &o));
	builder_end(p);
	return p;
}

Test(heap_table, reallocs_are_chains)
{
	struct profile *p = growing();
	struct footprint *f = footprint_of(p, "");
	struct heap_table *t = ask(f, HEAP_REALLOCS);

	cr_assert_eq(t->rows.n, 1);
	cr_expect_eq(t->rows.at[0].cell[0], 3);
	cr_expect_eq(t->rows.at[0].cell[1], 3);
	cr_expect_eq(t->rows.at[0].cell[2], 8 + 16 + 32);
	cr_expect_eq(t->rows.at[0].cell[3], 8);
	cr_expect_eq(t->rows.at[0].cell[4], 64);
	heap_table_free(t);
	t = ask(f, HEAP_HANDOFFS);
	cr_assert_eq(t->rows.n, 2);
	cr_assert_not_null(labelled(t, "writer → reader"));
	cr_expect_eq(labelled(t, "writer → reader")->cell[0], 1);
	cr_expect_eq(labelled(t, "writer → itself")->cell[0], 3);
	cr_expect_str_eq(
		t->notes.at[0],
		"another thread than the allocating one freed 25.0 % of 4 blocks whose freer is known");
	heap_table_free(t);
	footprint_free(f);
	profile_free(p);
}

/* Threads of one name: each frees its own, and what another one allocated. */
Test(heap_table, threads_of_one_name_are_several)
{
	struct profile *p = profile_new();
	struct heap_origin o = { 0 };
	thread_id thread[3];
	process_id process;
	struct footprint *f;
	struct heap_table *t;
	track_id track;

	builder_begin(p);
	process = build_process(p, build_capture(p, "x", "y"), 1);
	track = build_heap_track(p, process, 0, 0);
	for (int i = 0; i < 3; i++)
		thread[i] = build_thread(p, process, i, build_cstring(p, i < 2 ? "pool" : "main"));
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	for (int i = 0; i < 9; i++) {
		allocation_id a;

		o.thread = thread[i % 3].v;
		build_moment(p, track, i * 1000);
		a = build_allocation(p, track, 10, build_heap_origin(p, &o));
		o.thread = thread[i / 3].v;
		build_moment(p, track, i * 1000 + 500);
		build_release(p, a, track, false, build_heap_origin(p, &o));
	}
	builder_end(p);
	f = footprint_of(p, "");
	t = ask(f, HEAP_HANDOFFS);
	cr_assert_eq(t->rows.n, 5);
	cr_expect_eq(labelled(t, "pool → itself")->cell[0], 2);
	cr_expect_eq(labelled(t, "pool → another pool")->cell[0], 2);
	cr_expect_eq(labelled(t, "pool → main")->cell[0], 2);
	cr_expect_eq(labelled(t, "main → pool")->cell[0], 2);
	cr_expect_eq(labelled(t, "main → itself")->cell[0], 1);
	cr_expect_eq(t->part, 6);
	cr_expect_eq(t->whole, 9);
	heap_table_free(t);
	footprint_free(f);
	profile_free(p);
}

/* Chunks of glibc: 24 bytes take 32, 25 take 48, none less than 32. */
Test(heap_table, waste_is_what_glibc_takes)
{
	static const uint32_t sizes[] = { 1, 24, 25, 40 };
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	struct footprint *f;
	struct heap_table *t;
	track_id track;

	builder_begin(p);
	track = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, 0);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	for (size_t i = 0; i < 4; i++) {
		build_moment(p, track, 5 + (int64_t)i);
		build_allocation(p, track, sizes[i], build_heap_origin(p, &o));
	}
	builder_end(p);
	f = footprint_of(p, "");
	t = ask(f, HEAP_WASTE);
	cr_expect_eq(sum(t, 1), 90);
	cr_expect_eq(sum(t, 2), 32 + 32 + 48 + 48);
	cr_expect_eq(sum(t, 3), 70);
	heap_table_free(t);
	footprint_free(f);
	profile_free(p);
}

/* A block that comes and goes within one stamp of time, as heaptrack's are coarse, then one that stays. */
static struct profile *spike(int64_t end_ns)
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	allocation_id high;
	track_id t;

	builder_begin(p);
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, 0);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	for (int i = 0; i < 2; i++) {
		o.stack =
			build_stack(p, (stack_id){ 0 },
				    build_symbol_location(
					    p, build_function(
						       p, build_cstring(p, i ? "stay" : "high"),
						       build_module(p, "prog", "", FAMILY_PROGRAM),
						       0, (string_id){ 0 }, 0)))
				.v;
		build_moment(p, t, 1000000);
		high = build_allocation(p, t, i ? 10 : 1000, build_heap_origin(p, &o));
		build_moment(p, t, 1000000);
		if (i == 0)
			build_release(p, high, t, false, (origin_id){ ID_NONE });
	}
	build_moment(p, t, end_ns);
	build_release(p, build_allocation(p, t, 1, build_heap_origin(p, &o)), t, false,
		      (origin_id){ ID_NONE });
	builder_end(p);
	return p;
}

Test(heap_table, what_comes_and_goes_in_one_stamp_of_time_is_seen)
{
	struct profile *p = spike(90000000);
	struct footprint *f = footprint_of(p, "");
	struct heap_table *t = ask(f, HEAP_WASTE);

	cr_assert_eq(f->total[FOOTPRINT_PEAK], 1000);
	cr_expect_eq(sum(t, 1), 1000);
	heap_table_free(t);
	t = ask(f, HEAP_LEAKS);
	cr_assert_eq(t->rows.n, 2);
	cr_expect_eq(t->rows.at[0].cell[5], 10);
	cr_expect_eq(t->rows.at[1].cell[5], 1000);
	heap_table_free(t);
	footprint_free(f);
	profile_free(p);
}

/* A file whose clock stood still knows what leaked, and no growth. */
Test(heap_table, no_time_has_no_verdicts)
{
	struct profile *p = spike(1000000);
	struct footprint *f = footprint_of(p, "");
	struct heap_table *t = ask(f, HEAP_LEAKS);

	cr_assert_geq(t->rows.n, 1u);
	cr_expect_eq(sum(t, 3), 10);
	for (size_t i = 0; i < t->rows.n; i++) {
		cr_expect_str_eq(t->rows.at[i].label, "too short to tell");
		cr_expect_null(t->rows.at[i].remark);
	}
	heap_table_free(t);
	footprint_free(f);
	profile_free(p);
}

/* The most that a site holds is no less than what it held at the peak of all, and no more than all that it was given. */
Test(heap_table, sites_have_held_most_of_what_they_held_at_the_peak)
{
	for (unsigned seed = 1; seed < 4; seed++) {
		struct story *s = story_new(seed);
		struct footprint *f = footprint_of(s->p, "");
		struct heap_table *t = ask(f, HEAP_LEAKS);

		for (size_t i = 0; i < t->rows.n; i++)
			for (uint32_t k = 0; k < f->n_sites; k++)
				if (f->site[k].key == t->rows.at[i].key &&
				    f->site[k].line == t->rows.at[i].line) {
					cr_expect_geq(t->rows.at[i].cell[5],
						      f->site[k].sum[FOOTPRINT_PEAK]);
					cr_expect_leq(t->rows.at[i].cell[5],
						      f->site[k].sum[FOOTPRINT_BYTES]);
				}
		heap_table_free(t);
		footprint_free(f);
		story_free(s);
	}
}

Test(heap_table, suppressions_match_as_those_of_leak_sanitizer)
{
	static const struct {
		const char *pattern, *text;
		bool matches;
	} cases[] = {
		{ "keep", "do_keep_it", true },
		{ "keep", "kee", false },
		{ "^keep", "keeper", true },
		{ "^keep", "a_keep", false },
		{ "keep$", "a_keep", true },
		{ "keep$", "keeper", false },
		{ "a*c", "xxabbcxx", true },
		{ "a*c", "c_a", false },
		{ "^a*c$", "abbc", true },
		{ "^a*c$", "abbcd", false },
		{ "^abc$", "abc", true },
		{ "^abc$", "abcabc", false },
		{ "*", "", true },
		{ "libfoo.so", "/usr/lib/libfoo.so.1", true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		cr_expect_eq(suppressions_match_text(cases[i].pattern, cases[i].text),
			     cases[i].matches, "%s in %s", cases[i].pattern, cases[i].text);
}

Test(heap_table, suppressed_leaks_are_counted)
{
	static const char text[] = "# known\n\nleak:nothing\r\n leak:f4 \n";
	static const char valgrind[] = "# known\n{\n  x\n  Memcheck:Leak\n  fun:f4\n}\n";
	struct story *s = story_new(2);
	struct footprint *f = footprint_of(s->p, "");
	struct suppressions *known, *none = NULL;
	struct heap_table *all = ask(f, HEAP_LEAKS), *t;
	struct err e = ERR_INIT;

	cr_assert_eq(suppressions_parse("known", text, strlen(text), &known, &e), 0);
	cr_assert_eq(heap_table_new(f, HEAP_LEAKS, known, NULL, &t), 0);
	cr_assert_lt(t->rows.n, all->rows.n);
	cr_expect_eq(strncmp(t->notes.at[0], "suppressed: ", 12), 0, "%s", t->notes.at[0]);
	cr_expect_eq(suppressions_parse("bad", "leak:a\nrace:b\n", 14, &none, &e), -EINVAL);
	cr_expect_str_eq(err_text(&e), "bad: line 2 is no suppression: leak:PATTERN is");
	cr_expect_null(none);
	err_clear(&e);
	cr_expect_eq(suppressions_parse("old", valgrind, strlen(valgrind), &none, &e), -EINVAL);
	cr_expect_str_eq(err_text(&e),
			 "old: line 2 begins a suppression of valgrind, which is not read: write "
			 "leak:^NAME$ for the function that it is about");
	err_clear(&e);
	suppressions_free(known);
	heap_table_free(t);
	heap_table_free(all);
	footprint_free(f);
	story_free(s);
}

/* Two processes, each with a block that it keeps; the first ends early where gone_ns says when. */
static struct profile *two_keepers(int64_t gone_ns)
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	capture_id c;

	builder_begin(p);
	c = build_capture(p, "x", "y");
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	o.stack = build_stack(p, (stack_id){ 0 },
			      build_symbol_location(p, build_function(p, build_cstring(p, "keep"),
								      (module_id){ 0 }, 0,
								      (string_id){ 0 }, 0)))
			  .v;
	for (int32_t i = 0; i < 2; i++) {
		track_id t = build_heap_track(p, build_process(p, c, i + 1), 0, 0);

		o.track = (uint16_t)t.v;
		build_moment(p, t, 1000 + 50000 * i);
		build_allocation(p, t, 100, build_heap_origin(p, &o));
		if (i > 0 || gone_ns > 0)
			build_heap_gone(p, t, i > 0 ? 100000 : gone_ns);
	}
	builder_end(p);
	return p;
}

Test(heap_table, leaks_say_why_less_is_there_at_the_end)
{
	for (int gone = 0; gone < 2; gone++) {
		struct profile *p = two_keepers(gone ? 40000 : 100000);
		struct footprint *f = footprint_of(p, "");
		struct heap_table *t = ask(f, HEAP_LEAKS);

		cr_assert_eq(t->rows.n, 1);
		cr_expect_eq(t->rows.at[0].cell[2], gone ? 100 : 200);
		cr_expect_eq(t->rows.at[0].cell[3], 200);
		cr_assert_eq(t->notes.n, (size_t)gone);
		if (gone)
			cr_expect_str_eq(t->notes.at[0],
					 "AT END leaves out what 1 heap held that ended "
					 "earlier: LEAKED has it");
		heap_table_free(t);
		footprint_free(f);
		profile_free(p);
	}
}

/* A term about blocks, as text and as the replay knows it. */
struct block_case {
	const char *filter;
	bool (*holds)(const struct story *s, const struct block *b);
};

/* Times of a story are from its first deed on. */
static int64_t born_ns(const struct story *s, const struct block *b)
{
	return s->deed[b->born].time_ns - s->deed[0].time_ns;
}

static int64_t died_ns(const struct story *s, const struct block *b)
{
	return b->died == UINT32_MAX ? INT64_MAX : s->deed[b->died].time_ns - s->deed[0].time_ns;
}

static bool alive(const struct story *s, const struct block *b, int64_t at)
{
	return born_ns(s, b) < at && died_ns(s, b) >= at;
}

static bool is_sized(const struct story *s, const struct block *b)
{
	(void)s;
	return b->size >= 100 && b->size < 2000;
}

static bool is_leaked(const struct story *s, const struct block *b)
{
	(void)s;
	return b->died == UINT32_MAX;
}

static bool is_brief(const struct story *s, const struct block *b)
{
	return b->died != UINT32_MAX && died_ns(s, b) - born_ns(s, b) < 100000;
}

static bool is_mapped(const struct story *s, const struct block *b)
{
	(void)s;
	return b->mapped;
}

static bool is_not_temporary(const struct story *s, const struct block *b)
{
	(void)s;
	return !b->temporary;
}

static bool is_alive(const struct story *s, const struct block *b)
{
	return alive(s, b, 20000000);
}

static bool is_alive_at_both(const struct story *s, const struct block *b)
{
	return alive(s, b, 20000000) && alive(s, b, 20600000);
}

static bool is_freed_then(const struct story *s, const struct block *b)
{
	return died_ns(s, b) >= 10000000 && died_ns(s, b) < 20000000;
}

static bool is_deep(const struct story *s, const struct block *b)
{
	(void)s;
	return b->stack % 3 == 2;
}

/* Of f4, or f5, which it calls. */
static bool is_freed_in_f4(const struct story *s, const struct block *b)
{
	(void)s;
	return b->died != UINT32_MAX && !b->who_knows && (b->by_stack == 4 || b->by_stack == 5);
}

static bool is_of_many(const struct story *s, const struct block *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_blocks; i++)
		n += s->block[i].stack == b->stack;
	return n >= 440;
}

/* The first or last birth of a block's stack. */
static int64_t birth_of_stack(const struct story *s, const struct block *b, bool last)
{
	int64_t at = born_ns(s, b);

	for (uint32_t i = 0; i < s->n_blocks; i++) {
		int64_t other = born_ns(s, &s->block[i]);

		if (s->block[i].stack == b->stack && (last ? other > at : other < at))
			at = other;
	}
	return at;
}

static bool is_of_early(const struct story *s, const struct block *b)
{
	return birth_of_stack(s, b, false) < 50000;
}

static bool is_of_late(const struct story *s, const struct block *b)
{
	return birth_of_stack(s, b, true) >= 43450000;
}

static bool is_of_long(const struct story *s, const struct block *b)
{
	return birth_of_stack(s, b, true) - birth_of_stack(s, b, false) >= 44350000;
}

static bool is_of_leaky(const struct story *s, const struct block *b)
{
	uint32_t n = 0, leaked = 0;

	for (uint32_t i = 0; i < s->n_blocks; i++) {
		n += s->block[i].stack == b->stack;
		leaked += s->block[i].stack == b->stack && s->block[i].died == UINT32_MAX;
	}
	return leaked * 100 >= n * 4;
}

static const struct block_case block_cases[] = {
	{ "size:100,2k", is_sized },
	{ "block:leaked", is_leaked },
	{ "lifetime:,100us", is_brief },
	{ "block:mapped", is_mapped },
	{ "!block:temporary", is_not_temporary },
	{ "alive:20ms,", is_alive },
	{ "alive:20ms,20600us", is_alive_at_both },
	{ "freed:10ms,20ms", is_freed_then },
	{ "depth:3", is_deep },
	{ "stack-calls:440,", is_of_many },
	{ "stack-first:,50us", is_of_early },
	{ "stack-last:43450us,", is_of_late },
	{ "stack-span:44350us,", is_of_long },
	{ "stack-leaked-percent:4,", is_of_leaky },
	{ "freed-in:^f4$", is_freed_in_f4 },
};

/* All sums of a footprint are those of a replay of the blocks that hold the term: calls, bytes, leaked, at some instants live. */
Test(heap_table, terms_about_blocks_are_a_replay)
{
	for (size_t i = 0; i < sizeof(block_cases) / sizeof(*block_cases); i++) {
		struct story *s = story_new((unsigned)i + 1);
		struct footprint *f = footprint_of(s->p, block_cases[i].filter);
		int64_t n = 0, bytes = 0, leaked = 0, temporary = 0;

		for (uint32_t k = 0; k < s->n_blocks; k++) {
			const struct block *b = &s->block[k];

			if (!block_cases[i].holds(s, b))
				continue;
			n++;
			bytes += (int64_t)b->size;
			leaked += b->died == UINT32_MAX ? (int64_t)b->size : 0;
			temporary += b->temporary;
		}
		cr_expect(n > 0 && n < s->n_blocks, "%s tells no blocks apart",
			  block_cases[i].filter);
		cr_expect_eq(f->total[FOOTPRINT_CALLS], n, "%s: %ld, not %ld",
			     block_cases[i].filter, (long)f->total[FOOTPRINT_CALLS], (long)n);
		cr_expect_eq(f->total[FOOTPRINT_BYTES], bytes, "%s", block_cases[i].filter);
		cr_expect_eq(f->total[FOOTPRINT_LEAKED], leaked, "%s", block_cases[i].filter);
		cr_expect_eq(f->total[FOOTPRINT_TEMPORARY], temporary, "%s", block_cases[i].filter);
		footprint_free(f);
		story_free(s);
	}
}
