/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is lost of a perf.data is said: where memory runs out, and where bits are not what they were. */
#include "config.h"

#include "made_perf.h"
#include "perf_result.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The sanitizers' own reservations do not live with a limit. */
#if defined(__SANITIZE_ADDRESS__)
#define LIMITS_WORK 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LIMITS_WORK 0
#endif
#endif
#ifndef LIMITS_WORK
#define LIMITS_WORK 1
#endif

/* Of one process; the name of each is another one when names is so. */
static void put_many(struct made *m, uint32_t n, bool names)
{
	m->attr = made_clock_attr();
	made_comm(m, 1, 1, 0, "a");
	made_mmap(m, 1, 0, 0x1000, 0x1000, "/bin/a");
	for (uint32_t i = 0; i < n; i++) {
		struct made_sample s = { .misc = PERF_CPU_USER,
					 .ip = 0x1010 + i % 64,
					 .pid = 1,
					 .tid = 1,
					 .time = 10 + i,
					 .period = 2,
					 .n_chain = 2,
					 .chain = { PERF_CTX_USER, 0x1010 + i % 64 } };

		if (names) {
			char name[160];

			snprintf(name, sizeof(name), "/lib/%0150u", i);
			made_mmap(m, 1, s.time, 0x100000 + (uint64_t)i * 0x1000, 0x1000, name);
			s.ip = s.chain[1] = 0x100010 + (uint64_t)i * 0x1000;
		}
		made_sample(m, &s);
	}
}

/* From now on there is room for so many bytes more than there are by now. */
static void limit_memory(rlim_t more)
{
	FILE *f = fopen("/proc/self/statm", "r");
	unsigned long long pages = 0;
	struct rlimit limit;

	cr_assert(f && fscanf(f, "%llu", &pages) == 1 && fclose(f) == 0);
	cr_assert_eq(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + more;
	cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

/* What fits is kept, up to a byte that is said, whichever table is the one that is full. */
Test(perf_losses, memory_that_runs_out_is_said, .disabled = !LIMITS_WORK, .timeout = 60)
{
	for (int names = 0; names < 2; names++) {
		uint32_t n = names ? 60000 : 600000;
		struct made records = { 0 }, m = { 0 };
		struct rlimit was;
		struct perf_result r;
		const char *text;

		put_many(&records, n, names);
		made_file(&m, &records, records.bytes.n);
		made_done(&records);
		cr_assert_eq(getrlimit(RLIMIT_AS, &was), 0);
		limit_memory((rlim_t)200 << 20);
		r = perf_result_of_bytes(m.bytes.at, m.bytes.n);
		cr_assert_eq(setrlimit(RLIMIT_AS, &was), 0);
		text = perf_result_fact(&r, "losses", "rest of the file");
		cr_expect_eq(r.rc, 0, "%s", err_text(&r.error));
		cr_expect_gt(perf_result_samples(&r), 1000u);
		cr_expect_lt(perf_result_samples(&r), n);
		cr_expect_eq(strncmp(text, "does not fit into memory; read up to byte ", 42), 0,
			     "names %d: %s", names, text);
		perf_result_done(&r);
		made_done(&m);
	}
}
