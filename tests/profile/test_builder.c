/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/task.h"
#include "profile/builder.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *string_of(const struct profile *p, string_id s)
{
	return profile_string(p, s, NULL);
}

Test(builder, strings_are_interned_and_terminated)
{
	struct profile *p = profile_new();
	string_id a, b, nul;
	size_t len;

	builder_begin(p);
	a = build_cstring(p, "hello");
	b = build_string(p, "hello, world", 5);
	nul = build_string(p, "x\0y", 3);
	cr_assert_eq(a.v, b.v);
	cr_assert_eq(build_cstring(p, "").v, 0);
	cr_assert_neq(build_cstring(p, "x").v, nul.v);
	cr_assert_eq(builder_end(p), 0);
	cr_assert_str_eq(string_of(p, a), "hello");
	cr_assert_eq(memcmp(profile_string(p, nul, &len), "x\0y", 4), 0);
	cr_assert_eq(len, 3);
	cr_assert_str_eq(string_of(p, (string_id){ 0 }), "");
	profile_free(p);
}

static const struct {
	const char *path, *name;
} module_names[] = {
	{ "/usr/lib/libc.so.6", "libc.so.6" },
	{ "a.out", "a.out" },
	{ "/tmp/x (deleted)", "x" },
	{ "[kernel.kallsyms]", "[kernel]" },
	{ "[kernel.kallsyms]_stext", "[kernel]" },
	{ "[a/b]", "[a/b]" },
	{ "//anon", "//anon" },
	{ "/dir/", "dir/" },
	{ "/", "/" },
	{ " (deleted)", " (deleted)" },
};

Test(builder, modules_are_named_by_their_paths)
{
	struct profile *p = profile_new();

	builder_begin(p);
	for (size_t i = 0; i < sizeof(module_names) / sizeof(*module_names); i++) {
		module_id m = build_module(p, module_names[i].path, "", FAMILY_LIBRARY);

		cr_assert_str_eq(string_of(p, profile_module(p, m)->name), module_names[i].name);
		cr_assert_eq(build_module(p, module_names[i].path, "", FAMILY_LIBC).v, m.v);
		cr_assert_neq(build_module(p, module_names[i].path, "ab", FAMILY_LIBC).v, m.v);
	}
	cr_assert_eq(build_module(p, "", "", FAMILY_LIBC).v, 0);
	builder_end(p);
	profile_free(p);
}

Test(builder, kernel_modules_are_named_in_brackets)
{
	static const char *const rows[][2] = {
		{ "/lib/modules/6.1.0/kernel/net/netfilter/nf_tables.ko.xz", "[nf_tables]" },
		{ "/lib/modules/6.1.0/kernel/fs/ext4.ko", "[ext4]" },
		{ "[nf_tables]", "[nf_tables]" },
		{ "/opt/odd.kombu", "odd.kombu" },
	};
	struct profile *p = profile_new();

	builder_begin(p);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		module_id m = build_module(p, rows[i][0], "", FAMILY_KERNEL);

		cr_assert_str_eq(string_of(p, profile_module(p, m)->name), rows[i][1]);
	}
	builder_end(p);
	profile_free(p);
}

