/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "profile/heap/heap.h"

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "profile/heap/heap_packed.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A profile with a track, a stack and an origin; the pen is held. */
struct bench {
	struct profile *p;
	track_id track;
	struct heap_origin from;
	origin_id origin;
};

static struct bench bench_new(void)
{
	struct bench b = { .p = profile_new() };
	capture_id c;
	process_id a;
	thread_id t;

	builder_begin(b.p);
	c = build_capture(b.p, "heap", "heap trace");
	a = build_process(b.p, c, 7);
	t = build_thread(b.p, a, 7, build_cstring(b.p, "main"));
	b.track = build_heap_track(b.p, a, 0, 0);
	b.from = (struct heap_origin){
		.thread = t.v,
		.event = (uint16_t)build_heap_event(b.p, "malloc").v,
		.track = (uint16_t)b.track.v,
	};
	b.origin = build_heap_origin(b.p, &b.from);
	return b;
}

static void bench_free(struct bench *b)
{
	builder_end(b->p);
	profile_free(b->p);
}

Test(heap, origins_are_interned_by_all_they_say)
{
	struct bench b = bench_new();
	struct heap_origin o = b.from;

	cr_assert_eq(build_heap_origin(b.p, &o).v, b.origin.v);
	o.flags = ORIGIN_REALLOC;
	cr_assert_neq(build_heap_origin(b.p, &o).v, b.origin.v);
	o = b.from;
	o.thread = ID_NONE;
	cr_assert_neq(build_heap_origin(b.p, &o).v, b.origin.v);
	o = b.from;
	o.event = (uint16_t)build_heap_event(b.p, "mmap").v;
	cr_assert_neq(build_heap_origin(b.p, &o).v, b.origin.v);
	cr_assert(profile_event(b.p, (event_id){ o.event })->is_heap);
	bench_free(&b);
}

Test(heap, a_snapshot_does_not_see_later_ends)
{
	struct bench b = bench_new();
	struct heap_columns then, now;
	uint32_t n_then, n_now;
	allocation_id a;

	build_moment(b.p, b.track, 100);
	a = build_allocation(b.p, b.track, 64, b.origin);
	builder_end(b.p);
	profile_heap(b.p, &then);
	n_then = profile_heap_track(b.p, b.track).n_moments;

	builder_begin(b.p);
	build_moment(b.p, b.track, 200);
	build_release(b.p, a, b.track, true, b.origin);
	build_moment(b.p, b.track, 300);
	build_release(b.p, a, b.track, false, (origin_id){ ID_NONE });
	builder_end(b.p);
	profile_heap(b.p, &now);
	n_now = profile_heap_track(b.p, b.track).n_moments;

	cr_assert_eq(then.n_allocations, 1);
	cr_assert_eq(allocation_end(&then, a.v, n_then), END_NEVER);
	cr_assert_eq(allocation_end(&now, a.v, n_now), 1 | END_TEMPORARY, "the first end counts");
	cr_assert_eq(allocation_release(&now, a.v), b.origin.v);
	builder_begin(b.p);
	bench_free(&b);
}

/* What a thread frees at once has no end of its own: the next block's stands where its was. */
Test(heap, a_snapshot_does_not_see_the_end_that_takes_a_place)
{
	struct bench b = bench_new();
	struct heap_columns then, now;
	allocation_id a, next;

	build_moment(b.p, b.track, 100);
	a = build_allocation(b.p, b.track, 64, b.origin);
	builder_end(b.p);
	profile_heap(b.p, &then);

	builder_begin(b.p);
	build_moment(b.p, b.track, 200);
	build_release(b.p, a, b.track, true, (origin_id){ ID_NONE });
	build_moment(b.p, b.track, 300);
	next = build_allocation(b.p, b.track, 32, b.origin);
	build_moment(b.p, b.track, 400);
	build_release(b.p, next, b.track, false, (origin_id){ ID_NONE });
	builder_end(b.p);
	profile_heap(b.p, &now);

	cr_assert_eq(allocation_end(&then, a.v, 1), END_NEVER);
	cr_assert_eq(allocation_end(&now, a.v, 4), 1 | END_TEMPORARY);
	cr_assert_eq(allocation_end(&now, next.v, 4), 3);
	cr_assert_eq(allocation_end(&now, next.v, 3), END_NEVER);
	builder_begin(b.p);
	bench_free(&b);
}

