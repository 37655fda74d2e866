/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A set of numbers. */
#include "config.h"

#include "record/cpu/known_threads.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "perf/abi/perf_abi.h"

struct known_threads {
	VEC(int) tids;
	struct map by_tid; /* indices of tids */
};

struct known_threads *known_threads_new(void)
{
	return xcalloc(1, sizeof(struct known_threads));
}

void known_threads_free(struct known_threads *k)
{
	if (!k)
		return;
	map_done(&k->by_tid);
	vec_done(&k->tids);
	free(k);
}

static bool same_tid(const void *tids, uint32_t value, const void *key)
{
	return ((const int *)tids)[value] == *(const int *)key;
}

bool known_threads_have(const struct known_threads *k, int tid)
{
	return map_find(&k->by_tid, hash_u64((uint32_t)tid), same_tid, k->tids.at, &tid) !=
	       MAP_NONE;
}

void known_threads_add(struct known_threads *k, int tid)
{
	if (known_threads_have(k, tid))
		return;
	map_add(&k->by_tid, hash_u64((uint32_t)tid), (uint32_t)k->tids.n);
	vec_push(&k->tids, tid);
}

void known_threads_look(void *known_threads, const struct perf_records *records)
{
	struct perf_record record;
	struct perf_task task;

	for (size_t at = 0; at < records->n_bytes; at += record.size) {
		if (perf_record_at(records->at + at, false, &record) == 0)
			return;
		if (record.type == PERF_REC_FORK && perf_task_decode(&record, &task))
			known_threads_add(known_threads, task.tid);
	}
}
