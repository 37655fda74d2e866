/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Peaks of many blocks, which threads look for together, against replays. */
#include "config.h"

#include "base/mem.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/core/aggregate.h"
#include "query/core/filter.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/* Blocks of all lifetimes, so many that the search for the peak is shared and looks far ahead. */
struct crowd {
	struct profile *p;
	event_id event;
	int64_t *adds
		[3]; /* [n_moments] bytes that a moment adds, by all and by the later origins' */
	uint32_t n_moments;
};

/* How many blocks later it is freed; 0: never. */
static uint32_t lifetime(unsigned *state)
{
	static const unsigned most[] = { 1, 3, 200, 50000, 700000 };

	return made_number(state, most[made_number(state, 5)] + 1);
}

static void add_bytes(struct crowd *c, uint32_t moment, int64_t bytes, uint64_t who)
{
	c->adds[0][moment] += bytes;
	if (who > 0)
		c->adds[who][moment] += bytes;
}

/* Blocks of the third origin are freed before anything else happens. */
static void make_crowd(struct crowd *c, uint32_t n, unsigned seed)
{
	struct heap_origin o = { .thread = ID_NONE };
	uint32_t *due = calloc(n, sizeof(*due)), *next = calloc(n, sizeof(*next)), moment;
	uint64_t *size = calloc(n, sizeof(*size));
	origin_id from[3];
	track_id t;

	*c = (struct crowd){ .p = profile_new() };
	for (int i = 0; i < 3; i++)
		c->adds[i] = calloc(2 * (size_t)n, sizeof(*c->adds[i]));
	builder_begin(c->p);
	t = build_heap_track(c->p, build_process(c->p, build_capture(c->p, "x", "y"), 1), 0, 0);
	c->event = build_heap_event(c->p, "malloc");
	o.event = (uint16_t)c->event.v;
	for (int i = 0; i < 3; i++) {
		static const char *const names[] = { "a", "b", "c" };
		function_id f = build_function(c->p, build_cstring(c->p, names[i]),
					       (module_id){ 0 }, 0, (string_id){ 0 }, 0);

		o.stack = build_stack(c->p, (stack_id){ 0 }, build_symbol_location(c->p, f)).v;
		from[i] = build_heap_origin(c->p, &o);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t who = made_number(&seed, 3), end = i + (who == 2 ? 1 : lifetime(&seed));

		/* Those that go before this one comes; numbers are by one, as 0 ends the chain. */
		for (uint32_t k = due[i]; k > 0; k = next[k - 1]) {
			moment = build_moment(c->p, t, c->n_moments++);
			build_release(c->p, (allocation_id){ k - 1 }, t, k == i,
				      (origin_id){ ID_NONE });
			add_bytes(c, moment, -(int64_t)(size[k - 1] >> 2), size[k - 1] & 3);
		}
		size[i] = (uint64_t)made_number(&seed, 10000) << 2 | who;
		moment = build_moment(c->p, t, c->n_moments++);
		cr_assert_eq(build_allocation(c->p, t, size[i] >> 2, from[who]).v, i);
		add_bytes(c, moment, (int64_t)(size[i] >> 2), who);
		if (end == i || end >= n)
			continue;
		next[i] = due[end];
		due[end] = i + 1;
	}
	builder_end(c->p);
	free(due);
	free(next);
	free(size);
}

Test(heap_peak, peaks_of_a_crowd_are_those_of_a_replay)
{
	static const char *const filters[] = { "", "fn:b", "fn:c" };

	for (unsigned seed = 1; seed <= 2; seed++) {
		struct profile_counts counts;
		struct crowd c;

		make_crowd(&c, 700000, seed);
		profile_counts_read(c.p, &counts);
		for (int i = 0; i < 3; i++) {
			int64_t live = 0, most = 0;
			struct weights w;
			struct lens l;

			for (uint32_t k = 0; k < c.n_moments; k++)
				most = (live += c.adds[i][k]) > most ? live : most;
			made_lens(&l, c.p, filters[i]);
			l.n_columns = 1;
			l.column[0].metric = (struct metric){ c.event, MEASURE_PEAK, false };
			cr_assert_eq(aggregate(c.p, &counts, &l, NULL, &w), 0);
			cr_assert_eq(w.total[0], most, "\"%s\", seed %u", filters[i], seed);
			weights_done(&w);
			lens_done(&l);
			free(c.adds[i]);
		}
		profile_free(c.p);
	}
}

/* Blocks of a size but for the first, each of which goes before the next one comes. */
static void use_and_free(struct profile *p, track_id t, origin_id from, uint64_t size,
			 uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++) {
		allocation_id a;

		build_moment(p, t, 2 * i);
		a = build_allocation(p, t, i > 0 ? size : 1, from);
		build_moment(p, t, 2 * i + 1);
		build_release(p, a, t, true, (origin_id){ ID_NONE });
	}
}

/* Threads part the rows of a process between them; those of others are no stretch of its time. */
Test(heap_peak, peaks_of_many_blocks_are_each_process_its_own)
{
	static const uint32_t n[] = { 600000, 700000, 5 };
	static const uint64_t size[] = { 40, 500, 6000 };
	struct profile *p = profile_new();
	struct profile_counts counts;
	origin_id from[3];
	track_id t[3];
	struct weights w;
	struct lens l;

	builder_begin(p);
	for (uint32_t i = 0; i < 3; i++) {
		struct heap_origin o = { .thread = ID_NONE };

		t[i] = build_heap_track(
			p, build_process(p, build_capture(p, "x", "heap"), (int32_t)i + 1), 0, 0);
		o.event = (uint16_t)build_heap_event(p, "malloc").v;
		o.track = (uint16_t)t[i].v;
		from[i] = build_heap_origin(p, &o);
		use_and_free(p, t[i], from[i], size[i], 0, n[i]);
	}
	/* The rows of the first then reach from the first to the last of all. */
	use_and_free(p, t[0], from[0], size[0], n[0], 1);
	builder_end(p);
	profile_counts_read(p, &counts);
	made_lens(&l, p, "");
	l.n_columns = 4;
	for (uint32_t c = 0; c < l.n_columns; c++)
		l.column[c].metric.measure = MEASURE_PEAK;
	cr_assert_eq(filter_parse("capture:1", &l.column[1].filter, NULL), 0);
	cr_assert_eq(filter_parse("capture:2", &l.column[2].filter, NULL), 0);
	cr_assert_eq(filter_parse("capture:2,3", &l.column[3].filter, NULL), 0);
	cr_assert_eq(aggregate(p, &counts, &l, NULL, &w), 0);
	cr_expect_eq(w.total[0], 6540);
	cr_expect_eq(w.total[1], 40, "%ld", w.total[1]);
	cr_expect_eq(w.total[2], 500);
	cr_expect_eq(w.total[3], 6500);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}