Test(builder, ids_tell_things_apart_and_are_kept)
{
	struct profile *p = profile_new();
	module_id m, other;
	function_id f, g, comm;
	location_id l;
	stack_id s;

	builder_begin(p);
	m = build_module(p, "/bin/x", "", FAMILY_PROGRAM);
	other = build_module(p, "/bin/y", "", FAMILY_PROGRAM);
	f = build_function(p, build_cstring(p, "f"), m, 0, build_cstring(p, "f.c"), 3);
	g = build_function(p, build_cstring(p, "f"), other, 0, (string_id){ 0 }, 0);
	cr_assert_neq(f.v, g.v);
	cr_assert_eq(build_function(p, build_cstring(p, "f"), m, 0, (string_id){ 0 }, 9).v, f.v);
	cr_assert_eq(profile_function(p, f)->line, 3, "the first call's");

	comm = build_function(p, build_cstring(p, "f"), (module_id){ 0 }, FUNCTION_COMM,
			      (string_id){ 0 }, 0);
	cr_assert_neq(
		build_function(p, build_cstring(p, "f"), (module_id){ 0 }, 0, (string_id){ 0 }, 0)
			.v,
		comm.v, "a thread's name is not a function's");
	cr_assert_eq(build_comm_location(p, build_cstring(p, "f")).v,
		     build_symbol_location(p, comm).v);

	l = build_location(p, m, 16);
	cr_assert_eq(build_location(p, m, 16).v, l.v);
	cr_assert_neq(build_location(p, other, 16).v, l.v);
	cr_assert_neq(build_location(p, m, 17).v, l.v);
	cr_assert_neq(build_location(p, m, 0).v, build_symbol_location(p, f).v);

	s = build_stack(p, (stack_id){ 0 }, l);
	cr_assert_gt(s.v, 0);
	cr_assert_eq(build_stack(p, (stack_id){ 0 }, l).v, s.v);
	cr_assert_gt(build_stack(p, s, l).v, s.v, "a child's id is the larger one");
	builder_end(p);
	profile_free(p);
}

/* More children than the hints hold, asked for twice in different orders. */
Test(builder, stacks_stay_the_same_when_there_are_many)
{
	enum { N = 50000 };
	struct profile *p = profile_new();
	static uint32_t first[N];
	struct stack_columns c;
	module_id m;

	builder_begin(p);
	m = build_module(p, "x", "", FAMILY_PROGRAM);
	for (uint32_t i = 0; i < N; i++) {
		stack_id parent = { i < 10 ? 0 : first[i % 10 + i / 2 - 5] };

		first[i] = build_stack(p, parent, build_location(p, m, i % 100)).v;
	}
	profile_stacks(p, &c);
	for (uint32_t i = N; i-- > 0;) {
		stack_id parent = { i < 10 ? 0 : first[i % 10 + i / 2 - 5] };
		location_id l = build_location(p, m, i % 100);

		cr_assert_eq(build_stack(p, parent, l).v, first[i]);
		cr_assert_eq(c.parent[first[i]], parent.v);
		cr_assert_eq(c.location[first[i]], l.v);
	}
	builder_end(p);
	profile_free(p);
}

Test(builder, names_come_later_and_once)
{
	struct profile *p = profile_new();
	struct profile_counts before, after;
	struct location_columns c;
	struct frame frames[2] = { 0 };
	const struct frame *run;
	function_id f, g;
	location_id l;

	builder_begin(p);
	l = build_location(p, build_module(p, "x", "", FAMILY_PROGRAM), 1);
	builder_end(p);
	profile_counts_read(p, &before);
	profile_locations(p, &c);
	cr_assert_eq(location_function(&c, l.v), ID_NONE);
	cr_assert_null(location_frames(&c, l.v));

	builder_begin(p);
	f = build_function(p, build_cstring(p, "f"), (module_id){ 1 }, 0, (string_id){ 0 }, 0);
	g = build_function(p, build_cstring(p, "g"), (module_id){ 1 }, 0, (string_id){ 0 }, 0);
	frames[0].function = f.v;
	frames[1].function = g.v;
	frames[1].line = 7;
	build_location_inlines(p, l, frames, 2);
	build_location_function(p, l, g);
	build_location_inlines(p, l, frames + 1, 1);
	builder_end(p);
	profile_counts_read(p, &after);
	cr_assert_gt(after.resolution, before.resolution);
	cr_assert_gt(after.version, before.version);
	cr_assert_eq(location_function(&c, l.v), f.v, "the first answer is final");
	run = location_frames(&c, l.v);
	cr_assert_eq(run[0].n_more, 1);
	cr_assert_eq(run[1].n_more, 0);
	cr_assert_eq(run[1].line, 7);
	profile_free(p);
}

