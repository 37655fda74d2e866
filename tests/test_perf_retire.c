/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that ended long ago are forgotten, and nothing that is asked of others becomes another answer by it. */
#include "config.h"

#include "feed_rig.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define SECOND UINT64_C(1000000000)
#define SHELL  1000 /* the process that the others are forked from */
#define CODE   UINT64_C(0x400000)
#define LIB    UINT64_C(0x7f0000000000)

static void put_exit(struct made *m, int32_t pid, int32_t tid, uint64_t time)
{
	size_t at = made_begin(m, PERF_REC_EXIT, 0);

	made_u32(m, (uint32_t)pid);
	made_u32(m, SHELL);
	made_u32(m, (uint32_t)tid);
	made_u32(m, SHELL);
	made_u64(m, time);
	made_trailer(m, pid, tid, time);
	made_end(m, at);
}

/* Feeds what was made as a live recording is. */
static void feed_on(struct rig *r)
{
	struct perf_feed_cursor cursor = { 0 };
	struct perf_records batch;

	if (r->events.all.n == 0)
		perf_events_add(&r->events, &r->records.attr, NULL);
	batch = rig_batch(r);
	perf_feed_look(r->feed, &batch, PERF_LOOK_COUNT | PERF_LOOK_TELL);
	builder_begin(r->profile);
	perf_feed_retire(r->feed);
	cr_expect_eq(rig_feed_rest(r, &batch, &cursor), PERF_FED_ALL);
	builder_end(r->profile);
	vec_clear(&r->records.bytes);
}

/* From then on for so many milliseconds, a process in each comes, does something and goes; every other one is another program. */
static void put_swarm(struct rig *r, uint64_t begin, int n)
{
	struct made *m = &r->records;

	for (int i = 0; i < n; i++) {
		uint64_t t = begin + (uint64_t)i * SECOND / 1000;
		int32_t pid = 2000 + (int32_t)(t / (SECOND / 1000) % 30000);

		made_fork(m, pid, SHELL, pid, SHELL, t);
		if (i % 2) {
			made_exec(m, pid, t + 1, "cc");
			made_mmap(m, pid, t + 2, CODE, 0x1000, "/bin/cc");
		}
		put_sample(r, pid, pid, t + 3, (i % 2 ? CODE : LIB) + 0x10);
		put_exit(m, pid, pid, t + 4);
	}
}

/* Rows whose address was in the module, of a thread that was called so. */
static uint64_t count_rows(const struct profile *p, const char *module, const char *comm)
{
	struct profile_counts counts;
	struct location_columns locations;
	struct stack_columns stacks;
	struct sample_columns rows;
	uint64_t n = 0;

	profile_counts_read(p, &counts);
	profile_locations(p, &locations);
	profile_stacks(p, &stacks);
	profile_samples(p, &rows);
	for (uint64_t i = 0; i < counts.n_samples; i++) {
		uint32_t l = stacks.location[rows.stack[i]];
		const struct module *m = profile_module(p, (module_id){ locations.module[l] });
		const struct thread *t = profile_thread(p, (thread_id){ rows.thread[i] });

		n += strcmp(profile_string(p, m->name, NULL), module) == 0 &&
		     strcmp(profile_string(p, t->name, NULL), comm) == 0;
	}
	return n;
}

static void begin(struct rig *r)
{
	rig_begin(r);
	made_comm(&r->records, SHELL, SHELL, 1, "sh");
	made_mmap(&r->records, SHELL, 2, LIB, 0x1000, "/lib/libsh.so");
}

/* 300,000 processes, a thousand a second; numbers come again every 30 seconds. */
FEED_TEST(perf_retire, short_processes_are_forgotten)
{
	struct rig r;
	size_t most = 0;

	begin(&r);
	for (int batch = 0; batch < 300; batch++) {
		size_t n;

		put_swarm(&r, SECOND * (uint64_t)(batch + 1), 1000);
		feed_on(&r);
		n = perf_feed_n_tasks(r.feed);
		if (n > most)
			most = n;
	}
	/* A task, its mappings and a space each, of eleven seconds and what else waits for the next time. */
	cr_expect_lt(most, 3 * 16000, "%zu are known at once", most);
	cr_expect_eq(count_rows(r.profile, "libsh.so", "sh"), 150000);
	cr_expect_eq(count_rows(r.profile, "cc", "cc"), 150000);
	rig_end(&r);
}

/* What stays, or comes when others have gone, and what is wanted of a sample of it. */
static const struct {
	const char *what;
	const char *
		early; /* "KIND PID TID [PARENT]", one record a word: f fork, c name, m mapping, x exit, s sample */
	const char *late;          /* the same, when all that could go has gone */
	const char *comm, *module; /* of the late sample */
} cases[] = {
	{ "a child of one that is gone has its mappings", "c7 m7 f8,7 x7", "s8", "seven", "seven" },
	{ "a grandchild, too", "c7 m7 f8,7 f9,8 x7 x8", "s9", "seven", "seven" },
	{ "one that has not ended", "c7 m7", "s7", "seven", "seven" },
	{ "threads go on where the main one has ended", "c7 m7 t7.8 x7", "s7.8", "seven", "seven" },
	{ "other threads ended", "c7 m7 t7.8 x7.8", "s7", "seven", "seven" },
	{ "a number that comes again is another process", "c7 m7 x7", "f7,1000 s7", "sh",
	  "[unknown]" },
	{ "it may come again at once", "c7 m7 x7 f7,1000 m7", "s7", "sh", "seven" },
};

static void put_steps(struct rig *r, const char *steps, uint64_t time)
{
	struct made *m = &r->records;

	for (const char *at = steps; *at; time++) {
		char kind;
		int pid, tid, parent, n = 0;

		cr_assert_eq(sscanf(at, "%c%d%n", &kind, &pid, &n), 2);
		at += n;
		tid = pid;
		if (sscanf(at, ".%d%n", &tid, &n) == 1)
			at += n;
		if (sscanf(at, ",%d%n", &parent, &n) == 1)
			at += n;
		at += *at == ' ';
		switch (kind) {
		case 'f':
			made_fork(m, pid, parent, pid, parent, time);
			break;
		case 't':
			made_fork(m, pid, pid, tid, pid, time);
			break;
		case 'c':
			made_comm(m, pid, tid, time, "seven");
			break;
		case 'm':
			made_mmap(m, pid, time, CODE, 0x1000, "/bin/seven");
			break;
		case 'x':
			put_exit(m, pid, tid, time);
			break;
		default:
			put_sample(r, pid, tid, time, CODE + 0x10);
		}
	}
}

FEED_TEST(perf_retire, what_is_left)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rig r;

		begin(&r);
		put_steps(&r, cases[i].early, SECOND);
		for (int batch = 0; batch < 15; batch++) {
			put_swarm(&r, SECOND * (uint64_t)(batch + 2), 1000);
			feed_on(&r);
		}
		cr_expect_lt(perf_feed_n_tasks(r.feed), 3 * 16000, "%s", cases[i].what);
		put_steps(&r, cases[i].late, 20 * SECOND);
		feed_on(&r);
		cr_expect_eq(count_rows(r.profile, cases[i].module, cases[i].comm), 1, "%s",
			     cases[i].what);
		rig_end(&r);
	}
}
