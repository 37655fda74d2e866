/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The rows of allocations as they are kept, see struct heap_group in heap.h: some 9 bytes each, 5 of a
 * block that its thread freed at once. For the writers of src/profile, and for heap_append.h.
 *
 * One thread writes, and others may read what was published before. What they see of a row changes in one
 * way only: it ends, at a moment that is not in what was published.
 */
#ifndef PROFTOP_PROFILE_HEAP_HEAP_PACKED_H
#define PROFTOP_PROFILE_HEAP_HEAP_PACKED_H

#include "base/column.h"
#include "profile/heap/heap.h"

#include <stdbool.h>
#include <stdint.h>

struct err;

struct heap_packed {
	struct column group;   /* struct heap_group */
	struct column step;    /* uint8_t, as the following columns to `high` by row */
	struct column size;    /* uint16_t */
	struct column origin;  /* uint16_t */
	struct column high;    /* uint16_t; empty while all origins fit 16 bits */
	struct column release; /* uint32_t, atomic; empty while nobody says who frees */
	struct column end;     /* uint32_t, atomic; of rows that are not brief */
	struct column wide;    /* uint32_t [HEAP_GROUP] each */
	struct column large;   /* struct heap_large */
	uint32_t n;            /* rows */
	uint32_t n_ends, n_wide, n_large;
	uint32_t n_quick; /* up to here rows go into the group without a look at it */
	uint32_t begin;   /* of the group's first row */
	uint32_t last;    /* moment at which the last row began */
	uint32_t n_told;  /* rows that were published */
};

void heap_packed_init(struct heap_packed *t);
void heap_packed_done(struct heap_packed *t);
/* Without rows, as at first; the memory stays. */
void heap_packed_clear(struct heap_packed *t);

/* What readers are told of it: pointers and counts of rows; the rest of *c stays. */
void heap_packed_columns(const struct heap_packed *t, struct heap_columns *c);

/* Has all columns in temporary files; what is for the sentence. 0 or -errno with a sentence. */
int heap_packed_to_files(struct heap_packed *t, const char *what, struct err *e);

/* As heap_packed_add() without its conditions. */
int heap_packed_add_any(struct heap_packed *t, uint32_t begin, uint64_t size, uint32_t origin);

/* A row that has not ended, the next one: 0; or -errno when there is no room, and nothing was done. */
static inline int heap_packed_add(struct heap_packed *t, uint32_t begin, uint64_t size,
				  uint32_t origin)
{
	uint32_t n = t->n, step = begin - t->begin;

	if (n >= t->n_quick || step > UINT8_MAX || size >= HEAP_SIZE_FAR || origin > UINT16_MAX)
		return heap_packed_add_any(t, begin, size, origin);
	((uint32_t *)t->end.base)[t->n_ends++] = END_NEVER;
	((uint16_t *)t->size.base)[n] = (uint16_t)size;
	((uint16_t *)t->origin.base)[n] = (uint16_t)origin;
	((uint8_t *)t->step.base)[n] = (uint8_t)step;
	t->last = begin;
	t->n = n + 1;
	return 0;
}

/* A brief row, the next one: as heap_packed_add() and, at the next moment, heap_packed_end(). False: it is not usual, and nothing was done. */
static inline bool heap_packed_add_brief(struct heap_packed *t, uint32_t begin, uint64_t size,
					 uint32_t origin)
{
	uint32_t n = t->n, step = begin - t->begin;
	struct heap_group *g = (struct heap_group *)t->group.base + n / HEAP_GROUP;

	if (n >= t->n_quick || step > UINT8_MAX || size >= HEAP_SIZE_FAR || origin > UINT16_MAX)
		return false;
	((uint16_t *)t->size.base)[n] = (uint16_t)size;
	((uint16_t *)t->origin.base)[n] = (uint16_t)origin;
	((uint8_t *)t->step.base)[n] = (uint8_t)step;
	__atomic_store_n(&g->brief, g->brief | UINT64_C(1) << n % HEAP_GROUP, __ATOMIC_RELEASE);
	t->last = begin;
	t->n = n + 1;
	return true;
}

/* Where a row's end stands; NULL of a brief one, which has ended. */
static inline uint32_t *heap_packed_end_of(const struct heap_packed *t, uint32_t row)
{
	const struct heap_group *g = (const struct heap_group *)t->group.base + row / HEAP_GROUP;

	if (g->brief >> row % HEAP_GROUP & 1)
		return NULL;
	return (uint32_t *)t->end.base + heap_group_end(g, g->brief, row % HEAP_GROUP);
}

static inline bool heap_packed_has_ended(const struct heap_packed *t, uint32_t row)
{
	const uint32_t *end = heap_packed_end_of(t, row);

	return !end || *end != END_NEVER;
}

/* The end of a row that has not ended; end as of struct heap_columns. */
static inline void heap_packed_end(struct heap_packed *t, uint32_t row, uint32_t end)
{
	struct heap_group *g = (struct heap_group *)t->group.base + row / HEAP_GROUP;

	/*
	 * The next row's end takes its place, so nobody may be about to read this row's there: the next one may be of another track,
	 * whose moments mean other times.
	 */
	if (row + 1 == t->n && row >= t->n_told && end == ((t->last + 1) | END_TEMPORARY)) {
		__atomic_store_n(&g->brief, g->brief | UINT64_C(1) << row % HEAP_GROUP,
				 __ATOMIC_RELEASE);
		t->n_ends--;
		return;
	}
	__atomic_store_n((uint32_t *)t->end.base + heap_group_end(g, g->brief, row % HEAP_GROUP),
			 end, __ATOMIC_RELEASE);
}

/* From now on it is recorded who frees: 0 or -errno. */
int heap_packed_with_release(struct heap_packed *t);
/* Who freed a row, before its end is said. */
void heap_packed_release(struct heap_packed *t, uint32_t row, uint32_t by);

#endif
