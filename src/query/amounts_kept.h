/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What comparisons found out of their sides, kept for the next look at the same ones: it is the same whatever a filter leaves of
 * them and whatever rows are of, and takes a pass over all samples or two.
 */
#ifndef PROFTOP_QUERY_AMOUNTS_KEPT_H
#define PROFTOP_QUERY_AMOUNTS_KEPT_H

#include <stdbool.h>

struct amounts;
struct lens;
struct profile_counts;

/* That of some pairs of sides and metrics, the latest ones. One thread at a time. */
struct amounts_kept;

struct amounts_kept *amounts_kept_new(void);
void amounts_kept_free(struct amounts_kept *k);

/* A copy of what amounts_find() and amounts_learn() made of such a lens, the caller's; false: it is not known. */
bool amounts_kept_find(const struct amounts_kept *k, const struct profile_counts *counts,
		       const struct lens *lens, struct amounts *out);
/* Keeps a copy. What was found out of an older state of the profile is forgotten. */
void amounts_kept_put(struct amounts_kept *k, const struct profile_counts *counts,
		      const struct lens *lens, const struct amounts *a);

#endif
