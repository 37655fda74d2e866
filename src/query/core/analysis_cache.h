/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What analyses of one profile found out that the next one may need, whatever it is asked. One thread at a time uses it.
 * NULL in place of a part: nothing of that kind is kept.
 */
#ifndef PROFTOP_QUERY_CORE_ANALYSIS_CACHE_H
#define PROFTOP_QUERY_CORE_ANALYSIS_CACHE_H

struct normalize_cache;
struct heap_sums_cache;
struct recent_kept;
struct table_cache;
struct teardown_cache;

struct analysis_cache {
	struct heap_sums_cache *heap;    /* sums of heaps from passes before, of a comparison */
	struct normalize_cache *amounts; /* by what comparisons may make their sides equal */
	struct recent_kept *recent;      /* what rows weighed of late */
	struct table_cache *table;       /* sums of functions from the pass before */
	struct teardown_cache *teardown; /* when a program frees all; of several threads */
};

#endif
