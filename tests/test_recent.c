/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of src/query/recent: the last minute against a slow count of it, at every moment of a recording. */
#include "config.h"

#include "analysis.h"
#include "builder.h"

#include <criterion/criterion.h>
#include <string.h>

#define S         INT64_C(1000000000)
#define N_SAMPLES 20000

/* One sample every 10 ms or so, of three functions in turns that change; neighbours may be out of order. */
static int64_t time_of(uint32_t i)
{
	return 7 * S + (int64_t)(i ^ 5) * 10000000;
}

static uint32_t function_of(uint32_t i)
{
	return i % 7 < 3 ? 0 : i / 1000 % 2 + 1;
}

static void put_samples(struct profile *p, uint32_t from, uint32_t to)
{
	static const char *const names[] = { "a", "b", "c" };
	event_id e;
	module_id m;

	builder_begin(p);
	if (from == 0)
		build_capture(p, "x", "perf.data");
	e = build_event(p, "cpu-clock", UNIT_NS, true);
	m = build_module(p, "/bin/x", "", FAMILY_PROGRAM);
	for (uint32_t i = from; i < to; i++) {
		function_id f = build_function(p, build_cstring(p, names[function_of(i)]), m, 0,
					       build_cstring(p, ""), 0);
		struct sample s = { .thread = { ID_NONE },
				    .event = e,
				    .cpu = CPU_NONE,
				    .weight = 1 + i % 3,
				    .time_ns = time_of(i) };

		s.stack = build_stack(p, (stack_id){ 0 }, build_symbol_location(p, f));
		cr_assert_eq(build_sample(p, &s), 0);
	}
	builder_end(p);
}

/* What recent_weigh() is to find for a function. */
static void count(uint32_t n, uint32_t function, int64_t out[RECENT_SLOTS])
{
	int64_t begin = INT64_MAX, end = 0, from;

	for (uint32_t i = 0; i < n; i++) {
		begin = time_of(i) < begin ? time_of(i) : begin;
		end = time_of(i) > end ? time_of(i) : end;
	}
	from = begin + ((end - begin) / (5 * S) - 12) * 5 * S;
	memset(out, 0, RECENT_SLOTS * sizeof(*out));
	for (uint32_t i = 0; i < n; i++)
		if (function_of(i) == function && time_of(i) >= from && time_of(i) < from + 60 * S)
			out[(time_of(i) - from) / (5 * S)] += 1 + i % 3;
}

Test(recent, the_last_minute_at_any_moment)
{
	static const uint32_t moments[] = { 1, 700, 5999, 6000, 6001, 13333, N_SAMPLES };
	struct profile *p = profile_new();
	uint32_t at = 0;

	for (size_t k = 0; k < sizeof(moments) / sizeof(moments[0]); k++) {
		struct analysis *a;
		struct lens lens;

		put_samples(p, at, moments[k]);
		at = moments[k];
		lens_init(&lens, p);
		lens.recent_ns = 60 * S;
		cr_assert_eq(analysis_new(p, &lens, NULL, &a), 0);
		cr_assert_not_null(a->recent.slot);
		for (uint32_t i = 0; i < a->keys.n; i++) {
			const char *label = a->keys.key[i].label;
			int64_t want[RECENT_SLOTS];

			if (strlen(label) != 1 || !strchr("abc", *label))
				continue;
			count(at, (uint32_t)(*label - 'a'), want);
			cr_expect_arr_eq(a->recent.slot + (size_t)i * RECENT_SLOTS, want,
					 sizeof(want), "%s after %u samples", label, at);
		}
		analysis_free(a);
		lens_done(&lens);
	}
	profile_free(p);
}
