/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Records and whole perf.data files made by hand, of either byte order, for tests. */
#ifndef PROFTOP_TESTS_SUPPORT_MADE_PERF_H
#define PROFTOP_TESTS_SUPPORT_MADE_PERF_H

#include "base/mem.h"
#include "perf/abi/perf_abi.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct made {
	VEC(uint8_t) bytes;
	bool big;              /* numbers are big-endian */
	struct perf_attr attr; /* how made_sample() lays samples out */
};

/* What a made sample says; only what attr asks for is written. */
struct made_sample {
	uint16_t misc;
	uint64_t ip;
	int32_t pid, tid;
	uint64_t time, id, period;
	uint32_t cpu;
	uint64_t cgroup;
	size_t n_chain;
	uint64_t chain[32];
};

void made_done(struct made *m);
/* Is the other byte order than this machine's? */
bool made_swaps(const struct made *m);

void made_u16(struct made *m, uint16_t v);
void made_u32(struct made *m, uint32_t v);
void made_u64(struct made *m, uint64_t v);
void made_bytes(struct made *m, const void *p, size_t n);
/* The text with its NUL, filled up with NULs to whole words. */
void made_text(struct made *m, const char *s);
/* Overwrites a number. */
void made_u64_at(struct made *m, size_t at, uint64_t v);

/* A record: begin it, write its body, end it with what made_begin() gave. */
size_t made_begin(struct made *m, uint32_t type, uint16_t misc);
void made_end(struct made *m, size_t begun);

/* The attr, as large as said (at least 64 bytes). */
void made_attr(struct made *m, const struct perf_attr *a, uint32_t size);
/* The trailer that attr gives to records other than samples. */
void made_trailer(struct made *m, int32_t pid, int32_t tid, uint64_t time);

void made_sample(struct made *m, const struct made_sample *s);
void made_comm(struct made *m, int32_t pid, int32_t tid, uint64_t time, const char *name);
/* The name that a process gets when it becomes another program. */
void made_exec(struct made *m, int32_t pid, uint64_t time, const char *name);
void made_fork(struct made *m, int32_t pid, int32_t ppid, int32_t tid, int32_t ptid, uint64_t time);
/* An executable mapping from file offset 0. */
void made_mmap(struct made *m, int32_t pid, uint64_t time, uint64_t start, uint64_t length,
	       const char *path);
void made_cgroup(struct made *m, uint64_t time, uint64_t number, const char *path);
/* A record without a body. */
void made_mark(struct made *m, uint32_t type);

/* A file around records: header, one attr without ids, the records; data_size as it is to be said. */
void made_file(struct made *m, const struct made *records, uint64_t data_size);
/* A pipe around records: header, one ATTR, the records. */
void made_pipe(struct made *m, const struct made *records);
/* A pipe with samples in a function of this very program, whose file can name it; false: it is not found. */
bool made_pipe_of_us(struct made *m, const void *function);

/* An attr for cpu-clock with IP, TID, TIME, CPU, PERIOD, CALLCHAIN, and sample_id_all. */
struct perf_attr made_clock_attr(void);

/*
 * The samples of a profile as text, one line each, sorted: "EVENT WEIGHT TIME comm;frame;frame". A
 * frame that has no name is "[module]+address". The caller frees.
 */
char *made_text_of(const struct profile *p);

#endif