/* Numbers of a made row, for what follows. */
struct made_row {
	uint32_t begin, end, origin;
	uint64_t size;
};

#define N_MADE    3000u
#define N_ORIGINS 70000u

static uint32_t made_next(uint32_t *seed)
{
	return *seed = *seed * 1664525 + 1013904223;
}

/* Rows near each other and far, freed at once, later or never, small and large, of many origins. */
static void make_rows(struct bench *b, struct made_row row[N_MADE], uint32_t seed)
{
	uint32_t moment = 0, live = 0;

	for (uint32_t i = 0; i < N_MADE; i++) {
		struct heap_origin o = b->from;
		uint32_t way = made_next(&seed) >> 24;
		allocation_id a;

		for (uint32_t idle = way % 64 ? 0 : 300; idle > 0; idle--, moment++)
			build_moment(b->p, b->track, moment);
		o.flags = i < N_MADE / 2 ? way : N_ORIGINS - i;
		row[i] = (struct made_row){ .begin = moment,
					    .end = END_NEVER,
					    .origin = build_heap_origin(b->p, &o).v,
					    .size = way < 20 ? (uint64_t)way << 16 : way };
		build_moment(b->p, b->track, moment++);
		a = build_allocation(b->p, b->track, row[i].size, (origin_id){ row[i].origin });
		if (way % 3 == 0)
			continue;
		build_moment(b->p, b->track, moment);
		if (way % 3 == 1 || row[live].end != END_NEVER)
			live = i;
		row[live].end = moment++ | (live == i ? END_TEMPORARY : 0);
		build_release(b->p, live == i ? a : (allocation_id){ live }, b->track, live == i,
			      (origin_id){ ID_NONE });
		live = made_next(&seed) % (i + 1);
	}
}

static void expect_row(const struct heap_columns *c, const struct heap_rows_read *read, uint32_t at,
		       uint32_t i, const struct made_row *row)
{
	cr_assert_eq(allocation_begin(c, i), row->begin, "row %u", i);
	cr_assert_eq(allocation_end(c, i, UINT32_MAX), row->end, "row %u", i);
	cr_assert_eq(allocation_size(c, i), row->size, "row %u", i);
	cr_assert_eq(allocation_origin(c, i), row->origin, "row %u", i);
	cr_assert_eq(read->begin[at], row->begin, "row %u", i);
	cr_assert_eq(read->end[at], row->end, "row %u", i);
	cr_assert_eq(read->size[at], row->size, "row %u", i);
	cr_assert_eq(read->origin[at], row->origin, "row %u", i);
}

/* The same rows, without those that are brief. */
static void expect_kept(const struct heap_columns *c, uint32_t from, uint32_t to,
			const struct made_row *row)
{
	struct heap_rows_read read;
	uint32_t n, at = 0;
	uint64_t brief = allocation_read_kept(c, from, to, NULL, &read, &n);

	for (uint32_t i = from; i < to; i++) {
		if (brief >> i % HEAP_GROUP & 1) {
			cr_assert_eq(row[i].end, (row[i].begin + 1) | END_TEMPORARY);
			continue;
		}
		cr_assert_eq(read.row[at], i);
		expect_row(c, &read, at++, i, &row[i]);
	}
	cr_assert_eq(at, n);
	cr_assert_eq(brief >> (to - 1) % HEAP_GROUP >> 1, 0);
}

