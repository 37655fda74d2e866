/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What stands around the records of a perf.data: the file header, the attr section, the features.
 *
 * A pipe has the same facts as records in its stream; both end up here. Layouts follow
 * tools/perf/Documentation/perf.data-file-format.txt.
 */
#ifndef PROFTOP_PERF_FILE_PERF_HEADER_H
#define PROFTOP_PERF_FILE_PERF_HEADER_H

#include "base/mem.h"
#include "perf/abi/perf_abi.h"

#include <stdbool.h>
#include <stdint.h>

struct err;
struct input;
struct perf_events;
struct resolver;

/* A part of the file. */
struct perf_section {
	uint64_t offset;
	uint64_t size; /* bytes */
};

/* An event as EVENT_DESC describes it. */
struct perf_description {
	struct perf_attr attr;
	char *name; /* owned */
	VEC(uint64_t) ids;
};

struct perf_header {
	/* the file header */
	bool pipe;           /* 16 bytes, then records */
	bool swap;           /* of the other byte order than this machine's */
	uint64_t file_bytes; /* of the whole file; 0 when unknown */
	uint64_t attr_bytes; /* from one attr to the next in attrs */
	struct perf_section attrs;
	struct perf_section data; /* the records */
	uint64_t features[4];     /* bit map */
	bool growing; /* a file that is being written: it says where its records end when they have */

	/* the features; texts are owned, NULL when not recorded */
	char *hostname;
	char *os_release; /* of the kernel */
	char *version;    /* of perf */
	char *arch;       /* as uname -m has it */
	char *cpu;
	char *command_line;
	uint32_t n_cpus;       /* 0: not recorded */
	uint64_t memory_bytes; /* 0: not recorded */
	uint64_t wall_ns;      /* CLOCK_DATA: wall clock… */
	uint64_t clock_ns;     /* …at this time of the recording's clock; 0: not recorded */
	uint64_t cpu_zero;     /* TIME_CONV: see struct resolver_clock */
	uint64_t cpu_mult;     /* likewise; 0: not recorded */
	uint64_t cpu_shift;    /* likewise; < 64 */
	uint32_t zstd_level;   /* 0: not packed, or not said */
	uint32_t branch_depth; /* calls and branches that the cpu keeps; 0: not said */
	uint32_t packed_max;   /* most bytes that one packed record holds; 0: not said */
	VEC(struct perf_description) described;
	VEC(uint8_t)
	files[2]; /* FILE and FILE2 of simpleperf, as they stand; see simpleperf_files.h */
	VEC(uint8_t) bpf[2];    /* BPF_PROG_INFO and BPF_BTF, as they stand; see bpf_programs.h */
	VEC(uint8_t) tracing;   /* formats of tracepoints; see trace_fields.h */
	VEC(uint8_t) build_ids; /* the section as it stands: HEADER_BUILD_ID records */

	/* what was lost */
	uint32_t n_features_unknown; /* newer than we know */
	uint32_t n_features_damaged; /* outside the file, or shorter than they claim */
	bool attrs_guessed;          /* the attr section is damaged: its layout was worked out */
	bool no_data_size;  /* the recorder did not finish: records to the end of the file */
	uint64_t n_missing; /* bytes of records that the file ends before */
};

void perf_header_done(struct perf_header *h);

/*
 * Reads the file header from the input's start. -EBADMSG with a sentence when it cannot be one of a
 * perf.data, or one that nobody can read any more.
 */
int perf_header_read(struct input *in, struct perf_header *h, struct err *e);

/*
 * Reads a file's features, then its attrs with their ids and names into events. -EBADMSG with a
 * sentence when there is no event in the end. Needs a seekable input.
 */
int perf_header_read_sections(struct input *in, struct perf_header *h, struct perf_events *events,
			      struct err *e);

/* Of a growing file: where its records end by now, as its recorder wrote into it in the end; 0 while it has not. */
uint64_t perf_header_end_of_data(struct input *in, const struct perf_header *h);

/* The file header anew, of a recording that has ended since. */
void perf_header_again(struct input *in, struct perf_header *h);

/* A record of the perf tool that says such things, in a pipe mostly; others are ignored. */
void perf_header_record(struct perf_header *h, const struct perf_record *r,
			struct perf_events *events);

/* Formats of tracepoints that came elsewhere; copied, unless there are some. */
void perf_header_tracing(struct perf_header *h, const void *bytes, size_t n);

/*
 * Names events by EVENT_DESC, whose order is that of the attrs. When no attr was readable, EVENT_DESC
 * gives the events too.
 */
void perf_header_describe(struct perf_header *h, struct perf_events *events);

/* Hands the build-ids of the feature to the resolver. */
void perf_header_tell_build_ids(const struct perf_header *h, struct resolver *r);

/* Hands one build-id to the resolver. */
void perf_header_tell_build_id(const struct perf_build_id *id, struct resolver *r);

#endif
