/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One thread writes and publishes, one finds names, one asks; what is asked is whole at any time. */
#include "config.h"

#include "base/task.h"
#include "profile/builder.h"
#include "query/analysis.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define N_BATCHES     400
#define BATCH_SAMPLES 200

struct growth {
	struct profile *profile;
	_Atomic bool done; /* the writer has ended */
	_Atomic int scale; /* of the event, as published */
};

/* Every sample weighs 1 unit, under a root, two addresses and perhaps a symbol. */
static void write_sample(struct growth *g, unsigned i, module_id m, process_id process)
{
	struct profile *p = g->profile;
	struct sample s = { .cpu = CPU_NONE, .event = { 0 }, .time_ns = TIME_NONE };
	char name[32];

	snprintf(name, sizeof(name), "f%u", i % 1000);
	s.thread = build_thread(p, process, (int)(i % 7), build_cstring(p, name));
	s.stack = build_stack(p, s.stack, build_comm_location(p, build_cstring(p, "t")));
	s.stack = build_stack(p, s.stack, build_location(p, m, i % 61));
	s.stack = build_stack(p, s.stack, build_location(p, m, 1000 + i % 997));
	if (i % 2)
		s.stack = build_stack(
			p, s.stack,
			build_symbol_location(p, build_function(p, build_cstring(p, name), m, 0,
								(string_id){ 0 }, 0)));
	if (i > BATCH_SAMPLES * N_BATCHES / 4)
		s.time_ns = i;
	s.weight = g->scale;
	build_sample(p, &s);
}

static int write_batches(void *arg)
{
	struct growth *g = arg;
	struct profile *p = g->profile;
	unsigned i = 0;

	for (unsigned b = 0; b < N_BATCHES; b++) {
		module_id m;
		process_id process;
		char name[32];

		builder_begin(p);
		m = build_module(p, "/bin/x", "", FAMILY_PROGRAM);
		process = build_process(p, (capture_id){ 0 }, 1);
		snprintf(name, sizeof(name), "name%u", b);
		build_process_name(p, process, build_cstring(p, name));
		build_fact(p, (capture_id){ 0 }, "file", "batch", FACT_PLAIN, "%u", b);
		if (b == N_BATCHES / 2 && build_scale(p, (event_id){ 0 }, 10) == 0)
			g->scale = 10;
		for (unsigned n = 0; n < BATCH_SAMPLES; n++)
			write_sample(g, i++, m, process);
		builder_end(p);
	}
	g->done = true;
	return 0;
}

static int find_names(void *arg)
{
	struct growth *g = arg;
	struct profile *p = g->profile;

	while (!g->done) {
		struct profile_counts c;
		struct location_columns l;
		char name[32];

		profile_counts_read(p, &c);
		profile_locations(p, &l);
		for (uint32_t i = 0; i < c.n_locations; i++) {
			struct frame run[2] = { 0 };

			if (location_function(&l, i) != ID_NONE)
				continue;
			snprintf(name, sizeof(name), "named%u", i % 100);
			builder_begin(p);
			run[0].function = build_function(p, build_cstring(p, name),
							 (module_id){ 1 }, 0, (string_id){ 0 }, 0)
						  .v;
			run[1] = run[0];
			if (i % 3)
				build_location_function(p, (location_id){ i },
							(function_id){ run[0].function });
			else
				build_location_inlines(p, (location_id){ i }, run, 2);
			builder_end(p);
		}
	}
	return 0;
}

