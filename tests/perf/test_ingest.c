/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records made by hand → samples of a profile: chains, names over time, mappings, losses. */
#include "config.h"

#include "tests/support/feed_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K PERF_CTX_KERNEL
#define U PERF_CTX_USER

/* Of a thread that is called "a", with /bin/a at 0x1000 and the kernel at -0x10000 (0xffff0000…). */
static const struct {
	const char *what;
	uint16_t misc;
	uint64_t ip;
	size_t n;
	uint64_t chain[8];
	const char *stack;
} chain_cases[] = {
	{ "a user chain, leaf first",
	  2,
	  0x1010,
	  3,
	  { U, 0x1010, 0x1020 },
	  "[/bin/a]+1f;[/bin/a]+10" },
	{ "no mark: the mode of the sample",
	  2,
	  0x1010,
	  2,
	  { 0x1010, 0x1020 },
	  "[/bin/a]+1f;[/bin/a]+10" },
	{ "the same of a sample in the kernel, where nothing is there",
	  1,
	  0x1010,
	  2,
	  { 0x1010, 0x1020 },
	  "[[unknown]]+101f;[[unknown]]+1010" },
	{ "kernel on user; the first user address is no return address",
	  1,
	  0xffffffffffff0010,
	  6,
	  { K, 0xffffffffffff0010, 0xffffffffffff0021, U, 0x1010, 0x1020 },
	  "[/bin/a]+1f;[/bin/a]+10;[[kernel.kallsyms]]+ffffffffffff0020;"
	  "[[kernel.kallsyms]]+ffffffffffff0010" },
	{ "an empty chain: the address of the sample", 2, 0x1010, 0, { 0 }, "[/bin/a]+10" },
	{ "only marks: the address of the sample", 2, 0x1010, 2, { K, U }, "[/bin/a]+10" },
	{ "a deferred chain that came",
	  1,
	  0xffffffffffff0010,
	  4,
	  { K, 0xffffffffffff0010, PERF_CTX_USER_DEFERRED, 777 },
	  "[/bin/a]+1f;[/bin/a]+10;[[kernel.kallsyms]]+ffffffffffff0010" },
	{ "a deferred chain that did not come: the cookie is no frame",
	  1,
	  0xffffffffffff0010,
	  4,
	  { K, 0xffffffffffff0010, PERF_CTX_USER_DEFERRED, 12345 },
	  "[deferred];[[kernel.kallsyms]]+ffffffffffff0010" },
	{ "a deferred chain without its cookie",
	  1,
	  0xffffffffffff0010,
	  3,
	  { K, 0xffffffffffff0010, PERF_CTX_USER_DEFERRED },
	  "[[kernel.kallsyms]]+ffffffffffff0010" },
	{ "-1 from a walk that went wrong is no frame",
	  2,
	  0x1010,
	  3,
	  { U, 0x1010, UINT64_MAX },
	  "[/bin/a]+10" },
	{ "an address that nothing maps",
	  2,
	  0x99,
	  3,
	  { U, 0x99, 0x1020 },
	  "[/bin/a]+1f;[[unknown]]+99" },
	{ "a mode that was not recorded: by the address",
	  0,
	  0xffffffffffff0010,
	  0,
	  { 0 },
	  "[[kernel.kallsyms]]+ffffffffffff0010" },
};

/* A user chain of a thread that was taken later. */
static void put_deferred(struct made *m, int32_t tid, uint64_t cookie)
{
	size_t at = made_begin(m, PERF_REC_CALLCHAIN_DEFERRED, PERF_CPU_USER);

	made_u64(m, cookie);
	made_u64(m, 3);
	made_u64(m, U);
	made_u64(m, 0x1010);
	made_u64(m, 0x1020);
	made_trailer(m, 7, tid, 60);
	made_end(m, at);
}

