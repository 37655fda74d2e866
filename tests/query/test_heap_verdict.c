/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines of known shapes have their verdicts, and what a program frees for its exit hides none. */
#include "config.h"

#include "query/heap/heap_verdict.h"

#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_lines.h"
#include "query/heap/heap_table.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_SLOTS 120

/* Lines of known shapes; slots are a second. */
static int64_t shape(const char *name, int i)
{
	if (strcmp(name, "leak") == 0)
		return 1000 * (i + 1) + (i * 7919) % 300;
	if (strcmp(name, "cache") == 0)
		return (i < 40 ? 1000 * i : 40000) + (i * 7919) % 1500;
	if (strcmp(name, "saw") == 0)
		return 1000 * (i % 20);
	/* A seventh of each tooth stays; it has fallen to less than half some times. */
	if (strcmp(name, "rising saw") == 0)
		return 2000 * (i % 10) + 300 * (i - i % 10) + 500;
	/* Its troughs are slots that came before the first blocks of a tooth, or behind some. */
	if (strcmp(name, "fast saw") == 0)
		return i == 0 ? 0 : 100 * i / 30 + (i * 7919) % 20000;
	if (strcmp(name, "saw on a base") == 0)
		return i < 6 ? 0 : 3000 + 1000 * (i % 10) + (i * 7919) % 150;
	if (strcmp(name, "steps") == 0)
		return 5000 * (i / 11 + 1);
	if (strcmp(name, "late") == 0)
		return i < 70 ? 300 * i : 21000 + (i * 7919) % 900;
	if (strcmp(name, "starts late") == 0)
		return i < 50 ? 0 : 500 * (i - 50);
	if (strcmp(name, "frees for the exit") == 0)
		return i < 115 ? 700 * i : i < 117 ? 30000 : 0;
	if (strcmp(name, "rises and falls") == 0)
		return 1000 * (i < 80 ? i : i < 119 ? 160 - i : 0);
	if (strcmp(name, "warms up") == 0)
		return (int64_t)(40000 * (1 - exp(-i / 40.0)));
	if (strcmp(name, "full at last") == 0)
		return i < 100 ? 200 * i : 20000;
	if (strcmp(name, "small") == 0)
		return 1000000 + 10 * i;
	if (strcmp(name, "start") == 0)
		return i > 2 ? 5000 : 0;
	if (strcmp(name, "end") == 0)
		return i > 110 ? 5000 : 0;
	if (strcmp(name, "slower") == 0)
		return (int64_t)(40000 * (1 - exp(-i / 20.0)));
	return 3000 + (i * 7919) % 3000;
}

Test(heap_verdict, shapes_have_verdicts)
{
	static const struct {
		const char *shape;
		double first, last;
		enum heap_verdict verdict;
	} cases[] = {
		{ "leak", 0, 1, VERDICT_STEADY },
		{ "cache", 0, 1, VERDICT_BOUNDED },
		{ "saw", 0, 1, VERDICT_SAWTOOTH },
		{ "start", 0, 0.02, VERDICT_STARTUP },
		{ "end", 0.92, 1, VERDICT_AT_END },
		{ "slower", 0, 1, VERDICT_BOUNDED },
		{ "rising saw", 0, 1, VERDICT_STEADY },
		{ "fast saw", 0, 1, VERDICT_SAWTOOTH },
		{ "saw on a base", 0, 1, VERDICT_SAWTOOTH },
		{ "steps", 0, 1, VERDICT_STEADY },
		{ "late", 0, 1, VERDICT_BOUNDED },
		{ "small", 0, 1, VERDICT_BOUNDED },
		{ "starts late", 0.42, 1, VERDICT_STEADY },
		{ "frees for the exit", 0, 0.96, VERDICT_STEADY },
		{ "rises and falls", 0, 0.67, VERDICT_OTHER },
		{ "warms up", 0, 1, VERDICT_BOUNDED },
		{ "full at last", 0, 1, VERDICT_BOUNDED },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		int64_t line[N_SLOTS];
		struct heap_run run = {
			line, N_SLOTS, 1e9, cases[i].first, cases[i].last, 1, true
		};
		struct heap_growth g;

		for (int k = 0; k < N_SLOTS; k++)
			line[k] = shape(cases[i].shape, k);
		g = heap_judge_growth(&run);
		cr_expect_eq(g.verdict, cases[i].verdict, "%s: %d", cases[i].shape, (int)g.verdict);
		cr_expect_eq(g.bytes_per_hour > g.error, g.verdict == VERDICT_STEADY);
		if (i > 0)
			continue;
		cr_expect_lt(fabs(g.bytes_per_hour - 3.6e6), g.error, "%g ± %g", g.bytes_per_hour,
			     g.error);
		cr_expect_lt(g.error, 0.05 * 3.6e6);
	}
}

