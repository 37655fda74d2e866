/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Old samples that differ in their times only → one row; private to this room. See build_folding(). */
#ifndef PROFTOP_PROFILE_COMPACT_H
#define PROFTOP_PROFILE_COMPACT_H

#include "profile/store.h"

/* A row. */
struct folded {
	uint32_t stack, thread;
	uint16_t event, cpu;
	int64_t time_ns, last_ns; /* of its first sample, and of its last */
	int64_t weight, count;
	double square;
};

/* A table of folded rows that is being made. */
struct compact {
	const struct profile *p;
	struct store_rows *to;
	struct map alike; /* rows of `to`, by what they share */
	uint64_t most;    /* rows; where there are more, slots are widened */
	int64_t old_ns;   /* rows from here on stay as they were */
	int64_t begin_ns; /* slots are counted from here */
	int64_t slot_ns;
	int64_t fence_ns[BUILD_FENCES];
};

/* From when on samples stay as they are, by now. */
int64_t compact_old_ns(const struct profile *p);

/* The pen is held until compact_end(). slot_ns is that of what was folded before, 0: nothing was. */
void compact_begin(struct compact *f, struct profile *p, struct store_rows *to, uint64_t most,
		   int64_t slot_ns);
/* Adds a row, or its numbers to one that is like it; false where there is no room. */
bool compact_add(struct compact *f, const struct folded *row);
/* The table is whole, unless the caller ends with store_rows_done(). */
void compact_end(struct compact *f);

struct folded compact_row_at(const struct store_rows *r, uint64_t i);

/* Is it older than what stays as it was? What has no time is. */
static inline bool compact_is_old(const struct compact *f, const struct folded *row)
{
	return row->time_ns == TIME_NONE || row->time_ns < f->old_ns;
}

/*
 * The pen is held. All rows anew, old ones folded; to says what becomes of each stack, threads of each thread, NULL: nothing.
 * False where there was no room.
 */
bool compact_all(struct profile *p, const uint32_t *to, const uint32_t *threads,
		 struct store_rows *out);

/* May there be samples that are old by now? */
bool compact_finds_old(const struct profile *p);

/* The same where there are so many rows that it is due; false: it is not, either. */
bool compact_rows(struct profile *p, struct store_rows *out);

/* What a sample adds to row_square. */
static inline double compact_square(int64_t weight, int64_t scale)
{
	double units = (double)weight / (double)scale;

	return units * units;
}

#endif