Test(builder, nothing_is_seen_before_it_is_published)
{
	struct profile *p = profile_new();
	struct profile_counts c;
	struct sample_columns rows;
	struct sample s = {
		.thread = { ID_NONE }, .cpu = CPU_NONE, .weight = 1, .time_ns = TIME_NONE
	};

	builder_begin(p);
	s.event = build_event(p, "e", UNIT_COUNT, true);
	build_sample(p, &s);
	profile_counts_read(p, &c);
	profile_samples(p, &rows);
	cr_assert_eq(c.n_samples, 0);
	cr_assert_null(rows.stack);
	builder_end(p);
	profile_counts_read(p, &c);
	profile_samples(p, &rows);
	cr_assert_eq(c.n_samples, 1);
	cr_assert_not_null(rows.stack);
	profile_free(p);
}

Test(builder, columns_come_with_the_first_sample_that_needs_them)
{
	struct profile *p = profile_new();
	struct sample s = {
		.thread = { ID_NONE }, .cpu = CPU_NONE, .weight = 1, .time_ns = TIME_NONE
	};
	struct sample_columns rows;
	const struct capture *c;
	process_id process;

	builder_begin(p);
	c = profile_capture(p, build_capture(p, "f", "folded"));
	build_event(p, "e", UNIT_COUNT, true);
	cr_assert_eq(build_sample(p, &s), 0);
	cr_assert_eq(build_sample(p, &s), 0);
	builder_end(p);
	profile_samples(p, &rows);
	cr_assert(!rows.thread && !rows.event && !rows.cpu && !rows.weight && !rows.time_ns);
	cr_assert_eq(capture_begin(c), TIME_NONE);

	builder_begin(p);
	process = build_process(p, (capture_id){ 0 }, 1);
	s.thread = build_thread(p, process, 2, (string_id){ 0 });
	s.event = build_event(p, "other", UNIT_NS, true);
	s.cpu = 3;
	s.weight = 4;
	s.time_ns = 5;
	cr_assert_eq(build_sample(p, &s), 0);
	s.time_ns = -9;
	cr_assert_eq(build_sample(p, &s), 0);
	builder_end(p);
	profile_samples(p, &rows);
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(rows.thread[i], ID_NONE);
		cr_assert_eq(rows.event[i], 0);
		cr_assert_eq(rows.cpu[i], CPU_NONE);
		cr_assert_eq(rows.weight[i], 1);
		cr_assert_eq(rows.time_ns[i], TIME_NONE);
	}
	cr_assert_eq(rows.thread[2], 0);
	cr_assert_eq(rows.event[2], 1);
	cr_assert_eq(rows.cpu[2], 3);
	cr_assert_eq(rows.weight[2], 4);
	cr_assert_eq(rows.time_ns[2], 5);
	cr_assert_eq(capture_begin(c), -9);
	cr_assert_eq(capture_end(c), 5);
	profile_free(p);
}

Test(builder, scaling_multiplies_one_event_and_leaves_readers_what_they_had)
{
	struct profile *p = profile_new();
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	struct sample_columns before, after;
	event_id e, other;

	builder_begin(p);
	e = build_event(p, "e", UNIT_COUNT, true);
	other = build_event(p, "other", UNIT_COUNT, true);
	for (int i = 1; i <= 4; i++) {
		s.weight = i;
		s.event = i % 2 ? e : other;
		cr_assert_eq(build_sample(p, &s), 0);
	}
	builder_end(p);
	profile_samples(p, &before);
	builder_begin(p);
	cr_assert_eq(build_scale(p, e, 10), 0);
	cr_assert_eq(build_scale(p, e, 1000), 0);
	s.event = e;
	s.weight = 5;
	cr_assert_eq(build_sample(p, &s), 0);
	builder_end(p);
	profile_samples(p, &after);
	cr_assert_eq(profile_event(p, e)->scale, 1000);
	cr_assert_eq(profile_event(p, other)->scale, 1);
	cr_assert_eq(before.scale[e.v], 1);
	cr_assert_eq(after.scale[e.v], 1000);
	for (int i = 0; i < 4; i++) {
		cr_assert_eq(before.weight[i], i + 1);
		cr_assert_eq(after.weight[i], (i + 1) * (i % 2 ? 1 : 1000));
	}
	cr_assert_eq(after.weight[4], 5);
	profile_free(p);
}

