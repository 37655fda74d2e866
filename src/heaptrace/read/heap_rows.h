/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which allocation of the profile is meant: by the ids of a heap trace, by address where the recorder
 * had forgotten the id, by range for mapped memory.
 *
 * All calls are in order of time and want the pen; allocations and releases happen at the track's
 * moment. Events come by thread and clocks differ a little: a free may come before its allocation,
 * and then ends it at once.
 */
#ifndef PROFTOP_HEAPTRACE_READ_HEAP_ROWS_H
#define PROFTOP_HEAPTRACE_READ_HEAP_ROWS_H

#include "profile/heap/heap_builder.h"

#include <stdint.h>

struct heap_rows;

/* What could not be made sense of, for facts. */
struct heap_rows_stats {
	uint64_t n_unknown_frees; /* of blocks from before the recording, or that it left out */
	uint64_t n_odd_ids;       /* taken twice, or beyond what can be */
	uint64_t n_odd_sizes;     /* of more bytes than can be, see SIZE_MOST: no allocation */
	uint64_t n_open_frees;    /* of ids that never came */
};

/* Borrows p. */
struct heap_rows *heap_rows_new(struct profile *p, track_id t);
void heap_rows_free(struct heap_rows *r);

/* A new one at the track's moment; {ID_NONE} also when so many bytes cannot be. */
allocation_id heap_rows_allocate(struct heap_rows *r, uint64_t size, origin_id who);

enum heap_rows_taken {
	HEAP_ROWS_TAKEN, /* it lives */
	HEAP_ROWS_FREED, /* it was freed already: it ends at the next moment */
	HEAP_ROWS_ODD,   /* the id cannot be, and counts as such: nothing will end it by its id */
};

/* The allocation that takes an id. */
enum heap_rows_taken heap_rows_take(struct heap_rows *r, uint64_t id, allocation_id a);
/* The allocation of an id, which ends now; {ID_NONE} when it has not come yet. */
allocation_id heap_rows_end(struct heap_rows *r, uint64_t id);

/* n ids from `id` on are nobody's. */
void heap_rows_skip(struct heap_rows *r, uint64_t id, uint64_t n);

/* Pages of so many ids. */
#define HEAP_ROWS_PAGE_BITS 8u
#define HEAP_ROWS_PAGE_IDS  (1u << HEAP_ROWS_PAGE_BITS)

/*
 * Most threads' allocations come in stretches that no other thread's interrupt: rows of a page's ids are one
 * behind the other then, and where they begin says all. Of other pages there is a table.
 */
struct heap_row_page {
	uint32_t row; /* of the page's first id, modulo 2^32, were it taken; or the table's place */
	/* the first id that was taken, from the page's first; or one of those below */
	uint16_t from;
	uint16_t to; /* behind the last one; 0: none was; or as from */
};

#define HEAP_ROWS_TABLE 0xffffu /* there is a table */
#define HEAP_ROWS_GONE \
	0xfffeu /* all ids of the page were taken and have ended: its table is gone */

/* Pages stand in stretches of so many, which go when all of their ids have: ids of hours take no more memory than those that live. */
#define HEAP_ROWS_STRETCH_BITS 9u
#define HEAP_ROWS_STRETCH      (1u << HEAP_ROWS_STRETCH_BITS)

/* Where the rows of ids are, for looking without a call. Good until r goes, as it changes with r. */
struct heap_rows_pages {
	struct heap_row_page **
		stretch; /* [n_stretches] of HEAP_ROWS_STRETCH pages each; NULL: none of its ids was seen */
	uint64_t n_stretches;
	/* [HEAP_ROWS_PAGE_IDS] each: an allocation_id, or HEAP_ROWS_NONE or more */
	uint32_t *table;
};

/* What an id is in a table that is no row: this or more. */
#define HEAP_ROWS_NONE (UINT32_MAX - 2)

