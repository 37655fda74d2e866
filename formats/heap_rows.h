/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which allocation of the profile is meant: by the ids of a heap trace, by address where the recorder
 * had forgotten the id, by range for mapped memory.
 *
 * All calls are in order of time and want the pen; allocations and releases happen at the track's
 * moment. Events come by thread and clocks differ a little: a free may come before its allocation,
 * and then ends it at once.
 */
#ifndef PROFTOP_FORMATS_HEAP_ROWS_H
#define PROFTOP_FORMATS_HEAP_ROWS_H

#include "heap_builder.h"

#include <stdint.h>

struct heap_rows;

/* What could not be made sense of, for facts. */
struct heap_rows_stats {
	uint64_t n_unknown_frees; /* of blocks from before the recording, or that it left out */
	uint64_t n_odd_ids;       /* taken twice, or beyond what can be */
	uint64_t n_open_frees;    /* of ids that never came */
};

/* Borrows p. */
struct heap_rows *heap_rows_new(struct profile *p, track_id t);
void heap_rows_free(struct heap_rows *r);

enum heap_rows_taken {
	HEAP_ROWS_TAKEN, /* it lives */
	HEAP_ROWS_FREED, /* it was freed already: it ends at the next moment */
	HEAP_ROWS_ODD,   /* the id cannot be, and counts as such: nothing will end it by its id */
};

/* The allocation that takes an id. */
enum heap_rows_taken heap_rows_take(struct heap_rows *r, uint64_t id, allocation_id a);
/* The allocation of an id, which ends now; {ID_NONE} when it has not come yet. */
allocation_id heap_rows_end(struct heap_rows *r, uint64_t id);

/* An id that was taken, as is known, and not ended: it ends now. */
void heap_rows_end_taken(struct heap_rows *r, uint64_t id);

/* n ids from `id` on are nobody's. */
void heap_rows_skip(struct heap_rows *r, uint64_t id, uint64_t n);

/* Pages of so many ids, and what an id is that has no row: this or more. */
#define HEAP_ROWS_PAGE_BITS 8u
#define HEAP_ROWS_PAGE_IDS  (1u << HEAP_ROWS_PAGE_BITS)
#define HEAP_ROWS_ENDED     (UINT32_MAX - 2)

/* Where the rows of ids are, for looking without a call. Good until r goes, as it changes with r. */
struct heap_rows_pages {
	const uint32_t *place; /* [n_places] by page of ids: where it is in row, below 2: nowhere */
	uint64_t n_places;
	uint32_t *
		row; /* [HEAP_ROWS_PAGE_IDS] of each page: an allocation_id, or HEAP_ROWS_ENDED or more */
};

const struct heap_rows_pages *heap_rows_pages(const struct heap_rows *r);

/* The row of an id, NULL where its page is not. */
static inline const uint32_t *heap_rows_look(const struct heap_rows_pages *p, uint64_t id)
{
	uint64_t n = id >> HEAP_ROWS_PAGE_BITS;

	if (n >= p->n_places || p->place[n] < 2)
		return NULL;
	return &p->row[(size_t)p->place[n] * HEAP_ROWS_PAGE_IDS + id % HEAP_ROWS_PAGE_IDS];
}

/* An id's row is asked for soon: brings what says it near. Then what it is by now, {ID_NONE} if nothing. */
static inline void heap_rows_fetch(const struct heap_rows_pages *p, uint64_t id)
{
	const uint32_t *row = heap_rows_look(p, id);

	if (row)
		__builtin_prefetch(row, 1);
}

static inline allocation_id heap_rows_now(const struct heap_rows_pages *p, uint64_t id)
{
	const uint32_t *row = heap_rows_look(p, id);

	return (allocation_id){ row && *row < HEAP_ROWS_ENDED ? *row : ID_NONE };
}

/* The id's free will come by address. */
void heap_rows_evict(struct heap_rows *r, uint64_t id, uint64_t address);
/* The allocation at an address, which ends now; {ID_NONE} when none is known. */
allocation_id heap_rows_end_address(struct heap_rows *r, uint64_t address);

/* Memory that was mapped, or given back, whole or in part; who is who did it. */
void heap_rows_map(struct heap_rows *r, uint64_t address, uint64_t bytes, origin_id who);
void heap_rows_unmap(struct heap_rows *r, uint64_t address, uint64_t bytes, origin_id who);

struct heap_rows_stats heap_rows_stats(const struct heap_rows *r);

#endif