/* Weights of one unit each need no column; scaled, they still are one unit each. */
Test(builder, scaling_before_there_are_weights)
{
	struct profile *p = profile_new();
	struct sample s = {
		.thread = { ID_NONE }, .cpu = CPU_NONE, .weight = 1, .time_ns = TIME_NONE
	};
	struct sample_columns rows;

	builder_begin(p);
	s.event = build_event(p, "e", UNIT_COUNT, true);
	build_sample(p, &s);
	cr_assert_eq(build_scale(p, s.event, 100), 0);
	s.weight = 25;
	build_sample(p, &s);
	builder_end(p);
	profile_samples(p, &rows);
	cr_assert_eq(rows.weight[0], 100);
	cr_assert_eq(rows.weight[1], 25);
	profile_free(p);
}

Test(builder, totals_never_overflow)
{
	struct profile *p = profile_new();
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	struct profile_counts c;

	builder_begin(p);
	s.event = build_event(p, "e", UNIT_COUNT, true);
	s.weight = INT64_MIN;
	cr_assert_eq(build_sample(p, &s), -ERANGE);
	s.weight = INT64_MAX - 5;
	cr_assert_eq(build_sample(p, &s), 0);
	s.weight = -6;
	cr_assert_eq(build_sample(p, &s), -ERANGE, "no part of the rows may overflow either");
	s.weight = 5;
	cr_assert_eq(build_sample(p, &s), 0);
	cr_assert_eq(build_scale(p, s.event, 10), -ERANGE);
	cr_assert_eq(profile_event(p, s.event)->scale, 1);
	s.event = build_event(p, "another", UNIT_COUNT, true);
	cr_assert_eq(build_sample(p, &s), 0, "each event has a total of its own");
	cr_assert_eq(builder_end(p), 0);
	profile_counts_read(p, &c);
	cr_assert_eq(c.n_samples, 3);
	profile_free(p);
}

/* Wall time adds the waits to a clock. */
Test(builder, clocks_together_never_overflow)
{
	struct profile *p = profile_new();
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	event_id clock, waits, count;

	builder_begin(p);
	clock = s.event = build_event(p, "cpu-clock", UNIT_NS, true);
	waits = build_derived_event(p, "offcpu", UNIT_NS);
	count = build_event(p, "cycles", UNIT_COUNT, true);
	s.weight = INT64_MAX - 7;
	cr_assert_eq(build_sample(p, &s), 0);
	s.event = waits;
	s.weight = 8;
	cr_expect_eq(build_sample(p, &s), -ERANGE);
	s.weight = 4;
	cr_expect_eq(build_sample(p, &s), 0);
	cr_expect_eq(build_scale(p, waits, 2), -ERANGE);
	s.event = clock;
	cr_expect_eq(build_sample(p, &s), -ERANGE);
	s.event = count;
	s.weight = INT64_MAX;
	cr_expect_eq(build_sample(p, &s), 0);
	builder_end(p);
	profile_free(p);
}

Test(builder, ids_that_run_out_are_sticky_and_valid)
{
	struct profile *p = profile_new();
	char name[16];

	builder_begin(p);
	for (uint32_t i = 0; i < UINT16_MAX; i++) {
		snprintf(name, sizeof(name), "e%u", i);
		cr_assert_eq(build_event(p, name, UNIT_COUNT, true).v, i);
	}
	cr_assert_eq(builder_end(p), 0);
	builder_begin(p);
	cr_assert_eq(build_event(p, "one too many", UNIT_COUNT, true).v, 0);
	cr_assert_eq(builder_end(p), -EFBIG);
	builder_begin(p);
	cr_assert_eq(build_event(p, "e7", UNIT_COUNT, true).v, 7);
	cr_assert_eq(builder_end(p), -EFBIG);
	profile_free(p);
}

