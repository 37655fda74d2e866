/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The further files of a directory recording (perf record --threads): data.0, data.1 and so on hold
 * nothing but records; what describes them stands in the file data.
 */
#ifndef PROFTOP_FORMATS_PERF_PARTS_H
#define PROFTOP_FORMATS_PERF_PARTS_H

#include "mem.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct input;

struct perf_parts {
	char *dir;            /* where they are; NULL: not a directory; owned */
	VEC(uint32_t) number; /* what stands behind "data.", rising */
	uint64_t n_bytes;     /* of all */
};

/* Those that are in dir, which may be NULL. Nothing is opened. */
void perf_parts_find(struct perf_parts *p, const char *dir);
void perf_parts_done(struct perf_parts *p);

/* The part at an index, for the caller to close. -errno with a sentence. */
int perf_parts_open(const struct perf_parts *p, size_t i, struct input **out, struct err *e);

#endif