FEED_TEST(perf_feed, chains)
{
	for (size_t i = 0; i < 2 * sizeof(chain_cases) / sizeof(*chain_cases); i++) {
		struct made_sample s = { .misc = chain_cases[i / 2].misc,
					 .ip = chain_cases[i / 2].ip,
					 .pid = 7,
					 .tid = 7,
					 .time = 50,
					 .period = 3,
					 .n_chain = chain_cases[i / 2].n };
		struct rig r;
		char *want;

		rig_begin(&r);
		r.records.big = i % 2;
		memcpy(s.chain, chain_cases[i / 2].chain, sizeof(chain_cases[i / 2].chain));
		made_mmap(&r.records, -1, 0, 0xffffffffffff0000, 0x1000, "[kernel.kallsyms]_text");
		made_comm(&r.records, 7, 7, 0, "a");
		made_mmap(&r.records, 7, 0, 0x1000, 0x1000, "/bin/a");
		made_sample(&r.records, &s);
		put_deferred(&r.records, 7, 777);
		put_deferred(&r.records, 8, 12345); /* of another thread */
		cr_expect_eq(rig_feed(&r), INGEST_ALL);
		want = xasprintf("cpu-clock 3 50 a;%s\n", chain_cases[i / 2].stack);
		expect_text(&r, want, chain_cases[i / 2].what);
		free(want);
		rig_end(&r);
	}
}

