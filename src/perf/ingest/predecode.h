/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What samples say by themselves, whatever came before them: for the thread that reads them, so that the one that
 * feeds them need not look at those whose chain it knows.
 */
#ifndef PROFTOP_PERF_INGEST_PREDECODE_H
#define PROFTOP_PERF_INGEST_PREDECODE_H

#include "base/hash.h"
#include "base/mem.h"
#include "perf/abi/perf_abi.h"

#include <stdint.h>

struct perf_events;

struct predecode {
	uint32_t at;     /* of its record, bytes from the batch's start */
	uint32_t number; /* of the record in the batch */
	uint32_t event;  /* index in perf_events.all; PERF_EVENT_NONE: it is to be decoded */
	uint32_t cpu;    /* the following as in struct perf_sample */
	int32_t pid, tid;
	uint32_t misc; /* of the record */
	uint64_t time;
	uint64_t cgroup;
	uint64_t weight;      /* as predecode_weight() */
	struct hash128 chain; /* as predecode_chain() */
};

struct perf_predecoded {
	VEC(struct predecode) of; /* each sample of a batch, in order */
};

void predecode_done(struct perf_predecoded *d);

/*
 * Digests a batch. Those samples are left to be decoded whose stack is not told by their chain alone, which stand for
 * a group of counters, or which have gaps. Of the events it reads what is there before the first sample only.
 */
void predecode_make(struct perf_predecoded *d, const struct perf_events *e,
		    const struct perf_records *batch);

/* Begins to load a record that is to be decoded after all, most likely all of it: some thirty frames. */
static inline void predecode_fetch(const struct perf_record *r)
{
	for (size_t at = 0; at < 320; at += 64)
		__builtin_prefetch(r->at + at);
}

/* Does nothing but the recorded chain say what the sample's stack is? */
bool predecode_is_plain(const struct perf_attr *a, const struct perf_sample *s);

/* A hash of the chain and of the mode that it begins in, which may be told by the address. */
struct hash128 predecode_chain(const struct perf_record *r, const struct perf_sample *s);

/* What a sample counts for. */
uint64_t predecode_weight(const struct perf_attr *a, const struct perf_sample *s);

#endif