Test(heap_verdict, few_numbers_show_nothing)
{
	int64_t line[8] = { 1, 2, 3, 4, 5, 6, 7, 8 };
	struct heap_run run = { line, 8, 1e9, 0, 1, 1, true };

	cr_expect_eq(heap_judge_growth(&run).verdict, VERDICT_SHORT);
	run.n = 0;
	cr_expect_eq(heap_judge_growth(&run).verdict, VERDICT_SHORT);
}

Test(heap_verdict, a_teardown_is_at_the_end_and_frees_all)
{
	static const struct {
		const char *what;
		int64_t allocated[8], freed[8];
		uint32_t teardown;
	} cases[] = {
		{ "frees all at once", { 9, 9, 9, 9, 9, 9, 9, 1 }, { 0, 0, 0, 0, 0, 0, 0, 64 }, 7 },
		{ "frees all in steps",
		  { 90, 90, 90, 90, 90, 0, 0, 1 },
		  { 0, 0, 0, 0, 0, 0, 200, 250 },
		  6 },
		{ "frees for too long to be one",
		  { 90, 90, 90, 90, 90, 0, 1, 0 },
		  { 0, 0, 0, 0, 0, 200, 0, 250 },
		  8 },
		{ "works before, in the same slot",
		  { 9, 9, 9, 9, 9, 9, 9, 20 },
		  { 0, 0, 0, 0, 0, 0, 0, 80 },
		  7 },
		{ "keeps half", { 9, 9, 9, 9, 9, 9, 9, 0 }, { 0, 0, 0, 0, 0, 0, 0, 32 }, 8 },
		{ "frees nothing", { 9, 9, 9, 9, 9, 9, 9, 9 }, { 0, 0, 0, 0, 0, 0, 0, 0 }, 8 },
		{ "frees as it goes", { 9, 9, 9, 9, 9, 9, 9, 9 }, { 9, 9, 9, 9, 9, 9, 9, 9 }, 8 },
		{ "starts again", { 90, 0, 9, 9, 9, 9, 9, 9 }, { 0, 90, 0, 0, 0, 0, 0, 0 }, 8 },
		{ "waits first", { 64, 0, 0, 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0, 0, 64, 0 }, 6 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct footprint_slot slot[8] = { 0 };
		int64_t live = 0;

		for (int k = 0; k < 8; k++) {
			live += cases[i].allocated[k] - cases[i].freed[k];
			slot[k] = (struct footprint_slot){ .live = live,
							   .allocated = cases[i].allocated[k],
							   .freed = cases[i].freed[k] };
		}
		cr_expect_eq(footprint_teardown(slot, 8), cases[i].teardown, "%s: %u",
			     cases[i].what, footprint_teardown(slot, 8));
	}
}

static uint32_t build_site(struct profile *p, const char *name)
{
	function_id f = build_function(p, build_cstring(p, name),
				       build_module(p, "prog", "", FAMILY_PROGRAM), 0,
				       (string_id){ 0 }, 0);

	return build_stack(p, (stack_id){ 0 }, build_symbol_location(p, f)).v;
}

#define GROWS_FOR 60
#define SECOND    INT64_C(1000000000)

/* A block a second, all of which are freed in the last one. */
static struct profile *grows_and_frees_all(void)
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	allocation_id block[GROWS_FOR];
	track_id t;

	builder_begin(p);
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, UINT64_MAX);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	o.stack = build_site(p, "main");
	for (int i = 0; i < GROWS_FOR; i++) {
		build_moment(p, t, i * SECOND);
		block[i] = build_allocation(p, t, 100, build_heap_origin(p, &o));
	}
	build_moment(p, t, GROWS_FOR * SECOND);
	for (int i = 0; i < GROWS_FOR; i++)
		build_release(p, block[i], t, false, (origin_id){ ID_NONE });
	builder_end(p);
	return p;
}

