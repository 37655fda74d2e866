/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How the answers of heap_table.h are made; for this room only. */
#ifndef PROFTOP_QUERY_HEAP_HEAP_ANSWERS_H
#define PROFTOP_QUERY_HEAP_HEAP_ANSWERS_H

#include "query/core/heap_pass.h"
#include "query/core/heap_scan.h"
#include "query/heap/heap_sites.h"
#include "query/heap/heap_table.h"

struct footprint;

/* Which stamp of time a moment has: blocks end far from where they begin, and far from each other. */
struct heap_clock {
	uint32_t *tick; /* [n] of a moment of each 1 << shift, one that is not after it; owned */
	uint32_t n, shift;
};

/* What answers are made from. */
struct heap_asking {
	const struct footprint *f;
	struct heap_table *out;
	const struct heap_table_wish *wish;
	struct progress *progress;
	struct heap_state state;
	struct heap_pass pass;
	uint32_t *row_of_origin; /* [n_origins] of the footprint, ID_NONE: none; owned */
	uint32_t n_sites;
	struct heap_clock *clock; /* [n_tracks]; owned, and shared by copies */
};

/* A block that passes, or blocks that are only counted. */
struct heap_block_seen {
	uint32_t row; /* of the table of allocations; ID_NONE: counted ones */
	uint32_t track;
	uint32_t begin, end; /* moments; end END_NEVER, or with END_TEMPORARY */
	uint32_t origin;
	uint32_t site; /* row of the footprint, or ID_NONE */
	uint64_t size; /* of one block; of counted ones their mean */
	double n;      /* blocks that it stands for */
	double bytes;
	double temporary; /* of n */
};

/* Calls fn for each block that passes, by rising begin within each track. 0 or -ECANCELED. */
typedef void heap_block_fn(void *arg, const struct heap_block_seen *b);
int heap_each_block(struct heap_asking *ask, heap_block_fn *fn, void *arg);

/*
 * The same for answers that need no order, on n threads, HEAP_SCAN_MOST at most: as many as sums of so many rows are worth. ask: [n]
 * copies; fn gets arg[worker] and asks of ask[worker].
 */
unsigned heap_block_workers(const struct heap_asking *ask, uint32_t n_rows);
int heap_each_block_apart(struct heap_asking *ask, unsigned n, heap_block_fn *fn, void *const *arg);

/* How long it lived, in ns; -1: it was not freed, or it is one of counted ones. */
int64_t heap_lifetime(const struct heap_asking *ask, const struct heap_block_seen *b);
/* When a moment was, since the capture's start. */
int64_t heap_since_start(const struct heap_asking *ask, uint32_t track, uint32_t moment);

/* A row of no numbers at the end of the table, which is borrowed until the next one. */
struct heap_table_row *heap_add_row(struct heap_asking *ask);
/* Of a site of the footprint. */
struct heap_table_row *heap_add_site(struct heap_asking *ask, uint32_t site);
/* Classes of size: 0, 1, 2 – 3, 4 – 7, …; larger ones are of the last. */
#define HEAP_SIZE_CLASSES 58u
uint32_t heap_size_class(uint64_t size);
/* A row of such a class, with its label and filter. */
struct heap_table_row *heap_add_size(struct heap_asking *ask, uint32_t size_class);
/* A sentence above the rows; text is taken over. */
void heap_note(struct heap_asking *ask, char *text);

static inline int64_t heap_part(double part, double whole)
{
	return whole > 0 ? (int64_t)(part / whole * 10000 + 0.5) : 0;
}

/* The answers: 0 or -ECANCELED. */
int heap_leaks(struct heap_asking *ask);
int heap_lifetimes(struct heap_asking *ask);
int heap_sizes(struct heap_asking *ask);
int heap_temporaries(struct heap_asking *ask);
int heap_handoffs(struct heap_asking *ask);
int heap_reallocs(struct heap_asking *ask);
int heap_waste(struct heap_asking *ask);
int heap_blocks(struct heap_asking *ask);
int heap_allocators(struct heap_asking *ask);

#endif
