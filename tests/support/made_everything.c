/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two processes with three threads, inlined functions, two modules with build-ids, labels, a control group, two events. */
#include "config.h"

#include "tests/support/made_everything.h"

#include "profile/builder.h"
#include "profile/profile.h"

#include <criterion/criterion.h>
#include <inttypes.h>

#define MS INT64_C(1000000)

struct maker {
	struct profile *p;
	module_id prog, lib;
	function_id main, work, inner, copy;
};

static function_id function(struct maker *m, const char *name, module_id module, const char *file,
			    uint32_t line)
{
	return build_function(m->p, build_cstring(m->p, name), module, 0, build_cstring(m->p, file),
			      line);
}

static location_id location(struct maker *m, module_id module, uint64_t address, function_id outer,
			    const char *path, uint32_t line, function_id inner)
{
	location_id l = build_location(m->p, module, address);
	uint32_t file = build_cstring(m->p, path).v;
	struct frame run[2] = { { .function = outer.v, .file = file, .line = line },
				{ .function = inner.v, .file = file, .line = line + 30 } };

	build_location_function(m->p, l, outer);
	build_location_inlines(m->p, l, run, inner.v == ID_NONE ? 1 : 2);
	return l;
}

static thread_id thread(struct maker *m, capture_id c, int32_t pid, int32_t tid, const char *name)
{
	process_id process = build_process(m->p, c, pid);

	if (pid == tid)
		build_process_name(m->p, process, build_cstring(m->p, name));
	return build_thread(m->p, process, tid, build_cstring(m->p, name));
}

static void add_samples(struct maker *m, const thread_id *threads, const location_id *at)
{
	event_id clock = build_event(m->p, "cpu-clock", UNIT_NS, true);
	event_id faults = build_event(m->p, "page-faults", UNIT_COUNT, false);

	for (int i = 0; i < 40; i++) {
		thread_id t = threads[i % 3];
		string_id name = profile_thread(m->p, t)->name;
		stack_id s = build_stack(m->p, (stack_id){ 0 },
					 build_root_location(m->p, name, -1, -1, ROOT_COMM));
		struct sample row = { .thread = t,
				      .event = i % 5 == 4 ? faults : clock,
				      .cpu = (uint16_t)(i % 4),
				      .weight = i % 5 == 4 ? 1 : MS,
				      .time_ns = 7000 * MS + i * 3 * MS };

		for (int k = 0; k <= i % 4; k++)
			s = build_stack(m->p, s, at[k]);
		row.stack = s;
		cr_assert_eq(build_sample(m->p, &row), 0);
	}
}

struct profile *made_everything(void)
{
	struct maker m = { .p = profile_new() };
	thread_id threads[3];
	location_id at[4];
	capture_id c;

	builder_begin(m.p);
	c = build_capture(m.p, "everything", "made");
	m.prog = build_module(m.p, "/usr/bin/prog", "0123456789abcdef0123456789abcdef01234567",
			      FAMILY_PROGRAM);
	m.lib = build_module(m.p, "/usr/lib/libx.so.1", "fedcba9876543210fedcba9876543210fedcba98",
			     FAMILY_LIBRARY);
	m.main = function(&m, "main", m.prog, "/src/a.c", 10);
	m.work = function(&m, "ns::work<int, char>(a \"b\" & c)", m.prog, "/src/a.c", 20);
	m.inner = function(&m, "inner", m.prog, "/src/a.c", 5);
	m.copy = function(&m, "copy", m.lib, "/src/lib.c", 7);
	at[0] = location(&m, m.prog, 0x1100, m.main, "/src/a.c", 12, (function_id){ ID_NONE });
	at[1] = location(&m, m.prog, 0x1200, m.work, "/src/a.c", 22, m.inner);
	at[2] = location(&m, m.lib, 0x2100, m.copy, "/src/a.c", 8, (function_id){ ID_NONE });
	at[3] = location(&m, m.prog, 0x1210, m.work, "/src/part.h", 23, (function_id){ ID_NONE });
	threads[0] = thread(&m, c, 100, 100, "prog");
	threads[1] = thread(&m, c, 100, 101, "worker \xc3\xb6 1/2");
	threads[2] = build_thread_labelled(m.p, thread(&m, c, 200, 200, "other"),
					   build_cstring(m.p, "kind=sort"));
	threads[1] = build_thread_in(m.p, threads[1], build_cgroup(m.p, c, 77).v);
	build_cgroup_path(m.p, build_cgroup(m.p, c, 77), build_cstring(m.p, "/system.slice/x"));
	add_samples(&m, threads, at);
	cr_assert_eq(builder_end(m.p), 0);
	return m.p;
}

static location_id named(struct profile *p, const char *name, const char *path, uint32_t declared,
			 uint32_t line)
{
	module_id m = build_module(p, path, "", FAMILY_PROGRAM);
	string_id file = build_cstring(p, path);
	struct frame f = { .file = file.v, .line = line };

	f.function = build_function(p, build_cstring(p, name), m, 0, file, declared).v;
	return build_frames_location(p, &f, 1);
}

struct profile *made_script(void)
{
	struct profile *p = profile_new();
	location_id main_at, work_at, leaf_at[3];
	event_id cpu;
	capture_id c;
	thread_id t;

	builder_begin(p);
	c = build_capture(p, "script", "made");
	cpu = build_event(p, "cpu-clock", UNIT_NS, true);
	t = build_thread(p, build_process(p, c, 100), 100, build_cstring(p, "node"));
	main_at = named(p, "main", "/src/a.js", 1, 1);
	work_at = named(p, "work", "/src/a.js", 10, 10);
	for (uint32_t i = 0; i < 3; i++)
		leaf_at[i] = named(p, "leaf", "/src/b.js", 3, 3 + i);
	for (uint32_t i = 0; i < 30; i++) {
		struct sample row = { .thread = t,
				      .event = cpu,
				      .cpu = CPU_NONE,
				      .weight = MS,
				      .time_ns = 7000 * MS + i * MS };

		row.stack = build_stack(p, (stack_id){ 0 }, main_at);
		if (i % 5 > 0)
			row.stack = build_stack(p, row.stack, work_at);
		if (i % 5 > 1)
			row.stack = build_stack(p, row.stack, leaf_at[i % 5 - 2]);
		cr_assert_eq(build_sample(p, &row), 0);
	}
	cr_assert_eq(builder_end(p), 0);
	return p;
}