Test(heap, rows_say_what_was_written)
{
	static struct made_row row[N_MADE];

	for (uint32_t seed = 1; seed < 5; seed++) {
		struct bench b = bench_new();
		struct heap_columns c;

		/* The newer half of the rows is of origins that 16 bits do not hold. */
		for (uint32_t i = 0; i < N_ORIGINS && seed % 2; i++) {
			struct heap_origin o = b.from;

			o.flags = i;
			build_heap_origin(b.p, &o);
		}
		make_rows(&b, row, seed);
		builder_end(b.p);
		profile_heap(b.p, &c);
		cr_assert_eq(c.n_allocations, N_MADE);
		cr_assert_eq(!c.high, seed % 2 == 0);
		for (uint32_t from = seed; from < N_MADE;) {
			uint32_t to = (from / HEAP_GROUP + 1) * HEAP_GROUP;
			struct heap_rows_read read;
			uint32_t n = allocation_read(&c, from, to < N_MADE ? to : N_MADE, &read);

			for (uint32_t i = 0; i < n; i++)
				expect_row(&c, &read, i, from + i, &row[from + i]);
			expect_kept(&c, from, from + n, row);
			from += n;
		}
		builder_begin(b.p);
		bench_free(&b);
	}
}

Test(heap, who_frees_is_unknown_until_somebody_says)
{
	struct bench b = bench_new();
	struct heap_columns c;
	allocation_id a[3];

	for (int i = 0; i < 3; i++) {
		build_moment(b.p, b.track, i);
		a[i] = build_allocation(b.p, b.track, 1, b.origin);
	}
	build_moment(b.p, b.track, 3);
	build_release(b.p, a[0], b.track, false, (origin_id){ ID_NONE });
	builder_end(b.p);
	profile_heap(b.p, &c);
	cr_assert_null(c.release);
	builder_begin(b.p);
	build_release(b.p, a[1], b.track, false, b.origin);
	builder_end(b.p);
	profile_heap(b.p, &c);
	cr_assert_eq(allocation_release(&c, 0), ID_NONE);
	cr_assert_eq(allocation_release(&c, 1), b.origin.v);
	cr_assert_eq(allocation_release(&c, 2), ID_NONE);
	builder_begin(b.p);
	bench_free(&b);
}

Test(heap, sizes_of_all_sizes_are_kept)
{
	static const uint64_t sizes[] = { 0,
					  1,
					  UINT16_MAX - 1,
					  UINT16_MAX,
					  UINT32_MAX - 1,
					  UINT32_MAX,
					  (uint64_t)1 << 40,
					  16,
					  SIZE_MOST };
	struct bench b = bench_new();
	struct heap_columns c;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		build_moment(b.p, b.track, 0);
		build_allocation(b.p, b.track, sizes[i], b.origin);
	}
	builder_end(b.p);
	profile_heap(b.p, &c);
	cr_assert_eq(c.n_large, 5);
	for (uint32_t i = 0; i < c.n_allocations; i++)
		cr_assert_eq(allocation_size(&c, i), sizes[i]);
	builder_begin(b.p);
	bench_free(&b);
}

Test(heap, times_are_kept_to_two_millionths)
{
	struct bench b = bench_new();
	const int64_t from = 5000000000, step = 137;
	enum { N = 3000000 };
	struct heap_track t;
	double lasted;

	for (int64_t i = 0; i < N; i++)
		build_moment(b.p, b.track, from + i * step);
	builder_end(b.p);
	t = profile_heap_track(b.p, b.track);
	cr_assert_eq(t.n_moments, N);
	for (uint32_t i = 0; i < N; i += 997) {
		int64_t exact = from + i * step, at = heap_track_time(&t, i);

		lasted = (double)(exact - from);
		cr_assert_leq(at, exact);
		cr_assert_leq((double)(exact - at), lasted * 2e-6 > 1000 ? lasted * 2e-6 : 1000);
		cr_assert_leq(heap_track_moment(&t, at), i);
		cr_assert_gt(heap_track_moment(&t, at + (int64_t)(lasted * 2e-6) + 1200), i);
	}
	cr_assert_lt(t.n_ticks, N / 4);
	builder_begin(b.p);
	bench_free(&b);
}

static const struct {
	int64_t told[4], kept[4];
} clocks[] = {
	{ { 0, 1000, 2000, 3000 }, { 0, 1000, 2000, 3000 } },
	{ { 5000, 4000, 4500, 9000 }, { 5000, 5000, 5000, 9000 } },
	{ { INT64_MIN, 1000, 2000, INT64_MAX }, { 0, 1000, 2000, 2000 } },
	{ { INT64_MAX, 1, 5000, INT64_MIN }, { 0, 0, 5000, 5000 } },
};

