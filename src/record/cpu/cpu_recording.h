/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recording of CPU samples to a perf.data: from the rings, by way of unwinding, into the file. */
#ifndef PROFTOP_RECORD_CPU_CPU_RECORDING_H
#define PROFTOP_RECORD_CPU_CPU_RECORDING_H

#include "record/cpu/callchain_unwinder.h"
#include "record/cpu/sampler.h"

#include <stdbool.h>
#include <stdint.h>

struct cpu_recording;
struct err;

struct cpu_recording_options {
	struct sampler_options sampler;
	bool unwind;          /* with SAMPLER_COPIES: copies become chains at once */
	const char *path;     /* of the file */
	char *const *command; /* ours: ends with NULL */
	int zstd_level;       /* 0: records are not packed */
	uint64_t max_bytes;   /* of the file; UINT64_MAX: no limit */
	bool watched;         /* somebody reads the file as it grows: it is written more often */
};

struct cpu_recording_stats {
	uint64_t n_samples;  /* that the file has */
	uint64_t n_left_out; /* that it had no room for */
	bool full;           /* nothing more comes into it */
	uint64_t hz;         /* of a thread that runs: as asked for, or as the kernel allows */
	uint64_t n_lost;     /* that found no room in a ring */
	uint64_t n_bytes;    /* of the file */
	struct chain_stats chains; /* of copies that became chains */
};

/* All that is to be counted can be, and is not counted yet; there is no file. -errno with a sentence. */
int cpu_recording_open(const struct cpu_recording_options *o, struct cpu_recording **out,
		       struct err *e);
/* The same options: makes the file, with what was so before. -errno with a sentence. */
int cpu_recording_make_file(struct cpu_recording *r, const struct cpu_recording_options *o,
			    struct err *e);
void cpu_recording_free(struct cpu_recording *r);

/* What is different from what was asked for, a sentence each; borrowed. */
const char *const *cpu_recording_remarks(const struct cpu_recording *r, size_t *n);

int cpu_recording_start(struct cpu_recording *r, struct err *e);

/*
 * Waits, at most ms, for records or for one of n descriptors, and takes what there is; writes it once a second.
 * -ENOSPC and the like with a sentence: the file is whole, and no more comes into it; nor does it when it has max_bytes,
 * which is no error.
 */
int cpu_recording_turn(struct cpu_recording *r, const int *others, size_t n, int ms, struct err *e);

/* Counting ends; what is in the rings still is taken, and everything is written: after an error, too, to know how much it was. */
int cpu_recording_end(struct cpu_recording *r, struct err *e);

struct cpu_recording_stats cpu_recording_stats(const struct cpu_recording *r);

#endif