const struct heap_rows_pages *heap_rows_pages(const struct heap_rows *r);

/* The page of an id; NULL: none of its was seen. */
static inline struct heap_row_page *heap_rows_page(const struct heap_rows_pages *p, uint64_t id)
{
	uint64_t n = id >> HEAP_ROWS_PAGE_BITS, s = n >> HEAP_ROWS_STRETCH_BITS;

	if (s >= p->n_stretches || !p->stretch[s])
		return NULL;
	return &p->stretch[s][n % HEAP_ROWS_STRETCH];
}

/* The row of an id of a page without a table, which may have ended; {ID_NONE} where it is none. */
static inline allocation_id heap_rows_in_row(const struct heap_rows_pages *p, uint64_t id)
{
	const struct heap_row_page *page = heap_rows_page(p, id);
	uint32_t i = (uint32_t)(id % HEAP_ROWS_PAGE_IDS);

	if (!page || i < page->from || i >= page->to)
		return (allocation_id){ ID_NONE };
	return (allocation_id){ page->row + i };
}

/* Takes an id for the row behind that of the id before it; false: that is not so, and nothing was done. */
static inline bool heap_rows_take_next(const struct heap_rows_pages *p, uint64_t id,
				       allocation_id a)
{
	struct heap_row_page *page = heap_rows_page(p, id);
	uint32_t i = (uint32_t)(id % HEAP_ROWS_PAGE_IDS);

	if (!page || i != page->to || page->row + i != a.v)
		return false;
	page->to++;
	return true;
}

/* Where the row of an id of a page with a table stands; NULL of others. */
static inline uint32_t *heap_rows_in_table(const struct heap_rows_pages *p, uint64_t id)
{
	const struct heap_row_page *page = heap_rows_page(p, id);

	if (!page || page->from != HEAP_ROWS_TABLE)
		return NULL;
	return &p->table[(size_t)page->row * HEAP_ROWS_PAGE_IDS + id % HEAP_ROWS_PAGE_IDS];
}

/* An id's page is asked for soon: brings it near. */
static inline __attribute__((always_inline)) void heap_rows_fetch_page(
	const struct heap_rows_pages *p, uint64_t id)
{
	const struct heap_row_page *page = heap_rows_page(p, id);

	if (page)
		__builtin_prefetch(page, 1);
}

/*
 * An id's row is asked for soon: brings what says it near. Then what it is by now, {ID_NONE} if nothing. The
 * compiler leaves out calls of functions that do nothing but that, so they must not be calls.
 */
static inline __attribute__((always_inline)) void heap_rows_fetch(const struct heap_rows_pages *p,
								  uint64_t id)
{
	const uint32_t *row = heap_rows_in_table(p, id);

	if (row)
		__builtin_prefetch(row, 1);
}

static inline allocation_id heap_rows_now(const struct heap_rows_pages *p, uint64_t id)
{
	const uint32_t *row = heap_rows_in_table(p, id);

	if (row)
		return (allocation_id){ *row < HEAP_ROWS_NONE ? *row : ID_NONE };
	return heap_rows_in_row(p, id);
}

/* Allocations have other numbers from now on, see build_heap_fold(). */
void heap_rows_move(struct heap_rows *r, const uint32_t *to, uint32_t n);

/* The id's free will come by address. */
void heap_rows_evict(struct heap_rows *r, uint64_t id, uint64_t address);
/* The allocation at an address, which ends now; {ID_NONE} when none is known. */
allocation_id heap_rows_end_address(struct heap_rows *r, uint64_t address);

/* Memory that was mapped, or given back, whole or in part; who is who did it. */
void heap_rows_map(struct heap_rows *r, uint64_t address, uint64_t bytes, origin_id who);
void heap_rows_unmap(struct heap_rows *r, uint64_t address, uint64_t bytes, origin_id who);

struct heap_rows_stats heap_rows_stats(const struct heap_rows *r);

#endif