Test(heap, clocks_that_are_mad_are_held)
{
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		struct bench b = bench_new();
		struct heap_track t;

		for (int j = 0; j < 4; j++)
			build_moment(b.p, b.track, clocks[i].told[j]);
		builder_end(b.p);
		t = profile_heap_track(b.p, b.track);
		for (uint32_t j = 0; j < 4; j++)
			cr_assert_eq(heap_track_time(&t, j), clocks[i].kept[j], "%zu %u", i, j);
		cr_assert_eq(heap_track_moment(&t, INT64_MAX), 4);
		cr_assert_eq(heap_track_moment(&t, INT64_MIN), 0);
		builder_begin(b.p);
		bench_free(&b);
	}
}

Test(heap, series_and_marks_are_kept_in_order)
{
	struct bench b = bench_new();
	capture_id c = { 0 };
	series_id rss = build_heap_series(b.p, c, "RSS", UNIT_BYTES);
	struct heap_mark mark = { .capture = c, .thread = ID_NONE, .time_ns = 3 };
	struct heap_columns h;

	cr_assert_eq(build_heap_series(b.p, c, "RSS", UNIT_BYTES).v, rss.v);
	cr_assert_neq(build_heap_series(b.p, c, "faults", UNIT_COUNT).v, rss.v);
	build_heap_reading(b.p, rss, 1, 4096);
	build_heap_reading(b.p, rss, 2, 8192);
	mark.name = build_cstring(b.p, "phase");
	build_heap_mark(b.p, &mark);
	builder_end(b.p);
	profile_heap(b.p, &h);
	cr_assert_eq(h.n_series, 2);
	cr_assert_eq(h.n_readings, 2);
	cr_assert_eq(profile_heap_readings(b.p)[1].value, 8192);
	cr_assert_eq(h.n_marks, 1);
	cr_assert_eq(profile_heap_marks(b.p)[0].time_ns, 3);
	cr_assert_eq(profile_heap_series(b.p, rss)->unit, UNIT_BYTES);
	builder_begin(b.p);
	bench_free(&b);
}

/* Bytes that the rows are in. */
static double bytes_of(const struct heap_packed *t)
{
	uint64_t n_groups = t->n / HEAP_GROUP;
	uint64_t by_row = t->step.element_bytes + t->size.element_bytes + t->origin.element_bytes;

	if (t->high.base)
		by_row += t->high.element_bytes;
	if (t->release.base)
		by_row += t->release.element_bytes;
	return (double)(t->n * by_row + n_groups * t->group.element_bytes +
			t->n_ends * t->end.element_bytes + t->n_wide * t->wide.element_bytes +
			t->n_large * t->large.element_bytes);
}

/*
 * What proftop(1) says of PROFTOP_MEMORY. The readers reckon with 10 bytes an allocation, 14 with stacks of frees:
 * USUAL_BYTES of formats/heap_trace.c.
 */
Test(heap, an_allocation_takes_what_the_manual_says)
{
	static const struct shape {
		const char *what;
		bool brief, releases;
		uint32_t n_origins;
		uint64_t size;
		double least, most; /* bytes */
	} shapes[] = {
		{ "freed at once", true, false, 5000, 100, 5, 6 },
		{ "held", false, false, 5000, 100, 6, 10 },
		{ "held, and who frees is known", false, true, 5000, 100, 10, 14 },
		{ "of many origins, and who frees is known", false, true, 100000, 100, 14, 16 },
		{ "large", false, false, 5000, 70000, 16, 26 },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		const struct shape *s = &shapes[i];
		uint32_t n = 200 * HEAP_GROUP * 10, moment = 0;
		struct heap_packed t;
		double each;

		heap_packed_init(&t);
		if (s->releases)
			cr_assert_eq(heap_packed_with_release(&t), 0);
		for (uint32_t row = 0; row < n; row++) {
			cr_assert_eq(heap_packed_add(&t, moment++, s->size, row % s->n_origins), 0);
			if (s->brief)
				heap_packed_end(&t, row, moment++ | END_TEMPORARY);
		}
		each = bytes_of(&t) / n;
		cr_expect(each >= s->least && each <= s->most, "%s: %g bytes", s->what, each);
		heap_packed_done(&t);
	}
}
