/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sums by stack and thread, of several types of value at once: for formats that hold sums (pprof, callgrind). */
#ifndef PROFTOP_FORMATS_WRITE_TYPE_SUMS_H
#define PROFTOP_FORMATS_WRITE_TYPE_SUMS_H

#include "base/fmt.h"
#include "base/map.h"
#include "base/mem.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct analysis;

/* A type of value. */
struct sum_type {
	char *name; /* owned */
	enum unit unit;
};

struct type_sum {
	uint32_t stack, thread; /* stack_id; thread_id or ID_NONE */
};

struct type_sums {
	VEC(struct sum_type) types;
	VEC(struct type_sum) sums;
	VEC(int64_t) values; /* [sums.n][types.n] */
	struct map by_key;   /* of indexes of sums */
	uint32_t shown;      /* the type that the analysis shows */
};

/* 0, or -errno where the samples cannot be gone through. */
int type_sums_make(struct type_sums *s, const struct analysis *a);
void type_sums_done(struct type_sums *s);

#endif