/* What all chains of the test below are of: two threads of a process that changes its program. */
static void put_world(struct rig *r)
{
	made_mmap(&r->records, -1, 0, 0xffffffffffff0000, 0x1000, "[kernel.kallsyms]_text");
	made_comm(&r->records, 7, 7, 0, "a");
	made_comm(&r->records, 7, 8, 0, "b");
	made_mmap(&r->records, 7, 0, 0x1000, 0x1000, "/bin/a");
	made_mmap(&r->records, 7, 100, 0x1000, 0x1000, "/bin/b");
	put_deferred(&r->records, 7, 777);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/*
 * A chain that came before has its stack at once. So what a sample becomes, and is counted as, must not depend on
 * those before: all in one recording, again and again, give what each gives alone.
 */
FEED_TEST(perf_feed, chains_that_came_before)
{
	enum { N_CASES = sizeof(chain_cases) / sizeof(*chain_cases), N = N_CASES * 4, TIMES = 20 };
	struct ingest_stats sum = { 0 };
	const struct ingest_stats *got;
	char *lines[N * TIMES], *want;
	struct rig all, alone;
	size_t n;
	FILE *to;

	rig_begin(&all);
	put_world(&all);
	for (size_t i = 0; i < N * TIMES; i++) {
		/* Coprime to what there is: each comes TIMES times, and never in the same order. */
		size_t k = i * 7 % N, c = k / 4;
		struct made_sample s = { .misc = chain_cases[c].misc,
					 .ip = chain_cases[c].ip,
					 .pid = 7,
					 .tid = k & 1 ? 7 : 8,
					 .time = k & 2 ? 50 : 150,
					 .period = 1 + i,
					 .n_chain = chain_cases[c].n };

		memcpy(s.chain, chain_cases[c].chain, sizeof(chain_cases[c].chain));
		made_sample(&all.records, &s);
		rig_begin(&alone);
		put_world(&alone);
		made_sample(&alone.records, &s);
		rig_feed(&alone);
		lines[i] = made_text_of(alone.profile);
		got = ingest_stats(alone.feed);
		sum.n_frames += got->n_frames;
		sum.n_leaf_only += got->n_leaf_only;
		sum.frames.n_chains += got->frames.n_chains;
		rig_end(&alone);
	}
	rig_feed(&all);
	qsort(lines, N * TIMES, sizeof(*lines), by_text);
	to = open_memstream(&want, &n);
	for (size_t i = 0; i < N * TIMES; i++) {
		fputs(lines[i], to);
		free(lines[i]);
	}
	fclose(to);
	expect_text(&all, want, "all in one");
	free(want);
	got = ingest_stats(all.feed);
	cr_expect_eq(got->n_decoded, N * TIMES);
	cr_expect_eq(got->n_frames, sum.n_frames);
	cr_expect_eq(got->n_leaf_only, sum.n_leaf_only);
	cr_expect_eq(got->frames.n_chains, sum.frames.n_chains);
	rig_end(&all);
}

/* The same words of a chain mean something else once their user part has come. */
FEED_TEST(perf_feed, deferred_chains_are_not_taken_for_known_ones)
{
	struct made_sample s = {
		.misc = PERF_CPU_KERNEL,
		.ip = 0xffffffffffff0010,
		.pid = 7,
		.tid = 7,
		.time = 50,
		.period = 1,
		.n_chain = 4,
		.chain = { K, 0xffffffffffff0010, PERF_CTX_USER_DEFERRED, 777 },
	};
	struct rig r;

	rig_begin(&r);
	made_comm(&r.records, 7, 7, 0, "a");
	made_sample(&r.records, &s);
	rig_feed(&r);
	r.records.bytes.n = 0;
	made_sample(&r.records, &s);
	put_deferred(&r.records, 7, 777);
	rig_feed(&r);
	expect_text(
		&r,
		"cpu-clock 1 50 a;[[unknown]]+101f;[[unknown]]+1010;[[unknown]]+ffffffffffff0010\n"
		"cpu-clock 1 50 a;[deferred];[[unknown]]+ffffffffffff0010\n",
		"before and after");
	rig_end(&r);
}

FEED_TEST(perf_feed, names_are_those_of_the_time)
{
	struct rig r;

	rig_begin(&r);
	put_sample(&r, 1, 1, 15, 0x10);
	made_comm(&r.records, 1, 1, 10, "first");
	made_fork(&r.records, 1, 1, 2, 1, 12);
	made_comm(&r.records, 1, 2, 14, "worker");
	made_comm(&r.records, 1, 1, 20, "second");
	put_sample(&r, 1, 1, 25, 0x10);
	put_sample(&r, 1, 2, 13, 0x10);
	put_sample(&r, 1, 2, 26, 0x10);
	put_sample(&r, 1, 1, 9, 0x10);
	put_sample(&r, 0, 0, 9, 0x10);
	put_sample(&r, 5, 6, 9, 0x10);
	put_sample(&r, -1, -1, 9, 0x10);
	/* A number that is used again, by a child of a thread of no name. */
	made_fork(&r.records, 9, 8, 2, 8, 30);
	put_sample(&r, 9, 2, 31, 0x10);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 1 13 first;[[unknown]]+10\n"
		    "cpu-clock 1 15 first;[[unknown]]+10\n"
		    "cpu-clock 1 25 second;[[unknown]]+10\n"
		    "cpu-clock 1 26 worker;[[unknown]]+10\n"
		    "cpu-clock 1 31 :2;[[unknown]]+10\n"
		    "cpu-clock 1 9 :-1;[[unknown]]+10\n"
		    "cpu-clock 1 9 :1;[[unknown]]+10\n"
		    "cpu-clock 1 9 :6;[[unknown]]+10\n"
		    "cpu-clock 1 9 swapper;[[unknown]]+10\n",
		    "names by time");
	rig_end(&r);
}

/* Looks at a batch alone, and at nothing of the others. */
static void look_at(struct rig *r, struct made *m)
{
	struct perf_records batch = { .at = m->bytes.at,
				      .n_bytes = m->bytes.n,
				      .swap = made_swaps(m) };

	ingest_look(r->feed, &batch, PRESCAN_COUNT | PRESCAN_TELL);
}

