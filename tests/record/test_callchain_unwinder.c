/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the maker of chains knows of processes that come and go: it forgets those that ended, and begins anew where none do.
 * How the chains that it makes end.
 */
#include "config.h"

#include "base/mem.h"
#include "perf/abi/perf_put.h"
#include "perf/ingest/ingest.h"
#include "perf/records/perf_events.h"
#include "record/cpu/callchain_unwinder.h"
#include "unwind/walk.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define SECOND     UINT64_C(1000000000)
#define N_SECONDS  120
#define A_SECOND   100 /* processes that come in it */
#define N_MAPPINGS 8   /* of each */
#define SHELL      500
#define FIRST_PID  1000

static struct perf_attr made_attr(void)
{
	return (struct perf_attr){
		.type = PERF_T_SOFTWARE,
		.flags = PERF_ATTR_SAMPLE_ID_ALL,
		.sample_type = PERF_S_IP | PERF_S_TID | PERF_S_TIME | PERF_S_CALLCHAIN |
			       PERF_S_REGS_USER | PERF_S_STACK_USER,
		.sample_regs_user = 1,
		.sample_stack_user = 8,
	};
}

static void put_task(struct perf_put *to, const struct perf_attr *a, uint32_t type, int32_t pid,
		     uint64_t time)
{
	const struct perf_task k = {
		.pid = pid, .tid = pid, .ppid = SHELL, .ptid = SHELL, .time = time
	};
	const struct perf_trailer t = { .pid = pid, .tid = pid, .time = time };

	perf_put_task(to, type, a, &k, &t);
}

static void put_mapping(struct perf_put *to, const struct perf_attr *a, int32_t pid, uint64_t time,
			int which, bool own)
{
	const struct perf_trailer t = { .pid = pid, .tid = pid, .time = time };
	char path[64];
	struct perf_mmap m = { .pid = pid,
			       .tid = pid,
			       .start = UINT64_C(0x100000) * (uint64_t)(which + 1),
			       .length = 0x1000,
			       .executable = true,
			       .path = path };

	m.path_len = (size_t)snprintf(path, sizeof(path), "/nowhere/%d/%d", own ? pid : 0, which);
	perf_put_mmap(to, PERF_CPU_USER, a, &m, &t);
}

/* Of a thread without user registers: what it tells is the time. */
static void put_sample(struct perf_put *to, uint64_t time)
{
	size_t begun = perf_put_begin(to, PERF_REC_SAMPLE, PERF_CPU_USER);

	perf_put_u64(to, 0x100010);
	perf_put_u32(to, SHELL);
	perf_put_u32(to, SHELL);
	perf_put_u64(to, time);
	perf_put_u64(to, 0); /* no chain */
	perf_put_u64(to, 0); /* nor registers */
	perf_put_u64(to, 0); /* nor a stack */
	perf_put_end(to, begun, NULL, NULL);
}

struct work {
	bool ends; /* each process, at once */
	bool own;  /* each has files of its own */
};

/* How often it began anew. */
static int watch(const struct work *w)
{
	struct perf_attr a = made_attr();
	struct perf_events events = { 0 };
	struct perf_put records = { 0 }, out = { 0 };
	struct callchain_unwinder *m;
	int n_anew = 0, pid = FIRST_PID;

	perf_events_add(&events, &a, "made");
	m = callchain_unwinder_new(&events);
	cr_assert_not_null(m);
	for (uint64_t s = 20; s < 20 + N_SECONDS; s++) {
		vec_clear(&records);
		vec_clear(&out);
		for (int i = 0; i < A_SECOND; i++, pid++) {
			put_task(&records, &a, PERF_REC_FORK, pid, s * SECOND);
			for (int k = 0; k < N_MAPPINGS; k++)
				put_mapping(&records, &a, pid, s * SECOND + 1, k, w->own);
			if (w->ends)
				put_task(&records, &a, PERF_REC_EXIT, pid, s * SECOND + 2);
		}
		put_sample(&records, s * SECOND + 3);
		callchain_unwinder_look(
			m, &(struct perf_records){ .at = records.at, .n_bytes = records.n });
		callchain_unwinder_take(
			m, &(struct perf_records){ .at = records.at, .n_bytes = records.n }, &out);
		n_anew += callchain_unwinder_forget(m);
	}
	callchain_unwinder_free(m);
	perf_events_done(&events);
	vec_done(&records);
	vec_done(&out);
	return n_anew;
}

Test(chain_maker, begins_anew_only_where_nothing_else_helps, .timeout = 60)
{
	static const struct {
		const char *what;
		struct work work;
		int least, most;
	} cases[] = {
		{ "who ends is forgotten", { .ends = true }, 0, 0 },
		{ "who goes on is not", { .ends = false }, 1, 6 },
		{ "files are known for good", { .ends = true, .own = true }, 20, 60 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = watch(&cases[i].work);

		cr_expect(n >= cases[i].least && n <= cases[i].most, "%s: %d times anew",
			  cases[i].what, n);
	}
}

/* How a chain ends is no frame of it, for whoever reads that. */
Test(chain_maker, says_beside_the_chain_how_it_ends)
{
	static const uint64_t chain[] = { PERF_CTX_USER, 0x1234 };
	struct perf_attr a = made_attr();
	struct perf_events events = { 0 };
	struct perf_put records = { 0 }, out = { 0 };
	struct callchain_unwinder *m;
	struct perf_record r;
	struct perf_sample s;
	size_t begun;

	a.sample_regs_user = 1u << 7 | 1u << 8; /* stack pointer and where it was */
	perf_events_add(&events, &a, "made");
	m = callchain_unwinder_new(&events);
	cr_assert_not_null(m);
	begun = perf_put_begin(&records, PERF_REC_SAMPLE, PERF_CPU_USER);
	perf_put_u64(&records, 0x1234);
	perf_put_u32(&records, 7);
	perf_put_u32(&records, 7);
	perf_put_u64(&records, SECOND);
	perf_put_u64(&records, 0); /* no chain */
	perf_put_u64(&records, 2); /* 64-bit */
	perf_put_u64(&records, 0x7fff0000);
	perf_put_u64(&records, 0x1234);
	perf_put_u64(&records, 8);
	perf_put_u64(&records, 0);
	perf_put_u64(&records, 8);
	perf_put_end(&records, begun, NULL, NULL);
	callchain_unwinder_take(m, &(struct perf_records){ .at = records.at, .n_bytes = records.n },
				&out);
	cr_assert_eq(perf_record_at(out.at, false, &r), out.n);
	cr_expect_eq(r.misc & PERF_MISC_CPUMODE, PERF_CPU_USER);
	cr_expect(r.misc & PERF_MISC_CHAIN_MADE);
	cr_expect_eq((r.misc & PERF_MISC_CHAIN_END) >> PERF_MISC_CHAIN_END_AT, WALK_NO_MODULE);
	cr_assert(perf_sample_decode(&callchain_unwinder_events(m)->all.at[0].attr, &r, &s));
	cr_assert_eq(s.chain.n, 2);
	cr_expect_arr_eq(s.chain.at, chain, sizeof(chain));
	callchain_unwinder_free(m);
	perf_events_done(&events);
	vec_done(&records);
	vec_done(&out);
}
