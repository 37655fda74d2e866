/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The resident set (RSS) that the recorder read from the kernel from time to time, beside what is live: what a process takes
 * beyond its blocks is code, stacks, the allocator's own and what that keeps of freed blocks. It is less than what is live where
 * pages of blocks were never touched, or are swapped out.
 */
#ifndef PROFTOP_QUERY_HEAP_RESIDENT_H
#define PROFTOP_QUERY_HEAP_RESIDENT_H

#include "profile/heap/heap.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stdint.h>

struct footprint;
struct footprint_lines;

/* What rows of it are called. */
#define RESIDENT_BEYOND "(resident beyond live)"
/* Why a number of theirs may be negative. */
#define RESIDENT_BELOW  "below 0: pages untouched or swapped out, or no reading at that moment"

/* A reading of the resident set, as time since its capture's start; false: it is of something else. */
bool resident_reading(const struct profile *p, const struct heap_reading *r, int64_t *since_ns);

/* Bytes by the last reading up to a time since the start; -1: there is none. */
int64_t resident_at(const struct profile *p, const struct profile_counts *counts, int64_t since_ns);

/* Bytes resident beyond what is live, negative where less is. Readings are a second from each other, or so. */
struct resident_beyond {
	int64_t live; /* by the reading closest to the footprint's cursor */
	int64_t peak; /* by the highest reading, beyond the peak */
};

/*
 * False where that says nothing: there are no readings, or several processes, or the footprint is of a part of what the process
 * holds, by a filter or an event.
 */
bool resident_beyond(const struct footprint *f, struct resident_beyond *out);

/* Bytes by which the last reading is above the first; INT64_MAX: there are no two, or they are of several processes. */
int64_t resident_growth(const struct footprint *f);

/* Slots of lines over the whole time, between which the following tell readings apart. */
#define RESIDENT_SLOTS 160u

/* The reading after the peak that is highest above what was in use then, where that was half of the peak or less. */
struct resident_kept {
	uint32_t slot;  /* of the lines */
	int64_t beyond; /* bytes; 0: there is none */
	int64_t live;
	int64_t at_ns; /* since the start */
};

/* The reading at which most of what was in use was not resident. */
struct resident_absent {
	int64_t bytes; /* 0: there is none */
	int64_t live;  /* that were in use then, at least */
	int64_t at_ns; /* since the start */
};

/* Of lines over the whole time, where resident_beyond() says something. */
void resident_kept(const struct footprint *f, const struct footprint_lines *l,
		   struct resident_kept *out);
void resident_absent(const struct footprint *f, const struct footprint_lines *l,
		     struct resident_absent *out);

#endif