/* Another cpu's buffer, which comes behind in the file, tells of the time before, of parents and in between. */
FEED_TEST(perf_feed, names_told_out_of_order)
{
	struct made first;
	struct rig r;

	rig_begin(&r);
	first = (struct made){ .attr = r.records.attr };
	perf_events_add(&r.events, &r.records.attr, NULL);
	made_fork(&first, 2, 1, 2, 1, 12);
	made_fork(&first, 3, 2, 3, 2, 13);
	/* Round in a circle. */
	made_fork(&first, 5, 4, 5, 4, 9);
	made_fork(&first, 4, 5, 4, 5, 9);
	for (uint64_t t = 20; t <= 40; t += 5)
		made_comm(&first, 1, 1, t, "late");
	look_at(&r, &first);
	made_comm(&r.records, 1, 1, 10, "shell");
	made_comm(&r.records, 1, 1, 22, "middle");
	put_sample(&r, 1, 1, 11, 0x10);
	put_sample(&r, 2, 2, 14, 0x10);
	put_sample(&r, 3, 3, 14, 0x10);
	put_sample(&r, 4, 4, 14, 0x10);
	put_sample(&r, 1, 1, 21, 0x10);
	put_sample(&r, 1, 1, 24, 0x10);
	put_sample(&r, 1, 1, 45, 0x10);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 1 11 shell;[[unknown]]+10\n"
		    "cpu-clock 1 14 :4;[[unknown]]+10\n"
		    "cpu-clock 1 14 shell;[[unknown]]+10\n"
		    "cpu-clock 1 14 shell;[[unknown]]+10\n"
		    "cpu-clock 1 21 late;[[unknown]]+10\n"
		    "cpu-clock 1 24 middle;[[unknown]]+10\n"
		    "cpu-clock 1 45 late;[[unknown]]+10\n",
		    "names by time");
	made_done(&first);
	rig_end(&r);
}

static const char *name_of_process(const struct rig *r, int32_t pid)
{
	struct profile_counts n;

	profile_counts_read(r->profile, &n);
	for (uint32_t i = 0; i < n.n_processes; i++) {
		const struct process *p = profile_process(r->profile, (process_id){ i });

		if (p->pid == pid)
			return profile_string(r->profile, p->name, NULL);
	}
	return "(no such process)";
}

static void put_in_group(struct rig *r, int32_t tid, uint64_t time, uint64_t cgroup)
{
	struct made_sample s = { .misc = PERF_CPU_USER,
				 .ip = 0x10,
				 .pid = tid,
				 .tid = tid,
				 .time = time,
				 .period = 1,
				 .n_chain = digested,
				 .chain = { 0x10 },
				 .cgroup = cgroup };

	made_sample(&r->records, &s);
}

/* The path of the control group that row i says; "" when it says none. */
static const char *group_of(const struct profile *p, uint64_t i)
{
	struct sample_columns s;
	uint32_t cgroup;

	profile_samples(p, &s);
	cgroup = profile_thread(p, (thread_id){ s.thread[i] })->cgroup;
	if (cgroup == ID_NONE)
		return "";
	return profile_string(p, cgroup_path(profile_cgroup(p, (cgroup_id){ cgroup })), NULL);
}

