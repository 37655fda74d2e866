/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Records of perf events as bytes, of this machine's byte order: what perf_abi.h decodes. For those who record.
 */
#ifndef PROFTOP_PERF_ABI_PERF_PUT_H
#define PROFTOP_PERF_ABI_PERF_PUT_H

#include "perf/abi/perf_abi.h"

#include <stddef.h>
#include <stdint.h>

/* As much of an attr as we set: the fifth version, which kernels since 4.5 and every perf since know. */
#define PERF_ATTR_BYTES 112

/* What the kernel and files take for an attr; its size is ours, whatever a->size says. */
void perf_attr_encode(const struct perf_attr *a, uint8_t out[PERF_ATTR_BYTES]);

/* Bytes one behind the other. Zeroed is empty; ends with vec_done(). */
struct perf_put {
	uint8_t *at;
	size_t n, cap;
};

void perf_put_u16(struct perf_put *b, uint16_t v);
void perf_put_u32(struct perf_put *b, uint32_t v);
void perf_put_u64(struct perf_put *b, uint64_t v);
void perf_put_bytes(struct perf_put *b, const void *p, size_t n);
/* n bytes of text and NULs behind it up to a whole word, at least one. */
void perf_put_text(struct perf_put *b, const char *s, size_t n);

/* A record's header; what it returns goes to perf_put_end(), which fills in the size. */
size_t perf_put_begin(struct perf_put *b, uint32_t type, uint16_t misc);
/* A record ends with the trailer that its event asks for, or, with t NULL, with none. */
void perf_put_end(struct perf_put *b, size_t begun, const struct perf_attr *a,
		  const struct perf_trailer *t);

/* Whole records that tell what is so; beyond what fits into one, paths are cut. */
void perf_put_comm(struct perf_put *b, const struct perf_attr *a, const struct perf_comm *c,
		   const struct perf_trailer *t);
void perf_put_task(struct perf_put *b, uint32_t type, const struct perf_attr *a,
		   const struct perf_task *k, const struct perf_trailer *t);
void perf_put_cgroup(struct perf_put *b, const struct perf_attr *a, const struct perf_cgroup *g,
		     const struct perf_trailer *t);
/* n_lost records found no room. */
void perf_put_lost(struct perf_put *b, const struct perf_attr *a, uint64_t n_lost,
		   const struct perf_trailer *t);
/* With mapped bytes' build-id where there is one (MMAP2). */
void perf_put_mmap(struct perf_put *b, uint16_t misc, const struct perf_attr *a,
		   const struct perf_mmap *m, const struct perf_trailer *t);
/* Writes a build-id of n bytes, at most 20, into a whole MMAP2, over what says which file it is. With n 0: none is marked to be there. */
void perf_put_build_id(uint8_t *mmap2, const uint8_t *id, size_t n);

#endif
