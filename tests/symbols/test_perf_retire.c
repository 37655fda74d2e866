/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Processes that ended long ago are forgotten, and nothing that is asked of others becomes another answer by it. */
#include "config.h"

#include "base/mem.h"
#include "profile/sample_rows.h"
#include "tests/support/feed_rig.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
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

/*
 * From then on for so many milliseconds, in each comes a process, does something and goes, with one of so many numbers in turn; of four, one is another program, and
 * one a thread of the shell.
 */
static void put_swarm(struct rig *r, uint64_t begin, int n, uint64_t n_numbers)
{
	struct made *m = &r->records;

	for (int i = 0; i < n; i++) {
		uint64_t t = begin + (uint64_t)i * SECOND / 1000;
		int32_t tid = 2000 + (int32_t)(t / (SECOND / 1000) % n_numbers);
		int32_t pid = i % 4 == 3 ? SHELL : tid;

		made_fork(m, pid, SHELL, tid, SHELL, t);
		if (i % 4 == 1) {
			made_exec(m, pid, t + 1, "cc");
			made_mmap(m, pid, t + 2, CODE, 0x1000, "/bin/cc");
		}
		put_sample(r, pid, tid, t + 3, (i % 4 == 1 ? CODE : LIB) + 0x10);
		put_exit(m, pid, tid, t + 4);
	}
}

/* What samples are asked for; NULL and 0: any. */
struct question {
	const char *module, *comm, *process;
	bool has_tid;
};

static bool is_wanted(const struct profile *p, const struct question *q, module_id module,
		      thread_id thread)
{
	const struct thread *t = profile_thread(p, thread);
	string_id process = process_name(profile_process(p, t->process));
	const char *name = profile_string(p, profile_module(p, module)->name, NULL);

	return (!q->module || strcmp(name, q->module) == 0) &&
	       (!q->comm || strcmp(profile_string(p, t->name, NULL), q->comm) == 0) &&
	       (!q->process || strcmp(profile_string(p, process, NULL), q->process) == 0) &&
	       (!q->has_tid || t->tid >= 0);
}

/* Samples of the state that is held, or of the newest one. */
static uint64_t count(const struct profile *p, const struct profile_counts *held, struct question q)
{
	struct profile_counts counts;
	struct location_columns locations;
	struct stack_columns stacks;
	struct sample_columns columns;
	struct sample_rows *rows = xmalloc(sizeof(*rows));
	uint64_t n = 0;
	uint32_t n_rows;

	profile_counts_read(p, &counts);
	held = held ? held : &counts;
	profile_locations(p, &locations);
	profile_stacks_of(p, held, &stacks);
	profile_samples_of(p, held, &columns);
	for (uint64_t row = 0; row < held->n_samples; row += n_rows) {
		n_rows = sample_rows_next(rows, &columns, row, held->n_samples, ROWS_ALL);
		for (uint32_t i = 0; i < n_rows; i++) {
			module_id module = { locations.module[stacks.location[rows->stack[i]]] };

			if (is_wanted(p, &q, module, (thread_id){ rows->thread[i] }))
				n += sample_count(&columns, row + i);
		}
	}
	free(rows);
	return n;
}

static void begin(struct rig *r)
{
	rig_begin(r);
	made_comm(&r->records, SHELL, SHELL, 1, "sh");
	made_mmap(&r->records, SHELL, 2, LIB, 0x1000, "/lib/libsh.so");
}

/* So many batches of a second. */
static size_t feed_swarm(struct rig *r, int from, int to, uint64_t n_numbers)
{
	size_t most = 0;

	for (int batch = from; batch < to; batch++) {
		size_t n;

		put_swarm(r, SECOND * (uint64_t)(batch + 1), 1000, n_numbers);
		rig_feed_on(r);
		n = ingest_n_tasks(r->feed);
		most = n > most ? n : most;
	}
	return most;
}

/* 300,000 processes and threads, a thousand a second; numbers come again every 30 seconds. */
FEED_TEST(perf_retire, short_processes_are_forgotten)
{
	struct rig r;
	size_t most;

	begin(&r);
	most = feed_swarm(&r, 0, 300, 30000);
	/* A task, its mappings and a space each, of eleven seconds and what else waits for the next time. */
	cr_expect_lt(most, 3 * 16000, "%zu are known at once", most);
	cr_expect_eq(
		count(r.profile, NULL, (struct question){ .module = "libsh.so", .comm = "sh" }),
		225000);
	cr_expect_eq(count(r.profile, NULL, (struct question){ .module = "cc", .comm = "cc" }),
		     75000);
	rig_end(&r);
}

/* Of what is old, names are kept and not numbers; every sum is what it was, and what somebody looks at stays as it is. */
FEED_TEST(perf_retire, ended_ones_become_one_for_each_name)
{
	static const struct build_folding folding = { .keep_ns = 70 * (int64_t)SECOND,
						      .n_rows = 1 << 19,
						      .n_folded = 1 << 18,
						      .n_ended = 1 << 14 };
	struct profile_counts held;
	struct rig r;
	uint64_t n_cc, n_own;

	begin(&r);
	builder_begin(r.profile);
	build_folding(r.profile, &folding);
	builder_end(r.profile);
	feed_swarm(&r, 0, 60, 1000000);
	profile_hold(r.profile, &held);
	cr_expect_eq(count(r.profile, NULL, (struct question){ .process = ENDED_PREFIX "cc" }), 0);
	feed_swarm(&r, 60, 300, 1000000);
	cr_expect_eq(count(r.profile, &held, (struct question){ .has_tid = true }), 60000);
	cr_expect_eq(
		count(r.profile, NULL, (struct question){ .module = "libsh.so", .comm = "sh" }),
		225000);
	cr_expect_eq(count(r.profile, NULL, (struct question){ .module = "cc", .comm = "cc" }),
		     75000);
	/* A process that lives has its threads' samples; those that ended are told by their last names. */
	n_cc = count(r.profile, NULL, (struct question){ .process = ENDED_PREFIX "cc" });
	n_own = count(r.profile, NULL, (struct question){ .has_tid = true });
	cr_expect(n_cc >= 40000 && n_cc <= 60000, "%" PRIu64 " samples of cc", n_cc);
	cr_expect_leq(n_own, 110000, "%" PRIu64 " samples have a thread's number", n_own);
	cr_expect_eq(count(r.profile, NULL,
			   (struct question){ .module = "cc", .process = ENDED_PREFIX "cc" }),
		     n_cc);
	cr_expect_geq(count(r.profile, NULL, (struct question){ .process = "sh" }), 75000);
	profile_release(r.profile, &held);
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
			put_swarm(&r, SECOND * (uint64_t)(batch + 2), 1000, 30000);
			rig_feed_on(&r);
		}
		cr_expect_lt(ingest_n_tasks(r.feed), 3 * 16000, "%s", cases[i].what);
		put_steps(&r, cases[i].late, 20 * SECOND);
		rig_feed_on(&r);
		cr_expect_eq(count(r.profile, NULL,
				   (struct question){ .module = cases[i].module,
						      .comm = cases[i].comm }),
			     1, "%s", cases[i].what);
		rig_end(&r);
	}
}
