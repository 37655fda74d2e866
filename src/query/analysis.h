/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * All the answers for one lens over one state of a profile, made together on a worker thread and
 * then owned by one thread. Views borrow from it; a newer one replaces it whole. Another lens, such as another
 * normalisation of a comparison, is another analysis: numbers of one that was handed over never change, so that
 * a task may read them beside the views.
 *
 * What is costly and may not be wanted (call tree, inverted tree, sample tables) is made when first asked for.
 */
#ifndef PROFTOP_QUERY_ANALYSIS_H
#define PROFTOP_QUERY_ANALYSIS_H

#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/core/lens.h"
#include "query/diff/normalize.h"
#include "query/heap/footprint.h"
#include "query/heap/footprint_lines.h"
#include "query/live/recent.h"
#include "query/over_time.h"
#include "query/tree/butterfly.h"
#include "query/tree/calltree.h"
#include "query/tree/inverted.h"
#include "query/tree/table.h"

#include <stdbool.h>
#include <stdint.h>

struct diff;
struct analysis_cache;
struct progress;
struct comparison_time;

struct analysis {
	const struct profile *profile; /* borrowed; must outlive the analysis */
	struct profile_counts counts;  /* what was looked at */
	struct lens lens;              /* a copy; its grouping is what the table asks for */
	struct groups keys;            /* of frames (GROUP_FUNCTION when lens groups samples) */
	struct weights weights;        /* what is per stack only until the tree has it */
	struct calltree *tree;         /* NULL when it was not wanted, until analysis_tree() */
	uint32_t *
		groups; /* of locations as the table has them, for that; NULL: it needs none; owned */
	struct table table;              /* rows of table_keys */
	struct groups own_keys;          /* of samples, only when lens groups samples */
	const struct groups *table_keys; /* &keys or &own_keys */
	struct inverted *inverted;       /* NULL until analysis_inverted() */
	struct recent *recent;       /* where the lens wants it and there are times; else NULL */
	struct footprint *footprint; /* NULL until analysis_footprint() */
	struct over_time *over[N_OVER_TIME]; /* NULL until analysis_set_over(); owned */
	struct normalize amounts;            /* of a lens that compares */
	struct diff *diff;                   /* likewise; else NULL */
	/* likewise, where there are times; NULL until analysis_footprint() */
	struct comparison_time *sides_time;
};

/* 0 or -ECANCELED; *out is the caller's to free. */
int analysis_new(const struct profile *p, const struct lens *lens, struct progress *progress,
		 struct analysis **out);
/* The same, with or without what takes most of the time; the table is always made. */
#define ANALYSIS_TREE   1u
#define ANALYSIS_LATER  4u /* the tree may be asked for by analysis_tree() */
#define ANALYSIS_MEMORY 2u /* its footprint, where it has one: made together they take less */
int analysis_new_parts(const struct profile *p, const struct lens *lens, unsigned parts,
		       struct progress *progress, struct analysis **out);
/* The same of an older state of the profile. */
int analysis_new_of(const struct profile *p, const struct profile_counts *counts,
		    const struct lens *lens, unsigned parts, struct progress *progress,
		    struct analysis **out);
void analysis_free(struct analysis *a);

/* A term of its filters that was given up on, see filter_gave_up(); borrowed from the analysis. */
const char *analysis_gave_up(const struct analysis *a);

/*
 * The call tree, made on the first call of what the analysis was made of: it agrees with the table whatever has got a name
 * meanwhile. NULL where it was wanted neither at once nor later.
 */
struct calltree *analysis_tree(struct analysis *a);

/* The bottom-up tree, made on the first call. */
struct inverted *analysis_inverted(struct analysis *a);

/*
 * Memory over time and by site, made on the first call: of column 0's event if that is of a heap, else of
 * the first that is. NULL where there is none, and when it was cancelled. Of a comparison there is none, but it has
 * the times of its sides then.
 */
struct footprint *analysis_footprint(struct analysis *a, struct progress *progress);

/* What was asked for over time is the analysis's from now on; what there was of that kind is freed. */
void analysis_set_over(struct analysis *a, struct over_time *o);

/* The newest lines of its footprint, or NULL. */
static inline const struct footprint_lines *analysis_lines(const struct analysis *a)
{
	return a->over[OVER_MEMORY] ? a->over[OVER_MEMORY]->memory : NULL;
}

/*
 * Would an analysis of that version of the profile through lens have the same lines over this span? They know no cursor
 * and no metric, and are costly.
 */
bool analysis_lines_hold(const struct analysis *a, const struct lens *lens, uint32_t version,
			 const struct time_span *span);
/* Gives `to` the lines of an analysis that is done with, if they are what it would have itself. */
void analysis_keep_lines(struct analysis *to, struct analysis *from);

/* All four kinds; the caller frees. */
struct analysis_cache *analysis_cache_new(void);
void analysis_cache_free(struct analysis_cache *c);

#endif