/* A thread is moved and comes back; one path is told before, one after the samples, one never. */
FEED_TEST(perf_feed, control_groups_are_those_of_the_sample)
{
	static const char *const paths[] = { "/a", "/a/late", "/a", "/a", "[cgroup 44]" };
	struct profile_counts counts;
	struct rig r;

	rig_begin(&r);
	r.records.attr.sample_type |= PERF_S_CGROUP;
	made_cgroup(&r.records, 0, 7, "/a");
	put_in_group(&r, 1, 10, 7);
	put_in_group(&r, 1, 11, 9);
	put_in_group(&r, 1, 12, 7);
	put_in_group(&r, 2, 13, 7);
	put_in_group(&r, 2, 14, 44);
	rig_feed(&r);
	cr_expect_str_eq(group_of(r.profile, 1), "[cgroup 9]");
	r.records.bytes.n = 0;
	made_cgroup(&r.records, 15, 9, "/a/late");
	rig_feed(&r);
	for (uint64_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		cr_expect_str_eq(group_of(r.profile, i), paths[i], "%d: %s", (int)i,
				 group_of(r.profile, i));
	profile_counts_read(r.profile, &counts);
	cr_expect_eq(counts.n_cgroups, 3);
	cr_expect_eq(counts.n_processes, 2);
	rig_end(&r);
}

FEED_TEST(perf_feed, processes_have_the_last_name_of_their_main_thread)
{
	struct rig r;

	rig_begin(&r);
	made_comm(&r.records, 1, 1, 0, "sh");
	made_comm(&r.records, 1, 1, 10, "server");
	made_comm(&r.records, 1, 2, 11, "worker");
	made_comm(&r.records, 3, 3, 0, "other");
	put_sample(&r, 1, 2, 12, 0x10);
	put_sample(&r, 3, 3, 12, 0x10);
	rig_feed(&r);
	cr_expect_str_eq(name_of_process(&r, 1), "server");
	cr_expect_str_eq(name_of_process(&r, 3), "other");
	rig_end(&r);
}

/* Whatever comes when, and while more may come: what its main thread was called last. */
FEED_TEST(perf_feed, processes_are_renamed_as_they_go_on)
{
	struct rig r;

	rig_begin(&r);
	made_comm(&r.records, 1, 1, 10, "bash");
	made_comm(&r.records, 1, 1, 20, "python3");
	made_comm(&r.records, 2, 2, 10, "script");
	/* Another cpu's samples come first. */
	put_sample(&r, 1, 1, 25, 0x10);
	put_sample(&r, 1, 1, 15, 0x10);
	put_sample(&r, 2, 2, 15, 0x10);
	rig_feed_on(&r);
	cr_expect_str_eq(name_of_process(&r, 1), "python3");
	cr_expect_str_eq(name_of_process(&r, 2), "script");
	/* From then on only a thread of it is on the cpu, which has a name of its own. */
	made_comm(&r.records, 2, 2, 30, "phases");
	made_comm(&r.records, 2, 3, 30, "worker");
	put_sample(&r, 2, 3, 35, 0x10);
	rig_feed_on(&r);
	cr_expect_str_eq(name_of_process(&r, 2), "phases");
	rig_end(&r);
}

/* Each sample finds what was mapped at its time, whatever the order in the file. */
FEED_TEST(perf_feed, mappings_are_those_of_the_time)
{
	struct rig r;

	rig_begin(&r);
	made_comm(&r.records, 1, 1, 0, "a");
	made_mmap(&r.records, 1, 30, 0x1000, 0x1000, "/lib/new");
	made_mmap(&r.records, 1, 10, 0x1000, 0x1000, "/lib/old");
	put_sample(&r, 1, 1, 35, 0x1010);
	put_sample(&r, 1, 1, 15, 0x1010);
	put_sample(&r, 1, 1, 5, 0x1010);
	put_sample(&r, 1, 1, 16, 0x1010);
	/* A child begins with what its parent had then. */
	made_fork(&r.records, 2, 1, 2, 1, 20);
	put_sample(&r, 2, 2, 40, 0x1010);
	/* Until it becomes another program. */
	made_exec(&r.records, 2, 50, "b");
	put_sample(&r, 2, 2, 60, 0x1010);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 1 15 a;[/lib/old]+10\n"
		    "cpu-clock 1 16 a;[/lib/old]+10\n"
		    "cpu-clock 1 35 a;[/lib/new]+10\n"
		    "cpu-clock 1 40 a;[/lib/old]+10\n"
		    "cpu-clock 1 5 a;[[unknown]]+1010\n"
		    "cpu-clock 1 60 b;[[unknown]]+1010\n",
		    "mappings by time");
	rig_end(&r);
}

