/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What stands around the records of a perf.data that we write: in front of them the file header and the events, behind
 * them the features. Layouts: tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PROFTOP_RECORD_CPU_PERF_WRITER_HEAD_H
#define PROFTOP_RECORD_CPU_PERF_WRITER_HEAD_H

#include "perf/abi/perf_put.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_events;

/* Where in a file the size of the records stands. */
#define DATA_HEAD_SIZE_AT 48

/* Most unpacked bytes that one packed record may hold, as the feature says. */
#define DATA_PACKED_MAX 65536u

struct perf_writer_head {
	const struct perf_events *events; /* with ids and names; borrowed */
	char *const *command;             /* ours: ends with NULL; borrowed */
	int zstd_level;                   /* 0: records are not packed */
	uint64_t clock_ns, wall_ns;       /* one moment by the records' clock and by the wall's */
};

#define DATA_FEATURES_MAX 16

/* The sections of the features, which stay the same while their place moves. */
struct data_features {
	struct perf_put bytes;              /* one behind the other */
	size_t ends[DATA_FEATURES_MAX];     /* [n] of each */
	uint8_t numbers[DATA_FEATURES_MAX]; /* [n] enum perf_feature */
	size_t n;
	uint64_t bits; /* which */
};

void data_features_make(const struct perf_writer_head *h, struct data_features *out);
void data_features_done(struct data_features *f);

/* The bytes before the records; the size of these is 0 as yet. */
void perf_writer_head_put(const struct perf_writer_head *h, const struct data_features *f,
			  struct perf_put *to);

/*
 * All of that as records, for a pipe, behind the header of one. Features that are larger than a record are left out.
 */
void perf_writer_head_put_pipe(const struct perf_writer_head *h, const struct data_features *f,
			       struct perf_put *to);

/* The bytes behind the records, which end at `at` in the file. */
void data_features_put(const struct data_features *f, uint64_t at, struct perf_put *to);

#endif
