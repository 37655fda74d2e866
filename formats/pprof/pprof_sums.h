/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums for a pprof profile: by stack and thread, of several types of value. */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_SUMS_H
#define PROFTOP_FORMATS_PPROF_PPROF_SUMS_H

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;

/* A type of value. */
struct pprof_sum_type {
	char *name; /* owned */
	enum unit unit;
};

struct pprof_sum {
	uint32_t stack, thread; /* stack_id; thread_id or ID_NONE */
};

struct pprof_sums {
	VEC(struct pprof_sum_type) types;
	VEC(struct pprof_sum) sums;
	VEC(int64_t) values; /* [sums.n][types.n] */
	struct map by_key;   /* of indexes of sums */
	uint32_t shown;      /* the type that the analysis shows */
};

/* 0, or -errno where the samples cannot be gone through. */
int pprof_sums_make(struct pprof_sums *s, const struct analysis *a);
void pprof_sums_done(struct pprof_sums *s);

#endif