/* From which address it went into the kernel is the old program's until the new one runs. */
FEED_TEST(perf_feed, in_the_middle_of_an_exec)
{
	struct made_sample s = {
		.misc = 1, .ip = 0xffffffffffff0010, .pid = 2, .tid = 2, .period = 1
	};
	struct rig r;

	rig_begin(&r);
	s.n_chain = 4;
	memcpy(s.chain, (uint64_t[]){ K, s.ip, U, 0x1010 }, 4 * sizeof(*s.chain));
	made_mmap(&r.records, -1, 0, 0xffffffffffff0000, 0xffff, "[kernel.kallsyms]_text");
	made_mmap(&r.records, 2, 0, 0x1000, 0x1000, "/bin/sh");
	made_exec(&r.records, 2, 10, "b");
	made_mmap(&r.records, 2, 20, 0x1000, 0x1000, "/bin/b");
	made_exec(&r.records, 2, 30, "c");
	for (s.time = 15; s.time <= 35; s.time += 10)
		made_sample(&r.records, &s);
	put_sample(&r, 2, 2, 36, 0x1010);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 1 15 b;[/bin/sh]+10;[[kernel.kallsyms]]+ffffffffffff0010\n"
		    "cpu-clock 1 25 b;[/bin/b]+10;[[kernel.kallsyms]]+ffffffffffff0010\n"
		    "cpu-clock 1 35 c;[/bin/b]+10;[[kernel.kallsyms]]+ffffffffffff0010\n"
		    "cpu-clock 1 36 c;[[unknown]]+1010\n",
		    "exec");
	rig_end(&r);
}

FEED_TEST(perf_feed, without_any_times_the_order_of_the_file_counts)
{
	struct rig r;

	rig_begin(&r);
	r.records.attr.sample_type &= ~PERF_S_TIME;
	made_comm(&r.records, 1, 1, 0, "a");
	put_sample(&r, 1, 1, 0, 0x1010);
	made_mmap(&r.records, 1, 0, 0x1000, 0x1000, "/lib/one");
	put_sample(&r, 1, 1, 0, 0x1010);
	made_mmap(&r.records, 1, 0, 0x1000, 0x1000, "/lib/two");
	made_comm(&r.records, 1, 1, 0, "b");
	put_sample(&r, 1, 1, 0, 0x1010);
	/* Samples of before an exec may come after it: what was mapped stays. */
	made_exec(&r.records, 1, 0, "c");
	put_sample(&r, 1, 1, 0, 0x1010);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 1 - a;[/lib/one]+10\n"
		    "cpu-clock 1 - a;[[unknown]]+1010\n"
		    "cpu-clock 1 - b;[/lib/two]+10\n"
		    "cpu-clock 1 - c;[/lib/two]+10\n",
		    "no times");
	rig_end(&r);
}

FEED_TEST(perf_feed, without_trailers_records_have_the_time_of_the_sample_before)
{
	struct rig r;

	rig_begin(&r);
	r.records.attr.flags &= ~PERF_ATTR_SAMPLE_ID_ALL;
	made_comm(&r.records, 1, 1, 0, "a");
	put_sample(&r, 1, 1, 10, 0x1010);
	made_mmap(&r.records, 1, 0, 0x1000, 0x1000, "/lib/one");
	put_sample(&r, 1, 1, 20, 0x1010);
	put_sample(&r, 1, 1, 5, 0x1010);
	rig_feed(&r);
	expect_text(&r,
		    "cpu-clock 1 10 a;[/lib/one]+10\n"
		    "cpu-clock 1 20 a;[/lib/one]+10\n"
		    "cpu-clock 1 5 a;[[unknown]]+1010\n",
		    "no trailers");
	rig_end(&r);
}