Test(builder, threads_and_processes_are_told_apart)
{
	struct profile *p = profile_new();
	capture_id a, b;
	process_id one;
	thread_id t;

	builder_begin(p);
	a = build_capture(p, "same", "made");
	b = build_capture(p, "same", "made");
	cr_assert_neq(a.v, b.v);
	one = build_process(p, a, 1);
	cr_assert_eq(build_process(p, a, 1).v, one.v);
	cr_assert_neq(build_process(p, b, 1).v, one.v);
	t = build_thread(p, one, 1, build_cstring(p, "x"));
	cr_assert_eq(build_thread(p, one, 1, build_cstring(p, "x")).v, t.v);
	cr_assert_neq(build_thread(p, one, 1, build_cstring(p, "y")).v, t.v);
	build_process_name(p, one, build_cstring(p, "y"));
	cr_assert_str_eq(string_of(p, process_name(profile_process(p, one))), "y");
	builder_end(p);
	profile_free(p);
}

Test(builder, facts_are_replaced_in_place)
{
	struct profile *p = profile_new();
	struct profile_counts c;
	capture_id a, b;

	builder_begin(p);
	a = build_capture(p, "a", "made");
	b = build_capture(p, "b", "made");
	build_fact(p, a, "losses", "lost", FACT_LOSS, "%d samples", 3);
	build_fact(p, b, "losses", "lost", FACT_LOSS, "another's");
	build_fact(p, a, "file", "lost", FACT_PLAIN, "elsewhere");
	build_fact(p, a, "losses", "lost", FACT_GOOD, "%d samples", 0);
	builder_end(p);
	profile_counts_read(p, &c);
	cr_assert_eq(c.n_facts, 3);
	cr_assert_str_eq(string_of(p, profile_fact(p, 0).text), "0 samples");
	cr_assert_eq(profile_fact(p, 0).kind, FACT_GOOD);
	cr_assert_str_eq(string_of(p, profile_fact(p, 1).text), "another's");
	profile_free(p);
}

static int state_aside(void *arg)
{
	struct profile *p = arg;

	builder_begin(p);
	build_part_aside(p, (capture_id){ 0 }, "data.heap", "heap");
	builder_end(p);
	builder_begin(p);
	build_fact(p, (capture_id){ 0 }, "file", "size", FACT_PLAIN, "2");
	build_part_done(p);
	return builder_end(p);
}

/* Two threads read two files of one capture: what each states is of its own, whose turn it may be. */
Test(builder, facts_are_of_the_part_that_a_thread_reads)
{
	struct profile *p = profile_new();
	struct profile_counts c;

	builder_begin(p);
	build_capture(p, "data", "made");
	builder_end(p);
	cr_assert_eq(task_join(task_start(state_aside, p, -1)), 0);
	builder_begin(p);
	build_fact(p, (capture_id){ 0 }, "file", "size", FACT_PLAIN, "1");
	builder_end(p);
	profile_counts_read(p, &c);
	cr_assert_eq(c.n_facts, 2);
	cr_assert_eq(profile_fact(p, 0).part.v, 1);
	cr_assert_eq(profile_fact(p, 1).part.v, 0);
	profile_free(p);
}

