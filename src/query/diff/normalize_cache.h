/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What comparisons found out of their sides, kept for the next look at the same ones: it is the same whatever a filter leaves of
 * them and whatever rows are of, and takes a pass over all samples or two.
 */
#ifndef PROFTOP_QUERY_DIFF_NORMALIZE_CACHE_H
#define PROFTOP_QUERY_DIFF_NORMALIZE_CACHE_H

#include <stdbool.h>

struct normalize;
struct lens;
struct profile_counts;

/* That of some pairs of sides and metrics, the latest ones. One thread at a time. */
struct normalize_cache;

struct normalize_cache *normalize_cache_new(void);
void normalize_cache_free(struct normalize_cache *k);

/* A copy of what normalize_find() and normalize_learn() made of such a lens, the caller's; false: it is not known. */
bool normalize_cache_find(const struct normalize_cache *k, const struct profile_counts *counts,
			  const struct lens *lens, struct normalize *out);
/* Keeps a copy. What was found out of an older state of the profile is forgotten. */
void normalize_cache_put(struct normalize_cache *k, const struct profile_counts *counts,
			 const struct lens *lens, const struct normalize *a);

#endif
