/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "query/core/aggregate.h"

#include "base/err.h"
#include "profile/builder.h"
#include "profile/heap/heap_builder.h"
#include "query/analysis.h"
#include "query/core/filter.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct weights weighed(const struct profile *p, const struct lens *l)
{
	struct profile_counts counts;
	struct weights w;

	profile_counts_read(p, &counts);
	cr_assert_eq(aggregate(p, &counts, l, NULL, &w), 0);
	return w;
}

Test(weigh, activity_is_kept_in_slices_of_time)
{
	struct profile *p = made_profile("a 1 t=1000\na 2 t=1511\na 4 t=1256\na 8\na 16 t=1255\n");
	struct weights w;
	struct lens l;

	made_lens(&l, p, "");
	w = weighed(p, &l);
	cr_assert_eq(w.begin_ns, 1000);
	cr_assert_eq(w.end_ns, 1511);
	cr_assert_eq(w.slice[0], 1);
	cr_assert_eq(w.slice[255], 16);
	cr_assert_eq(w.slice[256], 4);
	cr_assert_eq(w.slice[511], 2);
	cr_assert_eq(w.total[0], 31);
	cr_assert_eq(w.n_samples, 5);
	weights_done(&w);
	lens_done(&l);

	made_lens(&l, p, "time:0.000000255,0.0000005");
	w = weighed(p, &l);
	cr_assert_eq(w.begin_ns, 1000, "the whole recording's");
	cr_assert_eq(w.first_ns, 1255);
	cr_assert_eq(w.last_ns, 1256);
	cr_assert_eq(w.total[0], 20);
	cr_assert_eq(w.whole[0], 31);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

Test(weigh, without_times_there_is_no_activity)
{
	struct profile *p = made_profile("a 1\nb 2\n");
	struct weights w;
	struct lens l;

	made_lens(&l, p, "");
	w = weighed(p, &l);
	cr_assert_eq(w.begin_ns, TIME_NONE);
	cr_assert_eq(w.end_ns, TIME_NONE);
	cr_assert_eq(w.first_ns, TIME_NONE);
	cr_assert_eq(w.n_threads, 0);
	cr_assert_eq(w.total[0], 3);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

Test(weigh, one_instant_is_a_recording)
{
	struct profile *p = made_profile("a 1 t=-5\nb 2 t=-5\n");
	struct weights w;
	struct lens l;

	made_lens(&l, p, "");
	w = weighed(p, &l);
	cr_assert_eq(w.begin_ns, -5);
	cr_assert_eq(w.end_ns, -5);
	cr_assert_eq(w.slice[0], 3);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

Test(weigh, times_at_both_ends_of_their_range)
{
	struct profile *p = made_profile("a 1 t=-9223372036854775807\nb 2 t=9223372036854775807\n");
	struct weights w;
	struct lens l;

	made_lens(&l, p, "time:1,");
	w = weighed(p, &l);
	cr_assert_leq(w.total[0], 3);
	cr_assert_geq(w.end_ns, w.begin_ns);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

/* Two recordings begin at once, whatever their clocks say. */
Test(weigh, captures_are_laid_over_each_other)
{
	struct profile *p = made_profile("a 1 pid=1 tid=1 t=1000\na 2 pid=1 tid=1 t=1100\ncapture\n"
					 "a 4 pid=1 tid=1 t=70000\na 8 pid=1 tid=1 t=70511\n");
	struct weights w;
	struct lens l;

	made_lens(&l, p, "");
	w = weighed(p, &l);
	cr_assert_eq(w.begin_ns, 1000);
	cr_assert_eq(w.end_ns, 1511);
	cr_assert_eq(w.slice[0], 5);
	cr_assert_eq(w.slice[511], 8);
	cr_assert_eq(w.n_threads, 2, "a tid of another capture is another thread");
	weights_done(&w);
	lens_done(&l);
	made_lens(&l, p, "time:,0.0000001");
	w = weighed(p, &l);
	cr_assert_eq(w.total[0], 5);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

Test(weigh, a_thread_that_changes_its_name_is_one)
{
	struct profile *p = made_profile("a 1 pid=1 tid=1 name=x\na 2 pid=1 tid=1 name=y\n"
					 "a 4 pid=1 tid=2 name=x\n");
	struct analysis *a;
	struct lens l;
	char detail[FMT_SIZE];

	made_lens(&l, p, "");
	l.grouping = GROUP_THREAD;
	a = made_analysis(p, &l);
	cr_assert_eq(a->weights.n_threads, 2);
	cr_assert_eq(a->table.n_rows, 2);
	cr_assert_str_eq(a->table_keys->key[a->table.key[0]].label, "x");
	cr_assert_str_eq(key_detail(a->table_keys, p, a->table.key[0], detail), "tid 2");
	cr_assert_eq(key_tid(a->table_keys, p, a->table.key[0]), 2);
	cr_assert_eq(key_pid(a->table_keys, p, a->table.key[0]), 1);
	cr_assert_eq(key_tid(&a->keys, p, a->table.key[0]), -1, "a function is no thread");
	cr_assert_str_eq(a->table_keys->key[a->table.key[1]].label, "y", "its newest name");
	cr_assert_eq(a->table.self[1], 3);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

static const struct {
	enum grouping grouping;
	const char *rows;
} groups[] = {
	{ GROUP_THREAD, "x 9 2;x 6 1;z 4 2;[unknown] 2 1;" },
	{ GROUP_PROCESS, "x 15 3;z 4 2;[unknown] 2 1;" },
	{ GROUP_COMM, "x 15 3;z 4 2;[unknown] 2 1;" },
	{ GROUP_CPU, "cpu 0 11 3;cpu 3 8 2;[unknown] 2 1;" },
	{ GROUP_EVENT, "cycles 21 6;faults 0 1;" },
	{ GROUP_CGROUP, "/a 10 3;/b 9 2;[unknown] 2 1;" },
};

/* Of three captures, the second one without threads, on two machines. */
Test(table, samples_by_capture_and_host)
{
	static const char *const hosts[] = { "blue", "red", "blue" };
	static const struct {
		enum grouping grouping;
		const char *filter, *rows;
	} cases[] = { { GROUP_CAPTURE, "", "c 4 1;b 3 2;a 2 2;" },
		      { GROUP_HOST, "", "blue 6 3;red 3 2;" },
		      { GROUP_CAPTURE, "host:^blue$", "c 4 1;a 2 2;" },
		      { GROUP_CAPTURE, "!host:blue", "b 3 2;" },
		      { GROUP_CAPTURE, "host:u|e capture:2-3", "c 4 1;b 3 2;" },
		      { GROUP_HOST, "host:green", "" } };
	struct profile *p = profile_new();
	const char *const paths[] = { "a", "b", "c" };

	builder_begin(p);
	for (uint32_t i = 0; i < 3; i++) {
		capture_id c = build_capture(p, paths[i], "made");
		struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };

		build_fact(p, c, "machine", "host", FACT_PLAIN, "%s", hosts[i]);
		s.event = build_event(p, "cycles", UNIT_COUNT, true);
		if (i != 1)
			s.thread = build_thread(p, build_process(p, c, 7), 7,
						build_cstring(p, "x"));
		for (uint32_t k = 0; k < (i < 2 ? 2u : 1u); k++) {
			s.weight = i == 2 ? 4 : i == 1 ? 1 + k : 1;
			cr_assert_eq(build_sample(p, &s), 0);
		}
	}
	builder_end(p);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct analysis *a;
		struct lens l;
		char rows[256] = "";

		made_lens(&l, p, cases[i].filter);
		l.grouping = cases[i].grouping;
		a = made_analysis(p, &l);
		for (uint32_t r = 0; r < a->table.n_rows; r++)
			snprintf(rows + strlen(rows), sizeof(rows) - strlen(rows), "%s %d %d;",
				 a->table_keys->key[a->table.key[r]].label, (int)a->table.self[r],
				 (int)a->table.n_samples[r]);
		cr_expect_str_eq(rows, cases[i].rows);
		analysis_free(a);
		lens_done(&l);
	}
	profile_free(p);
}

/* A comparison has a row for files of one name in two directories; a table of them has two. */
Test(table, files_of_one_name_are_paired)
{
	static const char *const paths[] = { "before/x", "before/y", "after/x" };
	struct profile *p = profile_new();
	struct profile_counts counts;
	struct groups keys;

	builder_begin(p);
	for (size_t i = 0; i < 3; i++)
		build_capture(p, paths[i], "made");
	builder_end(p);
	profile_counts_read(p, &counts);
	groups_init(&keys, p, &counts, GROUP_CAPTURE);
	cr_expect_str_eq(keys.key[groups_of_row(&keys, 0)].label, "before/x");
	cr_expect_neq(groups_of_row(&keys, 0), groups_of_row(&keys, 2));
	groups_done(&keys);
	groups_init_compared(&keys, p, &counts, GROUP_CAPTURE, NULL);
	cr_expect_str_eq(keys.key[groups_of_row(&keys, 0)].label, "x");
	cr_expect_eq(groups_of_row(&keys, 0), groups_of_row(&keys, 2));
	cr_expect_neq(groups_of_row(&keys, 0), groups_of_row(&keys, 1));
	groups_done(&keys);
	profile_free(p);
}

Test(table, blocks_of_unknown_threads_are_of_their_capture)
{
	struct profile *p = profile_new();
	struct analysis *a;
	struct lens l;

	builder_begin(p);
	for (int i = 0; i < 2; i++) {
		capture_id c = build_capture(p, i ? "b" : "a", "y");
		track_id t = build_heap_track(p, build_process(p, c, 1), 0, 0);
		struct heap_origin o = { .thread = ID_NONE, .track = (uint16_t)t.v };

		o.event = (uint16_t)build_heap_event(p, "malloc").v;
		build_moment(p, t, 5);
		build_allocation(p, t, i ? 30 : 70, build_heap_origin(p, &o));
	}
	builder_end(p);
	made_lens(&l, p, "");
	l.grouping = GROUP_CAPTURE;
	a = made_analysis(p, &l);
	cr_assert_eq(a->table.n_rows, 2);
	for (uint32_t r = 0; r < 2; r++) {
		cr_expect_str_eq(a->table_keys->key[a->table.key[r]].label, r ? "b" : "a");
		cr_expect_eq(a->table.self[r], r ? 30 : 70);
	}
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

Test(table, samples_by_what_they_say)
{
	struct profile *p = made_profile("a 1 event=cycles pid=1 tid=1 name=x cpu=0 cgroup=/b\n"
					 "b 2 event=cycles\n"
					 "a 4 event=cycles pid=2 tid=3 name=z cpu=0 cgroup=/a\n"
					 "a 8 event=cycles pid=1 tid=1 name=x cpu=3 cgroup=/b\n"
					 "c 0 event=cycles pid=2 tid=3 name=z cpu=3 cgroup=/a\n"
					 "d 6 event=cycles pid=1 tid=2 name=x cpu=0 cgroup=/a\n"
					 "a 99 event=faults pid=1 tid=1 name=x cpu=1\n");
	for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
		struct analysis *a;
		struct lens l;
		int64_t sum = 0;
		char rows[256] = "";

		made_lens(&l, p, "");
		l.grouping = groups[i].grouping;
		a = made_analysis(p, &l);
		for (uint32_t r = 0; r < a->table.n_rows; r++) {
			sum += a->table.self[r];
			snprintf(rows + strlen(rows), sizeof(rows) - strlen(rows), "%s %d %d;",
				 a->table_keys->key[a->table.key[r]].label, (int)a->table.self[r],
				 (int)a->table.n_samples[r]);
		}
		cr_assert_str_eq(rows, groups[i].rows);
		cr_assert_eq(sum, a->weights.total[0]);
		analysis_free(a);
		lens_done(&l);
	}
	profile_free(p);
}

/* A thread is one row wherever it was moved, but its samples are of the group that they were taken in. */
Test(weigh, of_control_groups)
{
	static const struct {
		const char *filter;
		int64_t total;
	} cases[] = {
		{ "cgroup:^/a$", 1 },     { "cgroup:^/a", 5 }, { "!cgroup:/a", 10 },
		{ "cgroup:/b", 2 },       { "cgroup:/c", 0 },  { "!cgroup:.", 8 },
		{ "tid:1 cgroup:/b", 2 },
	};
	struct profile *p = made_profile(
		"x 1 pid=1 tid=1 name=x cgroup=/a\nx 2 pid=1 tid=1 name=x cgroup=/b\n"
		"x 4 pid=2 tid=2 name=y cgroup=/a/in\nx 8 pid=3 tid=3 name=z\n");
	struct analysis *a;
	struct weights w;
	struct lens l;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		made_lens(&l, p, cases[i].filter);
		w = weighed(p, &l);
		cr_expect_eq(w.total[0], cases[i].total, "%s: %d", cases[i].filter,
			     (int)w.total[0]);
		weights_done(&w);
		lens_done(&l);
	}
	made_lens(&l, p, "");
	l.grouping = GROUP_THREAD;
	a = made_analysis(p, &l);
	cr_expect_eq(a->weights.n_threads, 3);
	cr_expect_eq(a->table.n_rows, 3);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

Test(weigh, fractions_and_counts_say_their_scale)
{
	struct profile *p = made_profile("a 3 event=x\nb 5 event=y\nb 6 event=y\n");
	struct weights w;
	struct lens l;

	builder_begin(p);
	cr_assert_eq(build_scale(p, (event_id){ 1 }, 100), 0);
	builder_end(p);
	made_lens(&l, p, "");
	l.n_columns = 3;
	l.column[1].metric.event.v = 0;
	l.column[2].metric = (struct metric){ { 1 }, MEASURE_SAMPLES, false };
	w = weighed(p, &l);
	cr_assert_eq(l.column[0].metric.event.v, 1, "the one with more samples");
	cr_assert_eq(w.scale[0], 100);
	cr_assert_eq(w.total[0], 1100);
	cr_assert_eq(w.scale[1], 1);
	cr_assert_eq(w.total[1], 3);
	cr_assert_eq(w.scale[2], 1);
	cr_assert_eq(w.total[2], 2);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

Test(weigh, an_event_without_weights_counts)
{
	struct profile *p = profile_new();
	struct sample s = {
		.thread = { ID_NONE }, .cpu = CPU_NONE, .weight = 1000, .time_ns = TIME_NONE
	};
	struct weights w;
	struct lens l;

	builder_begin(p);
	s.event = build_event(p, "marks", UNIT_COUNT, false);
	build_sample(p, &s);
	build_sample(p, &s);
	builder_end(p);
	made_lens(&l, p, "");
	w = weighed(p, &l);
	cr_assert_eq(w.total[0], 2);
	cr_assert_eq(w.samples[0], 2);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

/* Folded stacks: a row stands for as many samples as it weighs, however many those are. */
Test(weigh, counted_rows_are_many_samples)
{
	struct profile *p = profile_new();
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	struct analysis *a;
	struct lens l;

	builder_begin(p);
	s.event = build_counted_event(p, "samples");
	s.stack = build_stack(p, s.stack, build_location(p, (module_id){ 0 }, 1));
	s.weight = INT64_C(70000000000);
	build_sample(p, &s);
	s.weight = 25;
	build_sample(p, &s);
	builder_end(p);
	made_lens(&l, p, "");
	l.column[0].metric.measure = MEASURE_SAMPLES;
	a = made_analysis(p, &l);
	cr_assert_eq(a->weights.n_samples, UINT64_C(70000000025));
	cr_assert_eq(a->table.n_samples[0], UINT64_C(70000000025));
	cr_assert_eq(a->weights.total[0], INT64_C(70000000025));
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

/* Two sides of one profile: columns with filters of their own under one filter for both. */
Test(weigh, columns_narrow_by_themselves)
{
	struct profile *p = made_profile("a;b 1 cpu=0\na;b 2 cpu=1\na;c 4 cpu=1\n");
	struct analysis *a;
	struct lens l;

	made_lens(&l, p, "fn:b");
	l.n_columns = 2;
	l.column[1].metric = l.column[0].metric;
	cr_assert_eq(filter_parse("cpu:0", &l.column[0].filter, NULL), 0);
	cr_assert_eq(filter_parse("cpu:1", &l.column[1].filter, NULL), 0);
	a = made_analysis(p, &l);
	cr_assert_eq(a->weights.total[0], 1);
	cr_assert_eq(a->weights.total[1], 2);
	cr_assert_eq(a->weights.whole[0], 1);
	cr_assert_eq(a->weights.whole[1], 6, "of the side, not of the filter");
	cr_assert_eq(a->tree->total[2], 1);
	cr_assert_eq(a->tree->total[3], 2);
	analysis_free(a);
	lens_done(&l);
	profile_free(p);
}

/*
 * Runs of many captures, by whose rows whole batches are passed over: some end within a batch, some are empty, some have threads, some
 * have not, and one's thread has rows behind those of the next capture.
 */
Test(weigh, columns_of_captures_add_up)
{
	static const struct {
		unsigned n;
		bool threads;
	} captures[] = { { 5000, false }, { 10, true }, { 0, false },    { 9000, true },
			 { 3, false },    { 0, true },  { 8192, false }, { 1, false } };
	static const char *const filters[] = {
		"capture:1",          "capture:2-4",       "capture:5,7",          "!capture:1",
		"capture:4 thread:t", "capture:7 event:e", "capture:1,4 !thread:t"
	};
	static const int64_t sums[] = { 5000, 10 + 9001, 3 + 8192, 10 + 9001 + 3 + 8192 + 1,
					9001, 8192,      5000 };
	struct profile *p = profile_new();
	thread_id late = { ID_NONE };
	struct weights w;
	struct lens l;
	struct sample s;

	builder_begin(p);
	s = (struct sample){ .cpu = CPU_NONE, .time_ns = TIME_NONE, .weight = 1 };
	s.event = build_summed_event(p, "e", UNIT_COUNT);
	s.stack = build_stack(p, (stack_id){ 0 }, build_location(p, (module_id){ 0 }, 16));
	for (size_t i = 0; i < sizeof(captures) / sizeof(*captures); i++) {
		capture_id c = build_capture(p, "x", "made");

		s.thread = (thread_id){ ID_NONE };
		if (captures[i].threads)
			s.thread = build_thread(p, build_process(p, c, 1), 1,
						build_cstring(p, "t"));
		if (i == 3)
			late = s.thread;
		for (unsigned k = 0; k < captures[i].n; k++)
			build_sample(p, &s);
	}
	s.thread = late;
	build_sample(p, &s);
	builder_end(p);
	made_lens(&l, p, "");
	l.n_columns = sizeof(filters) / sizeof(*filters);
	for (uint32_t c = 0; c < l.n_columns; c++) {
		l.column[c].metric = l.column[0].metric;
		cr_assert_eq(filter_parse(filters[c], &l.column[c].filter, NULL), 0);
	}
	w = weighed(p, &l);
	for (uint32_t c = 0; c < l.n_columns; c++)
		cr_expect_eq(w.total[c], sums[c], "%s: %" PRId64, filters[c], w.total[c]);
	weights_done(&w);
	lens_done(&l);
	profile_free(p);
}

static const struct {
	const char *event, *measure;
	int rc;
	uint32_t found;
	enum measure how;
	const char *error;
} finds[] = {
	{ "cpu-clock", "", 0, 0, MEASURE_WEIGHT, NULL },
	{ "cpu", "samples", 0, 0, MEASURE_SAMPLES, NULL },
	{ "cycles", "period", 0, 1, MEASURE_WEIGHT, NULL },
	{ "cycles:u", "", 0, 2, MEASURE_WEIGHT, NULL },
	{ "cyc", "", -ENOENT, 0, 0,
	  "more than one event is called \"cyc\"; there are: cpu-clock, cycles" },
	{ "nothing", "", -ENOENT, 0, 0, "no event is called \"nothing\"" },
	{ "cycles", "bytes", -ENOENT, 0, 0, "no metric is called \"bytes\"" },
};

Test(lens, metrics_have_names)
{
	struct profile *p =
		made_profile("a 1 event=cpu-clock\na 1 event=cycles\na 1 event=cycles:u\n");
	char *name;

	for (size_t i = 0; i < sizeof(finds) / sizeof(*finds); i++) {
		struct err e = ERR_INIT;
		struct metric m = { 0 };

		cr_assert_eq(metric_find(p, finds[i].event, finds[i].measure, &m, &e), finds[i].rc);
		if (finds[i].error)
			cr_assert(strstr(err_text(&e), finds[i].error), "%s", err_text(&e));
		else
			cr_assert(m.event.v == finds[i].found && m.measure == finds[i].how);
		err_clear(&e);
	}
	name = metric_name(p, (struct metric){ { 1 }, MEASURE_SAMPLES, false });
	cr_assert_str_eq(name, "cycles samples");
	free(name);
	name = metric_name(p, (struct metric){ { 77 }, MEASURE_WEIGHT, false });
	cr_assert_str_eq(name, "samples", "without events");
	free(name);
	profile_free(p);
}

static const char wall_stacks[] = "a;b 5 event=ns:cpu-clock tid=1 pid=1 t=10\n"
				  "a;b 40 event=waits:offcpu tid=1 pid=1 t=15\n"
				  "a;c 200 event=waits:offcpu tid=2 pid=1 t=1\n"
				  "a;b 7 event=ns:task-clock tid=1 pid=1 t=11\n"
				  "a;d 3 event=ns:cpu-clock tid=2 pid=1 t=201\n"
				  "a;d 1000 event=faults tid=2 pid=1 t=202\n";

/* Time on the cpu and off it, column beside column, and their sum: of every row, thread and slice. */
Test(weigh, wall_time_is_on_and_off)
{
	struct profile *p = made_profile(wall_stacks);
	struct analysis *wall, *both, *threads;
	char *text;
	struct lens l;

	made_lens(&l, p, "");
	cr_assert_eq(metric_find(p, "cpu-clock", "wall", &l.column[0].metric, NULL), 0);
	wall = made_analysis(p, &l);
	l.column[0].metric.measure = MEASURE_WEIGHT;
	l.n_columns = 2;
	cr_assert_eq(metric_find(p, "offcpu", "", &l.column[1].metric, NULL), 0);
	both = made_analysis(p, &l);

	cr_expect_eq(wall->weights.total[0], 248);
	cr_expect_eq(wall->weights.n_samples, 4);
	cr_expect_eq(wall->weights.n_threads, 2);
	text = made_tree_text(wall);
	cr_expect_str_eq(text, "a 248 0\n  c 200 200\n  b 45 45\n  d 3 3\n");
	free(text);
	for (uint32_t i = 0; i < both->table.n_rows; i++) {
		uint32_t k = 0;

		while (wall->table.key[k] != both->table.key[i])
			k++;
		cr_expect_eq(wall->table.self[k],
			     both->table.self[2 * i] + both->table.self[2 * i + 1]);
	}
	l.n_columns = 1;
	l.column[0].metric.measure = MEASURE_WALL;
	l.grouping = GROUP_THREAD;
	threads = made_analysis(p, &l);
	cr_assert_eq(threads->table.n_rows, 2);
	cr_expect_eq(threads->table.self[0] + threads->table.self[1], 248);
	cr_expect_eq(threads->table.self[0] * threads->table.self[1], 203 * 45);
	analysis_free(threads);
	analysis_free(wall);
	analysis_free(both);
	lens_done(&l);
	profile_free(p);
}

static const struct {
	const char *stacks, *event, *found, *error;
} walls[] = {
	{ wall_stacks, "cpu-clock", "wall (cpu-clock + offcpu)", NULL },
	{ wall_stacks, "task-clock", "wall (task-clock + offcpu)", NULL },
	{ wall_stacks, NULL, "wall (cpu-clock + offcpu)", NULL },
	{ wall_stacks, "faults", NULL, "\"faults\" is no clock" },
	{ wall_stacks, "offcpu", NULL, "\"offcpu\" is no clock" },
	{ "a 1 event=ns:cpu-clock\n", NULL, NULL, "record with --switch-events" },
	{ "a 1 event=cycles\na 2 event=waits:offcpu\n", NULL, NULL, "\"cycles\" is no clock" },
};

Test(lens, wall_time_wants_a_clock_and_waits)
{
	for (size_t i = 0; i < sizeof(walls) / sizeof(*walls); i++) {
		struct profile *p = made_profile(walls[i].stacks);
		struct metric m = { 0 };
		struct err e = ERR_INIT;
		int rc = walls[i].event ? metric_find(p, walls[i].event, "wall", &m, &e)
					: metric_find_measure(p, "wall", &m, &e);
		char *name;

		cr_assert_eq(rc, walls[i].error ? -ENOENT : 0, "%zu: %s", i, err_text(&e));
		if (walls[i].error) {
			cr_expect(strstr(err_text(&e), walls[i].error), "%s", err_text(&e));
		} else {
			name = metric_name(p, m);
			cr_expect_str_eq(name, walls[i].found);
			cr_expect_eq(metric_unit(p, m), UNIT_NS);
			cr_expect_str_eq(metric_word(p, m), "wall");
			free(name);
		}
		err_clear(&e);
		profile_free(p);
	}
}

/* m: a clock's time, its samples, its wall time, then the next event. */
Test(lens, wall_time_comes_after_a_clocks_samples)
{
	static const char *const names[] = { "cpu-clock samples", "wall (cpu-clock + offcpu)",
					     "offcpu", "offcpu samples", "task-clock" };
	struct profile *p = made_profile(wall_stacks);
	struct metric m = { { 0 }, MEASURE_WEIGHT, false };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *name;

		m = metric_next(p, m, NULL);
		name = metric_name(p, m);
		cr_expect_str_eq(name, names[i]);
		free(name);
	}
	profile_free(p);
}

Test(lens, copies_are_their_own)
{
	struct profile *p = made_profile("a 1\n");
	struct lens l, copy;

	made_lens(&l, p, "fn:a cpu:1");
	cr_assert_eq(filter_parse("leaf:x", &l.column[0].filter, NULL), 0);
	lens_copy(&copy, &l);
	lens_done(&l);
	cr_assert_eq(filter_n_terms(copy.filter), 2);
	cr_assert_str_eq(filter_term(copy.column[0].filter, 0), "leaf:x");
	lens_done(&copy);
	profile_free(p);
}