/* Several at once, some of them twice in a call, are what one after the other would be. */
Test(builder, batches_are_as_single_calls)
{
	struct profile *p = profile_new();
	uint32_t seed = 1;

	builder_begin(p);
	for (unsigned round = 0; round < 200; round++) {
		struct build_text text[BUILD_BATCH];
		char names[BUILD_BATCH][8];
		string_id string[BUILD_BATCH];
		stack_id parent[BUILD_BATCH], stack[BUILD_BATCH];
		location_id location[BUILD_BATCH];

		for (unsigned i = 0; i < BUILD_BATCH; i++) {
			seed = seed * 1664525 + 1013904223;
			text[i].s = names[i];
			text[i].len = (size_t)sprintf(names[i], "%x", seed >> 18);
			text[i].hash = hash_bytes(text[i].s, text[i].len);
		}
		build_strings(p, text, BUILD_BATCH, string);
		for (unsigned i = 0; i < BUILD_BATCH; i++) {
			function_id f = build_function(p, string[i], (module_id){ 0 }, 0,
						       (string_id){ 0 }, 0);

			cr_assert_eq(build_cstring(p, names[i]).v, string[i].v);
			location[i] = build_symbol_location(p, f);
			parent[i] = round && i ? stack[i - 1] : (stack_id){ 0 };
			stack[i] = build_stack(p, parent[i], location[i % 3]);
		}
		build_stacks(p, parent, location, BUILD_BATCH, stack);
		for (unsigned i = 0; i < BUILD_BATCH; i++)
			cr_assert_eq(build_stack(p, parent[i], location[i]).v, stack[i].v);
	}
	cr_assert_eq(builder_end(p), 0);
	profile_free(p);
}

/* Equal counted samples are one row until readers have seen it. */
Test(builder, counted_samples_that_grow)
{
	static const struct {
		int64_t weight;
		bool publish;  /* before it */
		uint64_t rows; /* after it */
	} cases[] = {
		{ 1, false, 1 }, { 1, false, 1 },  { 5, false, 1 }, { 2, true, 2 },
		{ 3, false, 2 }, { -4, false, 3 }, { 1, true, 4 },
	};
	static const int64_t weights[] = { 7, 5, -4, 1 };
	struct sample s = { .thread = { ID_NONE }, .cpu = CPU_NONE, .time_ns = TIME_NONE };
	struct profile *p = profile_new();
	struct profile_counts counts;
	struct sample_columns rows;
	uint64_t row = 0;

	builder_begin(p);
	s.event = build_counted_event(p, "samples");
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (cases[i].publish) {
			cr_assert_eq(builder_end(p), 0);
			builder_begin(p);
		}
		s.weight = cases[i].weight;
		cr_assert_eq(build_counted_sample(p, &s, &row), 0);
		cr_expect_eq(row, cases[i].rows, "case %zu", i);
	}
	s.weight = INT64_MAX;
	cr_expect_eq(build_counted_sample(p, &s, &row), -ERANGE);
	cr_assert_eq(builder_end(p), 0);
	profile_counts_read(p, &counts);
	profile_samples(p, &rows);
	cr_assert_eq(counts.n_samples, 4);
	for (size_t i = 0; i < 4; i++)
		cr_expect_eq(rows.weight[i], weights[i]);
	profile_free(p);
}

/* One name in many modules, and as a thread's name: functions of their own. */
Test(builder, functions_that_share_a_name)
{
	struct profile *p = profile_new();
	function_id f[100], comm;
	string_id name;

	builder_begin(p);
	name = build_cstring(p, "_init");
	comm = build_function(p, name, (module_id){ 0 }, FUNCTION_COMM, (string_id){ 0 }, 0);
	for (unsigned i = 0; i < 100; i++) {
		char path[16];

		snprintf(path, sizeof(path), "lib%u.so", i);
		f[i] = build_function(p, name, build_module(p, path, "", FAMILY_LIBRARY), 0,
				      (string_id){ 0 }, 0);
		for (unsigned k = 0; k < i; k++)
			cr_assert_neq(f[i].v, f[k].v);
	}
	for (unsigned i = 0; i < 100; i++)
		cr_assert_eq(build_function(p, name, profile_function(p, f[i])->module, 0,
					    (string_id){ 0 }, 0)
				     .v,
			     f[i].v);
	cr_assert_eq(
		build_function(p, name, (module_id){ 0 }, FUNCTION_COMM, (string_id){ 0 }, 0).v,
		comm.v);
	cr_assert_eq(builder_end(p), 0);
	profile_free(p);
}