/* It grew for as long as the program ran; that is asked of all of the program, whatever the filter, once. */
Test(heap_verdict, growth_is_judged_without_the_teardown)
{
	static const struct {
		int64_t from_ns, to_ns;
		bool ended, grows;
	} cases[] = {
		{ 0, INT64_MAX, true, true },
		{ 0, INT64_MAX, false, false },
		{ 10 * SECOND, 40 * SECOND, false, true },
	};
	struct profile *p = grows_and_frees_all();
	struct teardown_cache *cache = teardown_cache_new();

	for (size_t i = 0; i < 6 * sizeof(cases) / sizeof(*cases); i++) {
		struct footprint *m = made_footprint(p, i % 2 ? "fn:main" : "", (event_id){ 0 });
		struct time_span span = { cases[i / 6].from_ns, cases[i / 6].to_ns, 40, 0 };
		struct footprint_lines *l;

		cr_assert_eq(footprint_lines_new(m, &span, i % 6 < 2 ? NULL : cache, NULL, &l), 0);
		cr_expect_eq(footprint_row_grows(l, 0, cases[i / 6].ended), cases[i / 6].grows,
			     "case %zu", i);
		footprint_lines_free(l);
		footprint_free(m);
	}
	teardown_cache_free(cache);
	profile_free(p);
}

#define SITES 40
#define STEPS 300

/* Sites that keep ever more of what they allocate: from none, which is bounded, to all, which grows. */
static struct profile *keeps_more_and_more(void)
{
	struct profile *p = profile_new();
	struct heap_origin o = { .thread = ID_NONE };
	allocation_id before[SITES] = { 0 };
	unsigned random = 7;
	track_id t;

	builder_begin(p);
	t = build_heap_track(p, build_process(p, build_capture(p, "x", "y"), 1), 0, UINT64_MAX);
	o.event = (uint16_t)build_heap_event(p, "malloc").v;
	for (int i = 0; i < STEPS * SITES; i++) {
		unsigned site = (unsigned)i % SITES;
		char name[32];

		snprintf(name, sizeof(name), "f%u", site);
		o.stack = build_site(p, name);
		random = random * 1103515245 + 12345;
		build_moment(p, t, i * SECOND / SITES);
		if (i >= SITES && random / 65536 % SITES >= site)
			build_release(p, before[site], t, false, (origin_id){ ID_NONE });
		before[site] = build_allocation(p, t, random / 65536 % 1000,
						build_heap_origin(p, &o));
	}
	builder_end(p);
	return p;
}

/* However many columns a screen has, it marks what the table of leaks says to grow. */
Test(heap_verdict, screens_mark_the_growth_that_leaks_names)
{
	struct profile *p = keeps_more_and_more();
	struct footprint *m = made_footprint(p, "", (event_id){ 0 });
	struct heap_table *t;

	cr_assert_eq(heap_table_new(m, HEAP_LEAKS, NULL, NULL, &t), 0);
	for (uint32_t n = 30; n < 200; n += 17) {
		struct time_span span = { 0, INT64_MAX, n, 0 };
		struct footprint_lines *l;
		uint32_t n_growing = 0;

		cr_assert_eq(footprint_lines_new(m, &span, NULL, NULL, &l), 0);
		cr_assert_eq(footprint_lines_judge(l, m, NULL, NULL), 0);
		for (size_t i = 0; i < t->rows.n; i++)
			for (uint32_t k = 0; k < m->n_sites; k++) {
				bool grows = footprint_row_grows(l, m->site[k].row, true);

				if (m->site[k].key != t->rows.at[i].key)
					continue;
				cr_expect_eq(grows, t->rows.at[i].verdict == VERDICT_STEADY);
				n_growing += grows;
			}
		cr_expect_gt(n_growing, 0);
		cr_expect_lt(n_growing, SITES);
		footprint_lines_free(l);
	}
	heap_table_free(t);
	footprint_free(m);
	profile_free(p);
}

Test(heap_verdict, leaks_say_why_more_is_there_at_the_end)
{
	struct profile *p = grows_and_frees_all();
	struct footprint *m = made_footprint(p, "", (event_id){ 0 });
	struct heap_table *t;

	cr_assert_eq(heap_table_new(m, HEAP_LEAKS, NULL, NULL, &t), 0);
	cr_assert_eq(t->rows.n, 1);
	cr_expect_eq(t->rows.at[0].cell[2], 100 * GROWS_FOR);
	cr_expect_eq(t->rows.at[0].cell[3], 0);
	cr_assert_eq(t->notes.n, 1);
	cr_expect_str_eq(t->notes.at[0],
			 "AT END is before the final frees: LEAKED is what these left");
	heap_table_free(t);
	footprint_free(m);
	profile_free(p);
}
