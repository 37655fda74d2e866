/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Which kinds of sums count a block, where filters do not speak of time. Nearly all blocks are freed before any moment that some
 * kind looks at: of these an origin's bytes and blocks say all.
 */
#ifndef PROFTOP_QUERY_CORE_HEAP_RULES_H
#define PROFTOP_QUERY_CORE_HEAP_RULES_H

#include "query/core/heap_measure.h"
#include "query/core/heap_sums_cache.h"

#include <stdint.h>

/* What counts a block of a track: sets of bits, a kind each. */
struct heap_rule {
	uint32_t always, freed, temporary;
	uint32_t n_levels;                /* of what is there after so many moments */
	uint32_t at[LENS_MAX_COLUMNS];    /* [n_levels] moments */
	uint32_t level[LENS_MAX_COLUMNS]; /* [n_levels] kinds */
};

/* A kind: heap_measure_counts() of its measure. */
void heap_rule_add(struct heap_rule *r, const struct heap_measure *g, uint32_t track,
		   uint32_t kind);

static inline uint32_t heap_rule_counts(const struct heap_rule *r, uint32_t begin, uint32_t end)
{
	uint32_t kinds = r->always;

	if (end != END_NEVER)
		kinds |= r->freed | (end & END_TEMPORARY ? r->temporary : 0);
	for (uint32_t i = 0; i < r->n_levels; i++)
		if (begin < r->at[i] && (end & END_MOMENT) >= r->at[i])
			kinds |= r->level[i];
	return kinds;
}

/* Blocks of an origin that are in no level. */
struct heap_freed {
	uint64_t bytes
		[2]; /* by being temporary; sums of all are below 2^63, see build_heap_claim() */
	uint32_t n[2];
};

/* Moments between which no level is looked at, and which are of no sums: [from, to). */
struct heap_stretch {
	uint32_t from, to;
};

/* The one that a moment is in; an empty one where there is none. */
struct heap_stretch heap_rule_stretch(const struct heap_rule *r, const struct heap_track *t,
				      uint32_t moment);

/* Adds what origins have to the sums of kinds: kinds, [n_origins], of each, measure, [n_kinds]. */
void heap_freed_fold(const struct heap_freed *freed, const struct heap_rule *r,
		     const struct heap_measure *const *measure, const uint32_t *kinds,
		     uint32_t n_origins, uint32_t n_kinds, struct heap_sum *to);

static inline void heap_freed_add(struct heap_freed *of, bool temporary, uint64_t size)
{
	of->bytes[temporary] += size;
	of->n[temporary]++;
}

/* What another has is added (sign 1) or taken away (-1). */
static inline void heap_freed_sum(struct heap_freed *of, const struct heap_freed *other, int sign)
{
	for (int i = 0; i < 2; i++) {
		of->bytes[i] += (uint64_t)sign * other->bytes[i];
		of->n[i] += (uint32_t)sign * other->n[i];
	}
}

/* Rows of a group, as bits, all of which are brief, see struct heap_group. */
static inline void heap_freed_add_brief(struct heap_freed *freed, const struct heap_columns *c,
					uint32_t group, uint64_t rows)
{
	for (; rows; rows &= rows - 1) {
		uint32_t i = group * HEAP_GROUP + (uint32_t)__builtin_ctzll(rows);

		heap_freed_add(&freed[allocation_origin(c, i)], true, allocation_size(c, i));
	}
}

#endif