FEED_TEST(perf_feed, damage_is_counted_and_the_rest_kept)
{
	struct made_sample s = { .misc = 2,
				 .ip = 0x10,
				 .pid = 1,
				 .tid = 1,
				 .time = 1,
				 .period = 1,
				 .n_chain = 1,
				 .chain = { 0x10 } };
	const struct ingest_stats *stats;
	struct rig r;
	size_t at;

	rig_begin(&r);
	made_sample(&r.records, &s);
	at = r.records.bytes.n;
	made_sample(&r.records, &s);
	made_u64_at(&r.records, r.records.bytes.n - 16, 2); /* one more than there are */
	made_mark(&r.records, PERF_REC_SAMPLE);             /* nothing at all */
	made_mark(&r.records, PERF_REC_COMM);
	made_mark(&r.records, 60);
	made_mark(&r.records, 0xdeadbeef);
	made_mark(&r.records, PERF_REC_SIMPLEPERF + 3);
	s.time = 2;
	made_sample(&r.records, &s);
	rig_feed(&r);
	stats = ingest_stats(r.feed);
	expect_text(&r,
		    "cpu-clock 1 1 :1;[[unknown]]+10\n"
		    "cpu-clock 1 1 :1;[broken stack];[[unknown]]+10\n"
		    "cpu-clock 1 2 :1;[[unknown]]+10\n",
		    "damage");
	cr_expect_eq(stats->n_samples, 3);
	cr_expect_eq(stats->n_bad_samples, 2);
	cr_expect_eq(stats->n_bad_heads, 1);
	cr_expect_eq(stats->bad_sample_offset, 1000 + at);
	cr_expect_eq(stats->look.n_bad_records, 1);
	cr_expect_eq(stats->look.n_unknown, 2);
	cr_expect_eq(stats->look.unknown_type, 60);
	cr_expect_eq(stats->look.n_simpleperf, 1);
	cr_expect_eq(stats->look.n_records[PERF_REC_SAMPLE], 4);
	rig_end(&r);
}

/* A user stack that leads nowhere: the kernel's part, where user code left off, and a remark. */
FEED_TEST(perf_feed, of_a_user_stack_in_no_file_the_leaf_is_kept)
{
	struct perf_attr a = { .sample_type = PERF_S_IP | PERF_S_TID | PERF_S_CALLCHAIN |
					      PERF_S_REGS_USER | PERF_S_STACK_USER,
			       .sample_regs_user = 1u << 7 | 1u << 8,
			       .flags = PERF_ATTR_EXCLUDE_GUEST |
					PERF_ATTR_EXCLUDE_CALLCHAIN_USER };
	struct rig r;
	size_t at;

	rig_begin(&r);
	r.records.attr = a;
	at = made_begin(&r.records, PERF_REC_SAMPLE, PERF_CPU_KERNEL);
	made_u64(&r.records, 0xffffffffffff0010);
	made_u64(&r.records, UINT64_C(1) << 32 | 1);
	made_u64(&r.records, 2);
	made_u64(&r.records, K);
	made_u64(&r.records, 0xffffffffffff0010);
	made_u64(&r.records, 2); /* 64-bit */
	made_u64(&r.records, 0x7fff0000);
	made_u64(&r.records, 0x1234);
	made_u64(&r.records, 8);
	made_u64(&r.records, 0);
	made_u64(&r.records, 8);
	made_end(&r.records, at);
	rig_feed(&r);
	expect_text(&r, "cycles 1 - :1;[no file];[[unknown]]+1234;[[unknown]]+ffffffffffff0010\n",
		    "user stack");
	cr_expect_eq(ingest_stats(r.feed)->frames.n_user_stacks, 1);
	rig_end(&r);
}

