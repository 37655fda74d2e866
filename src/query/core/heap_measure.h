/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a column of a lens says of an allocation: does it count, and how much? */
#ifndef PROFTOP_QUERY_CORE_HEAP_MEASURE_H
#define PROFTOP_QUERY_CORE_HEAP_MEASURE_H

#include "query/core/aggregate.h"
#include "query/core/heap_pass.h"

#include <stdbool.h>
#include <stdint.h>

struct progress;

/* Of columns of squares; what a sampled block stands for is a multiple of it, or about. */
#define HEAP_SQUARE_UNIT 1024

struct heap_measure {
	struct heap_pass pass;
	enum measure measure;
	bool blocks;   /* it counts these, not bytes */
	bool squares;  /* it is of what chance makes of them, in squares of HEAP_SQUARE_UNIT */
	bool is_level; /* it is of what is there, not of what happens */
	bool by_free;  /* it is of who freed, and when */
	/* [n_tracks] moments that have happened, for what is there at a time; owned */
	uint32_t *at;
	int64_t scale;           /* amounts are in 1/scale of the unit: counts of sampled blocks */
	double most;             /* as in struct heap_state */
	int64_t *top;            /* [n_tracks] MEASURE_PEAK: bytes there then; else NULL; owned */
	struct peak peak;        /* MEASURE_PEAK: the highest of all tracks */
	struct heap_peaks peaks; /* MEASURE_PEAK: what was found, for columns that follow */
};

/* Is a column of the pass one of heaps? */
bool heap_measure_applies(const struct profile *p, const struct sample_scan *r, uint32_t column);

/*
 * The measure of what passes a column. 0 or -ECANCELED; the caller ends with heap_measure_done() in any case. like as in heap_pass_init(). earlier: peaks of columns before it, or NULL;
 * borrowed as long as g is there.
 */
int heap_measure_init(struct heap_measure *g, const struct heap_state *state,
		      const struct sample_scan *r, uint32_t column, enum measure m,
		      const struct heap_pass *like, const struct heap_peaks *earlier,
		      struct progress *progress);
void heap_measure_done(struct heap_measure *g);

/* Does an allocation that passes count? end as of allocation_end(). */
static inline bool heap_measure_counts(const struct heap_measure *g, uint32_t track, uint32_t begin,
				       uint32_t end)
{
	switch (g->measure) {
	case MEASURE_WEIGHT:
	case MEASURE_SAMPLES:
	case MEASURE_WALL:
		return true;
	case MEASURE_LIVE:
	case MEASURE_PEAK:
	case MEASURE_LEAKED:
	case MEASURE_GROWN:
		return begin < g->at[track] &&
		       (end == END_NEVER || (end & END_MOMENT) >= g->at[track]);
	case MEASURE_FREED:
	case MEASURE_FREED_BY:
		return end != END_NEVER;
	case MEASURE_TEMPORARY:
		return end != END_NEVER && (end & END_TEMPORARY);
	}
	return false;
}

/* What a block of an exact track adds, and one that began at a moment of a sampled one. */
static inline int64_t heap_measure_exactly(const struct heap_measure *g, uint64_t size)
{
	return g->squares ? 0 : g->blocks ? 1 : (int64_t)size;
}
int64_t heap_measure_about(const struct heap_measure *g, const struct heap_track *t, uint32_t begin,
			   uint64_t size);

/* Who freed allocation i, with such an end, and in which moment. False: it was not freed, or that is not known. */
static inline bool heap_measure_free(const struct heap_columns *c, uint32_t i, uint32_t end,
				     uint32_t *origin, uint32_t *moment)
{
	if (end == END_NEVER || !c->release)
		return false;
	*origin = allocation_release(c, i);
	*moment = end & END_MOMENT;
	return *origin < c->n_origins;
}

/* Does it count what is known as sums alone? Those were never there for long, and nobody knows who freed them. */
static inline bool heap_measure_has_bulk(const struct heap_measure *g)
{
	return !g->is_level && !g->by_free;
}

/* What only counted blocks add: they are freed by now, and were never there for long. */
int64_t heap_measure_bulk(const struct heap_measure *g, const struct heap_bulk *b);

/* How many of them are counted, as blocks of rows are. */
static inline uint64_t heap_measure_bulk_blocks(const struct heap_measure *g,
						const struct heap_bulk *b)
{
	return g->measure == MEASURE_TEMPORARY ? b->temporary : b->calls;
}

#endif