/* Static functions of one name in many files of a program, some of which nobody knows the file of. */
Test(builder, functions_that_share_a_name_and_a_module)
{
	struct profile *p = profile_new();
	string_id name, none = { 0 }, file[100];
	function_id f[100];
	location_id l[2];
	struct location_columns c;
	module_id m;

	builder_begin(p);
	name = build_cstring(p, "work");
	m = build_module(p, "x", "", FAMILY_PROGRAM);
	for (unsigned i = 0; i < 2; i++) {
		l[i] = build_location(p, m, i);
		build_location_function(p, l[i], build_function(p, name, m, 0, none, 0));
	}
	for (unsigned i = 0; i < 100; i++) {
		char path[16];

		snprintf(path, sizeof(path), "%u.c", i);
		file[i] = build_cstring(p, path);
		f[i] = build_function(p, name, m, 0, file[i], i + 1);
		for (unsigned k = 0; k < i; k++)
			cr_assert_neq(f[i].v, f[k].v);
	}
	profile_locations(p, &c);
	cr_assert_eq(location_function(&c, l[0].v), f[0].v, "the first file is of what had none");
	for (unsigned i = 0; i < 100; i++) {
		cr_assert_eq(build_function(p, name, m, 0, file[i], 0).v, f[i].v);
		cr_assert_eq(function_file(profile_function(p, f[i])).v, file[i].v);
		cr_assert_eq(function_line(profile_function(p, f[i])), i + 1);
	}
	cr_assert_eq(build_function(p, name, m, 0, none, 0).v, f[0].v);
	cr_assert_eq(build_location_declared(p, l[0], none, 0).v, f[0].v);
	cr_assert_eq(build_location_declared(p, l[0], file[0], 1).v, f[0].v);
	cr_assert_eq(build_location_declared(p, l[1], file[7], 8).v, f[7].v);
	cr_assert_eq(location_function(&c, l[1].v), f[7].v);
	cr_assert_eq(location_function(&c, l[0].v), f[0].v);
	cr_assert_eq(builder_end(p), 0);
	profile_free(p);
}

/*
 * Many children of few stacks, so that the index of stacks grows often and its slots have ever fewer bits of hashes: each is found
 * again, is nobody else's, and stacks that were not made are not found.
 */
Test(builder, stacks_are_found_while_their_index_grows)
{
	enum { PARENTS = 50, CHILDREN = 6000 };
	struct profile *p = profile_new();
	stack_id *made = xcalloc(PARENTS * CHILDREN, sizeof(*made)), parent[PARENTS];
	struct stack_columns s;
	uint32_t n = 0;

	builder_begin(p);
	for (uint32_t i = 0; i < PARENTS; i++)
		parent[i] = build_stack(p, (stack_id){ 0 }, build_location(p, (module_id){ 0 }, i));
	for (uint32_t k = 0; k < CHILDREN; k++)
		for (uint32_t i = 0; i < PARENTS; i++)
			made[n++] = build_stack(p, parent[i],
						build_location(p, (module_id){ 0 }, k * 7919));
	builder_end(p);
	profile_stacks(p, &s);
	for (uint32_t k = n; k-- > 0;) {
		cr_assert_eq(s.parent[made[k].v], parent[k % PARENTS].v);
		cr_assert(k == 0 || made[k].v != made[k - 1].v);
	}
	builder_begin(p);
	for (uint32_t k = CHILDREN; k-- > 0;)
		for (uint32_t i = 0; i < PARENTS; i++)
			cr_assert_eq(build_stack(p, parent[i],
						 build_location(p, (module_id){ 0 }, k * 7919))
					     .v,
				     made[k * PARENTS + i].v);
	for (uint32_t i = 0; i < PARENTS; i++)
		cr_assert_gt(build_stack(p, parent[i], build_location(p, (module_id){ 0 }, 5)).v,
			     made[n - 1].v);
	builder_end(p);
	free(made);
	profile_free(p);
}
