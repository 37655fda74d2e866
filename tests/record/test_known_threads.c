/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Threads that records tell of, and those that were opened. */
#include "config.h"

#include <criterion/criterion.h>
#include <string.h>

#include "perf/abi/perf_abi.h"
#include "record/cpu/known_threads.h"

/* A FORK or EXIT record, as the kernel writes it (perf_event_open(2)). */
struct task_record {
	uint32_t type;
	uint16_t misc, size;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

static void look(struct known_threads *k, uint32_t type, uint32_t tid, size_t n_bytes)
{
	struct task_record r[2] = {
		{ .type = type, .size = sizeof(r[0]), .pid = 1, .tid = tid },
		{ .type = type, .size = sizeof(r[0]), .pid = 1, .tid = tid + 1 }
	};

	known_threads_look(k,
			   &(struct perf_records){ .at = (const uint8_t *)r, .n_bytes = n_bytes });
}

Test(known_threads, those_that_were_opened_or_told)
{
	struct known_threads *k = known_threads_new();

	cr_expect_not(known_threads_have(k, 5));
	known_threads_add(k, 5);
	known_threads_add(k, 5);
	look(k, PERF_REC_FORK, 7, 2 * sizeof(struct task_record));
	look(k, PERF_REC_EXIT, 30, sizeof(struct task_record));
	look(k, PERF_REC_FORK, 40, 0);
	for (int tid = 0; tid < 50; tid++)
		cr_expect_eq(known_threads_have(k, tid), tid == 5 || tid == 7 || tid == 8, "%d",
			     tid);
	known_threads_free(k);
}
