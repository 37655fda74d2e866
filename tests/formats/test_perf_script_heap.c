/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heaps as the text of perf script: what is read again has the same numbers. */
#include "config.h"

#include "base/err.h"
#include "formats/perf_script/perf_script.h"
#include "formats/perf_script/perf_script_write.h"
#include "input/input.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "profile/profile.h"
#include "query/analysis.h"
#include "query/core/filter.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static const char *const names[] = { "load", "parse", "serve" };

/* Blocks of three functions and two events that come and go, most of them for good. */
static struct profile *made_heap(unsigned state)
{
	struct profile *p = profile_new();
	uint32_t block[40], origin[3];
	struct heap_origin o = { 0 };
	process_id process;
	track_id track;

	builder_begin(p);
	process = build_process(p, build_capture(p, "x", "heap"), 1);
	o.thread = build_thread(p, process, 1, build_cstring(p, "t")).v;
	track = build_heap_track(p, process, 0, 0);
	for (unsigned i = 0; i < 3; i++) {
		module_id in = build_module(p, "/bin/t", "", FAMILY_UNKNOWN);
		location_id l = build_symbol_location(
			p,
			build_function(p, build_cstring(p, names[i]), in, 0, (string_id){ 0 }, 0));

		o.event = (uint16_t)build_heap_event(p, i == 2 ? "mmap" : "malloc").v;
		o.stack = build_stack(p, (stack_id){ i == 1 ? o.stack : 0 }, l).v;
		origin[i] = build_heap_origin(p, &o).v;
	}
	memset(block, 0xff, sizeof(block));
	for (int i = 0; i < 400; i++) {
		uint32_t *b = &block[(state = state * 1664525 + 1013904223) >> 16 & 31];

		build_moment(p, track, 1000000000 + i * 1000000);
		if (*b != ID_NONE)
			build_release(p, (allocation_id){ *b }, track, state >> 24 & 1,
				      (origin_id){ ID_NONE });
		else
			*b = build_allocation(p, track, state >> 20, (origin_id){ origin[i % 3] })
				     .v;
		if (built_release(p, (allocation_id){ *b }))
			*b = ID_NONE;
	}
	cr_assert_eq(builder_end(p), 0);
	return p;
}

static struct analysis *analysis_of(const struct profile *p, struct metric m, const char *filter,
				    struct lens *lens)
{
	struct err e = ERR_INIT;
	struct analysis *a;

	lens_init(lens, p);
	lens->column[0].metric = m;
	cr_assert_eq(filter_parse(filter, &lens->filter, &e), 0);
	cr_assert_eq(analysis_new(p, lens, NULL, &a), 0);
	return a;
}

/* What each function has of a metric, by itself and in all. */
static char *numbers_of(const struct profile *p, struct metric m, const char *filter)
{
	struct lens lens;
	struct analysis *a = analysis_of(p, m, filter, &lens);
	char *text = NULL;
	size_t n;
	FILE *to = open_memstream(&text, &n);

	fprintf(to, "unit %d, all %" PRId64 "\n", metric_unit(p, m), a->weights.total[0]);
	for (size_t k = 0; k < N(names); k++)
		for (uint32_t i = 0; i < a->table.n_rows; i++)
			if (a->table.total[i] != 0 &&
			    strcmp(a->table_keys->key[a->table.key[i]].label, names[k]) == 0)
				fprintf(to, "%s: %" PRId64 " %" PRId64 "\n", names[k],
					a->table.self[i], a->table.total[i]);
	fclose(to);
	analysis_free(a);
	lens_done(&lens);
	return text;
}

/* What passes a filter as text, read again. */
static struct profile *saved(const struct profile *p, const char *filter)
{
	struct err e = ERR_INIT;
	struct profile *again = profile_new();
	struct lens lens;
	struct analysis *a = analysis_of(p, (struct metric){ { 0 }, MEASURE_LIVE, false }, filter,
					 &lens);
	struct input *in;
	capture_id c;
	char *text = NULL;
	size_t n;
	int64_t begin_ns;
	FILE *to = open_memstream(&text, &n);

	cr_assert(perf_script_says_all(a));
	cr_assert_eq(perf_script_write(a, to, &begin_ns, &e), 0, "%s", err_text(&e));
	fclose(to);
	in = input_of_bytes(text, n, "x");
	builder_begin(again);
	c = build_capture(again, "x", "perf-script");
	builder_end(again);
	cr_assert_eq(format_perf_script.read(in, again, c, NULL, NULL, &e), 0, "%s\n%s",
		     err_text(&e), text);
	input_close(in);
	free(text);
	analysis_free(a);
	lens_done(&lens);
	return again;
}

/* Every measure of a heap is an event with the same numbers when it is read again. */
Test(perf_script_heap, round_trip)
{
	static const struct {
		const char *heap, *measure, *event;
	} cases[] = {
		{ "malloc", "peak", "malloc:peak" },
		{ "malloc", "live", "malloc:live" },
		{ "malloc", "leaked", "malloc:leaked" },
		{ "malloc", "freed", "malloc:freed" },
		{ "malloc", "calls", "malloc:calls" },
		{ "malloc", "temporary", "malloc:temporary" },
		{ "malloc", "bytes", "malloc:bytes" },
		{ "mmap", "live", "mmap:live" },
		{ "mmap", "bytes", "mmap:bytes" },
	};
	static const char *const filters[] = { "", "fn:load", "time:0,200ms" };

	for (unsigned i = 0; i < 5 * N(filters); i++) {
		const char *filter = filters[i % N(filters)];
		struct profile *p = made_heap(i), *again = saved(p, filter);
		struct metric m, of;
		struct err e = ERR_INIT;

		for (size_t k = 0; k < N(cases); k++) {
			char *before, *after;

			cr_assert_eq(metric_find(p, cases[k].heap, cases[k].measure, &m, &e), 0);
			before = numbers_of(p, m, filter);
			/* What is 0 has no line, and an event without one is not there. */
			if (metric_find(again, cases[k].event, "", &of, &e)) {
				cr_expect(strstr(before, "all 0\n"), "%s", before);
				err_clear(&e);
			} else {
				after = numbers_of(again, of, "");
				cr_expect_str_eq(after, before, "%s %s:\n%s\nwas\n%s", filter,
						 cases[k].event, after, before);
				free(after);
			}
			free(before);
		}
		profile_free(again);
		profile_free(p);
	}
}
