/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The first look at a batch of records: counts them, and tells by time what is beside the samples. */
#ifndef PROFTOP_PERF_INGEST_PRESCAN_H
#define PROFTOP_PERF_INGEST_PRESCAN_H

#include <stdint.h>

struct perf_events;
struct callchain;
struct prescan;
struct perf_records;
struct apply;

#define PRESCAN_TYPES 96 /* record types that are counted one by one */

struct prescan_stats {
	uint64_t n_records[PRESCAN_TYPES]; /* by type */
	uint64_t n_simpleperf;             /* records of simpleperf's own types */
	uint64_t n_unknown;                /* records of other types */
	uint32_t unknown_type;             /* the first of these */
	uint64_t n_bad_records;            /* beside the samples: shorter than they claim */
	uint64_t n_misfits;                /* not as long as those of their type are */
	uint64_t n_forked;                 /* processes that others began */
	uint64_t n_lost;                   /* events that LOST records speak of */
	/* and LOST_SAMPLES records of the kernel: of counters that write ahead */
	uint64_t n_lost_samples;
	/* and those that perf puts at the end: what n_lost says, by event */
	uint64_t n_lost_summed;
};

/* How many were lost, each counted once. */
uint64_t prescan_lost(const struct prescan_stats *s);

/* Borrows all, and counts in stats. */
struct prescan *prescan_new(struct perf_events *events, struct apply *teller,
			    struct callchain *frames, struct prescan_stats *stats);
void prescan_free(struct prescan *l);

/* What to do: each for each record once, the latter before samples are fed. */
#define PRESCAN_COUNT 1u /* count it, for the facts */
#define PRESCAN_TELL  2u /* tell the resolver what is beside the samples, by time */

void prescan_at(struct prescan *l, const struct perf_records *batch, unsigned what);

/* FINISHED_ROUND records in what was told. */
uint64_t prescan_rounds_told(const struct prescan *l);

#endif