FEED_TEST(perf_feed, strangers_are_asked_for_once_allowed)
{
	struct perf_records batch;
	struct ingest_cursor cursor = { 0 };
	struct made late = { .attr = made_clock_attr() };
	struct rig r;

	rig_begin(&r);
	made_comm(&r.records, 1, 1, 0, "known");
	made_comm(&r.records, 2, 2, 0, "late");
	made_mmap(&r.records, 1, 0, 0x1000, 0x1000, "/bin/known");
	put_sample(&r, 1, 1, 10, 0x1010);
	put_sample(&r, 2, 2, 11, 0x1010);
	ingest_may_ask(r.feed, true);
	perf_events_add(&r.events, &r.records.attr, NULL);
	batch = rig_batch(&r);
	ingest_look(r.feed, &batch, PRESCAN_COUNT | PRESCAN_TELL);
	builder_begin(r.profile);
	cr_expect_eq(rig_feed_rest(&r, &batch, &cursor), INGEST_AHEAD);
	builder_end(r.profile);
	cr_expect_eq(ingest_stats(r.feed)->n_samples, 1);
	made_mmap(&late, 2, 0, 0x1000, 0x1000, "/bin/late");
	ingest_look(r.feed,
		    &(struct perf_records){ .at = late.bytes.at,
					    .n_bytes = late.bytes.n,
					    .swap = made_swaps(&late) },
		    PRESCAN_TELL);
	ingest_may_ask(r.feed, false);
	builder_begin(r.profile);
	cr_expect_eq(rig_feed_rest(&r, &batch, &cursor), INGEST_ALL);
	builder_end(r.profile);
	expect_text(&r,
		    "cpu-clock 1 10 known;[/bin/known]+10\n"
		    "cpu-clock 1 11 late;[/bin/late]+10\n",
		    "late");
	made_done(&late);
	rig_end(&r);
}

/* Chains that our recorder made of copied stacks, as it says now how they end, and as it did. */
FEED_TEST(perf_feed, ends_of_chains_that_were_made)
{
#define END(e) (PERF_MISC_CHAIN_MADE | (e) << PERF_MISC_CHAIN_END_AT)
	static const struct {
		const char *what;
		uint32_t misc;
		size_t n;
		uint64_t chain[4];
		const char *stack;
	} cases[] = {
		{ "whole", END(0), 3, { U, 0x1010, 0x1020 }, "[/bin/a]+1f;[/bin/a]+10" },
		{ "cut", END(1), 3, { U, 0x1010, 0x1020 }, "[truncated];[/bin/a]+1f;[/bin/a]+10" },
		{ "a low address is a frame", END(0), 2, { U, 3 }, "[[unknown]]+3" },
		{ "so it is where a chain was cut",
		  END(1),
		  2,
		  { U, 3 },
		  "[truncated];[[unknown]]+3" },
		{ "whole, as it was", 0, 3, { U, 0x1010, 0x1020 }, "[/bin/a]+1f;[/bin/a]+10" },
		{ "cut, as it was",
		  0,
		  4,
		  { U, 0x1010, 0x1020, 1 },
		  "[truncated];[/bin/a]+1f;[/bin/a]+10" },
		{ "nothing but that it was cut", 0, 2, { U, 1 }, "[truncated]" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_sample s = { .misc = (uint16_t)(PERF_CPU_USER | cases[i].misc),
					 .ip = 0x1010,
					 .pid = 7,
					 .tid = 7,
					 .time = 50,
					 .period = 3,
					 .n_chain = cases[i].n };
		struct rig r;
		char *want;

		rig_begin(&r);
		r.records.attr.sample_stack_user = 64;
		memcpy(s.chain, cases[i].chain, sizeof(cases[i].chain));
		made_comm(&r.records, 7, 7, 0, "a");
		made_mmap(&r.records, 7, 0, 0x1000, 0x1000, "/bin/a");
		made_sample(&r.records, &s);
		cr_expect_eq(rig_feed(&r), INGEST_ALL);
		want = xasprintf("cpu-clock 3 50 a;%s\n", cases[i].stack);
		expect_text(&r, want, cases[i].what);
		free(want);
		rig_end(&r);
	}
#undef END
}
