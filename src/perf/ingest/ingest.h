/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of perf events → a profile: who ran, what was mapped where, and the samples.
 *
 * Shared by what reads recordings and what makes them. Samples are never sorted: names and mappings
 * are kept over time, so it is enough that what is beside the samples (mappings, names, forks) is told
 * before the samples of the same time. So an owner shows each batch of records twice:
 *
 *	ingest_look(batch i + 1)     what is beside the samples, sorted by time
 *	ingest_samples(batch i)      the samples
 *
 * Records of the perf tool itself (attrs, features, compression) are the owner's; here they are only
 * counted.
 */
#ifndef PROFTOP_PERF_INGEST_INGEST_H
#define PROFTOP_PERF_INGEST_INGEST_H

#include "perf/abi/perf_abi.h"
#include "perf/callchain/callchain.h"
#include "perf/ingest/prescan.h"
#include "perf/records/perf_events.h"
#include "perf/records/perf_offcpu.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ingest;
struct resolver;
struct trace_fields;

/* What was in the records, for facts. */
struct ingest_stats {
	struct prescan_stats look;      /* of records of all types */
	uint64_t n_samples;             /* that came into the profile */
	uint64_t n_decoded;             /* sample records; a group's record gives several samples */
	struct callchain_stats frames;  /* of these, where their stacks came from */
	uint64_t n_leaf_only;           /* with one frame */
	uint64_t n_no_frames;           /* with none: no address was recorded */
	uint64_t n_frames;              /* of all */
	uint64_t n_bad_samples;         /* could not be decoded to their end */
	uint64_t n_bad_heads;           /* of these, left out: not even who they are of is there */
	uint64_t n_long_samples;        /* longer than what they hold */
	uint64_t bad_sample_offset;     /* where the first bad one was */
	uint64_t n_no_event;            /* samples whose id is of no event */
	struct perf_offcpu_stats waits; /* of threads that left the cpu */
	uint64_t n_too_heavy;           /* weights beyond what fits; counted with weight 0 */
};

/* How ingest_samples() ended. */
enum perf_fed {
	INGEST_ALL,   /* to the end of the batch */
	INGEST_SOME,  /* to max_bytes */
	INGEST_AHEAD, /* before a sample of a process that is unknown: look ahead, then go on */
	INGEST_FULL   /* the profile can hold no more */
};

/*
 * Borrows p, r and events, which the owner fills in before their records come. machine is the architecture of the recording as `uname -m` has it, NULL when
 * unknown: then it is the one whose registers samples have, or else this one's.
 */
struct ingest *ingest_new(struct profile *p, capture_id c, struct resolver *r,
			  struct perf_events *events, const char *machine);
void ingest_free(struct ingest *f);

/* What root frames are called; before the first record. */
void ingest_root_names(struct ingest *f, enum root_names names);

/* Truncated user stacks go on as earlier ones of their thread, behind a mark; before the first record. */
void ingest_stitch(struct ingest *f);

/* How many calls the cpu keeps (LBR), as the recording says; before samples. 0: it does not. */
void ingest_branch_depth(struct ingest *f, uint32_t depth);

/*
 * From now on, fields of tracepoints are the innermost frames of their samples. list is of names with commas,
 * or "all". Both are borrowed.
 */
void ingest_fields(struct ingest *f, const struct trace_fields *fields, const char *list);

/* As prescan_at(). */
void ingest_look(struct ingest *f, const struct perf_records *batch, unsigned what);

/* FINISHED_ROUND records in what was told. */
uint64_t ingest_rounds_told(const struct ingest *f);

/* May ingest_samples() ask for more to be looked at? Off at first. */
void ingest_may_ask(struct ingest *f, bool may);

/* Where in a batch the next record stands. */
struct ingest_cursor {
	size_t at;       /* bytes from the batch's start */
	uint64_t number; /* of the record; batch->first at its start */
	size_t gap;      /* among the batch's gaps, the first that may be in it or behind */
	size_t digest;   /* among its digests likewise */
};

/*
 * Adds the samples that begin in the next max_bytes of the batch, which was looked at, and moves the
 * cursor behind them. Wants the pen.
 */
enum perf_fed ingest_samples(struct ingest *f, const struct perf_records *batch,
			     struct ingest_cursor *c, size_t max_bytes);

/*
 * Of a recording that goes on, between batches, right after builder_begin(): has the profile shorten stacks that are too many,
 * see build_shorten(), and forgets chains that are.
 */
void ingest_shorten(struct ingest *f);
/*
 * Of a recording that goes on: forgets processes and threads that ended some seconds ago, between batches. No record of their time
 * may come any more. Wants the pen.
 */
void ingest_retire(struct ingest *f);
/* The same where others take the samples: time_ns is that of the newest one. */
void ingest_retire_by(struct ingest *f, int64_t time_ns);
/* How many processes, threads and address spaces are known still. */
size_t ingest_n_tasks(const struct ingest *f);
/* Of a recording that goes on: adds what threads waited until some seconds ago, between batches. False when the profile is full. */
bool ingest_waits(struct ingest *f);

/*
 * When all was fed: adds the waits of threads that left the cpu, gives each process its last name. False
 * when the profile has no room for all waits. Wants the pen.
 */
bool ingest_settle(struct ingest *f);

/* After that: states how stacks ended; wants the pen. */
void ingest_end(struct ingest *f);

const struct ingest_stats *ingest_stats(const struct ingest *f);

#endif
