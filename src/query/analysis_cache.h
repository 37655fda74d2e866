/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What analyses of one profile found out that the next one may need, whatever it is asked. One thread at a time uses it.
 * NULL in place of a part: nothing of that kind is kept.
 */
#ifndef PROFTOP_QUERY_ANALYSIS_CACHE_H
#define PROFTOP_QUERY_ANALYSIS_CACHE_H

struct amounts_kept;
struct heap_kept;
struct recent_kept;
struct table_kept;

struct analysis_cache {
	struct heap_kept *heap;       /* sums of heaps from passes before, of a comparison */
	struct amounts_kept *amounts; /* by what comparisons may make their sides equal */
	struct recent_kept *recent;   /* what rows weighed of late */
	struct table_kept *table;     /* sums of functions from the pass before */
};

/* All four kinds; the caller frees. */
struct analysis_cache *analysis_cache_new(void);
void analysis_cache_free(struct analysis_cache *c);

#endif