static void look(const struct profile *p, const struct lens *l)
{
	struct analysis *a = made_analysis(p, l);
	const struct calltree *t = a->tree;
	struct profile_counts c;
	int64_t self = 0;

	cr_assert_eq(a->weights.n_samples, a->counts.n_samples);
	cr_assert_eq(a->weights.total[0], (int64_t)a->counts.n_samples * a->weights.scale[0]);
	cr_assert_eq(a->counts.n_samples % BATCH_SAMPLES, 0, "batches are seen whole");
	for (uint32_t i = 0; i < t->n_nodes; i++)
		self += t->self[i];
	cr_assert_eq(self, t->total[0]);
	cr_assert_eq(t->total[0], a->weights.total[0]);
	for (uint32_t i = 0; i < a->table.n_rows; i++)
		cr_assert_gt(strlen(a->table_keys->key[a->table.key[i]].label), 0);
	profile_counts_read(p, &c);
	for (uint32_t i = 0; i < c.n_facts; i++)
		cr_assert_gt(strlen(profile_string(p, profile_fact(p, i).text, NULL)), 0);
	if (c.n_processes)
		cr_assert_eq(strncmp(profile_string(
					     p, process_name(profile_process(p, (process_id){ 0 })),
					     NULL),
				     "name", 4),
			     0);
	analysis_free(a);
}

Test(growing, questions_are_answered_while_the_profile_grows)
{
	struct growth g = { .profile = profile_new(), .scale = 1 };
	struct task *writer, *namer;
	unsigned n_looks = 0;
	struct lens l;

	builder_begin(g.profile);
	build_capture(g.profile, "x", "made");
	build_event(g.profile, "e", UNIT_COUNT, true);
	builder_end(g.profile);
	writer = task_start(write_batches, &g, -1);
	namer = task_start(find_names, &g, -1);
	cr_assert(writer && namer);
	lens_init(&l, g.profile);
	for (; !g.done || n_looks < 7; n_looks++) {
		l.grouping = (enum grouping)(n_looks % N_GROUPINGS);
		look(g.profile, &l);
	}
	cr_assert_eq(task_join(writer), 0);
	cr_assert_eq(task_join(namer), 0);
	look(g.profile, &l);
	lens_done(&l);
	profile_free(g.profile);
}

/* A profile of two addresses, the outer one the caller, with a function that stands in no stack. */
static struct profile *two_addresses(function_id *function)
{
	struct profile *p = profile_new();
	struct sample s = { .cpu = CPU_NONE, .time_ns = TIME_NONE, .weight = 1 };
	module_id m;

	builder_begin(p);
	build_capture(p, "x", "made");
	build_event(p, "e", UNIT_COUNT, true);
	m = build_module(p, "/m", "", FAMILY_PROGRAM);
	*function = build_function(p, build_cstring(p, "found_late"), m, 0, (string_id){ 0 }, 0);
	s.stack = build_stack(p, s.stack, build_location(p, m, 1));
	s.stack = build_stack(p, s.stack, build_location(p, m, 2));
	s.thread.v = ID_NONE;
	build_sample(p, &s);
	builder_end(p);
	return p;
}

/* A tree that is asked for when the table is there says of names what that says, whatever was named since. */
Test(growing, later_trees_agree_with_their_table)
{
	for (int inlined = 0; inlined < 2; inlined++) {
		struct profile *p;
		function_id function;
		struct analysis *a;
		struct table of_tree;
		struct lens l;

		p = two_addresses(&function);
		lens_init(&l, p);
		cr_assert_eq(analysis_new_parts(p, &l, ANALYSIS_LATER, NULL, &a), 0);
		cr_assert_null(a->tree);
		builder_begin(p);
		if (inlined)
			build_location_inlines(p, (location_id){ 1 },
					       (struct frame[]){ { .function = function.v },
								 { .function = function.v } },
					       2);
		else
			build_location_function(p, (location_id){ 1 }, function);
		builder_end(p);
		cr_assert_not_null(analysis_tree(a));
		table_of_frames(a->tree, &a->keys, NULL, &of_tree);
		cr_assert_eq(of_tree.n_rows, 1, "both have no name yet");
		cr_assert_eq(of_tree.n_rows, a->table.n_rows);
		cr_assert_eq(of_tree.key[0], a->table.key[0]);
		cr_assert_eq(of_tree.self[0], a->table.self[0]);
		cr_assert_eq(of_tree.total[0], a->table.total[0]);
		table_done(&of_tree);
		analysis_free(a);
		lens_done(&l);
		profile_free(p);
	}
}
