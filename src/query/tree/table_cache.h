/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Sums of functions that the last table was made of. Of a recording that goes on, where nothing is filtered and nothing
 * fades, only the samples that came since are added to them: a frame costs what is new, not all that there is.
 */
#ifndef PROFTOP_QUERY_TREE_TABLE_CACHE_H
#define PROFTOP_QUERY_TREE_TABLE_CACHE_H

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/core/lens.h"
#include "query/tree/table.h"

#include <stdbool.h>
#include <stdint.h>

struct progress;
struct table_cache;

/* What a table is made by, of locations below n. */
struct table_frames {
	const struct groups *keys; /* of frames; borrowed, as are the following */
	const uint32_t *key;       /* [n] of the innermost frame */
	const struct frame *const
		*outer;         /* [n] frames around that one, up to it; NULL: there are none */
	const uint32_t *module; /* [n] */
	bool *is_live;          /* [n] becomes true of stacks that weigh, or something above them */
	uint32_t n;
};

/* Knows nothing yet. One thread at a time. */
struct table_cache *table_cache_new(void);
void table_cache_free(struct table_cache *k);

/*
 * Is it worth while to try table_cache_sum(), so that nobody needs to know before what single stacks weigh? Whether it succeeds
 * depends on names, too. k may be NULL.
 */
bool table_cache_may_sum(const struct table_cache *k, const struct profile *p,
			 const struct profile_counts *counts, const struct lens *lens);

/*
 * Makes sums, which are all zero, those of all samples of column 0, from those that are kept and the samples that came
 * since, and keeps them; w is what they weigh, per stack or not. 1, or 0 when that cannot be: then sums and is_live are as they
 * were. -ECANCELED. k may be NULL.
 */
int table_cache_sum(struct table_cache *k, const struct profile *p,
		    const struct profile_counts *counts, const struct lens *lens,
		    const struct table_frames *f, const struct weights *w,
		    struct progress *progress, struct table_sums *sums);

/*
 * Keeps what was made of all samples, as far as it can be added to; without what is beyond stacks. w is per stack. k may be
 * NULL.
 */
void table_cache_put(struct table_cache *k, const struct profile *p,
		     const struct profile_counts *counts, const struct lens *lens,
		     const struct table_frames *f, const struct weights *w,
		     const struct table_sums *sums);

#endif
