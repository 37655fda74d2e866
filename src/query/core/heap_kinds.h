/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The pass over the rows of a heap: sums of several kinds by origin, which is what most filters are about. What filters say of
 * times and of single blocks is asked once for a group of rows; what the lens' filter so leaves out is added up beside, as shares
 * are of all.
 */
#ifndef PROFTOP_QUERY_CORE_HEAP_KINDS_H
#define PROFTOP_QUERY_CORE_HEAP_KINDS_H

#include "query/core/heap_measure.h"
#include "query/core/heap_slots.h"
#include "query/core/heap_sums_cache.h"

#include <stdbool.h>
#include <stdint.h>

struct heap_brief;
struct heap_rule;
struct progress;

/* What is added up. Sets of bits are of kinds. */
struct heap_kinds {
	const struct heap_state *state;
	uint32_t n;
	const struct heap_measure *kind[LENS_MAX_COLUMNS]; /* [n] */
	uint32_t *of_origin;      /* [n_origins] kinds that count its blocks; owned */
	bool *is_noted;           /* [n_origins] it is noted when its blocks are; owned */
	uint32_t noted;           /* kinds of which that is noted */
	uint32_t levels;          /* of what is there, which over time are one */
	uint32_t frees;           /* of who freed, which are added up by the origin that freed */
	uint32_t by_row;          /* whose own filter speaks of times or blocks */
	struct heap_filter *lens; /* that of the lens, if it does; else NULL; borrowed */
	struct heap_rule *rule;   /* [n_tracks]; owned */
	struct heap_slots *slots; /* [n_tracks] of slices; NULL: none; owned */
	/* [n_tracks] the slice in which what the process held goes, see heap_slots_gone(); owned */
	uint32_t *gone;
	struct heap_brief *brief; /* sums from passes before; NULL: they are not kept; borrowed */
	uint32_t version;         /* of the profile's counts */
};

/* Slices, of whole_ns since a capture's start. */
void heap_kinds_slice(struct heap_kinds *k, int64_t whole_ns);
/* One more; returns its number. Measures are borrowed. */
uint32_t heap_kinds_add(struct heap_kinds *k, const struct heap_measure *g);
void heap_kinds_done(struct heap_kinds *k);

/*
 * One pass over all rows, on several threads. sums, which the caller ends; *rest, [n_origins][n], is of blocks that the lens' filter
 * leaves out though their origins may pass: NULL where it speaks of origins alone; the caller frees. 0 or -ECANCELED.
 */
int heap_kinds_scan(struct heap_kinds *k, struct progress *progress, struct heap_sums *sums,
		    struct heap_sum **rest);

#endif
