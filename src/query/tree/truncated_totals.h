/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What functions weigh in stacks that were shortened (struct beyond_columns), where these say it no more. */
#ifndef PROFTOP_QUERY_TREE_TRUNCATED_TOTALS_H
#define PROFTOP_QUERY_TREE_TRUNCATED_TOTALS_H

#include "profile/profile.h"
#include "query/core/aggregate.h"
#include "query/core/groups.h"
#include "query/core/lens.h"

#include <stdint.h>

struct progress;

/*
 * *out becomes [n_keys][n_columns] sums to add to totals of keys of frames, for the caller to free; NULL where there are none. A
 * filter that asks for frames passes only what stacks still say. w is of the same. 0 or -ECANCELED.
 */
int truncated_totals_sums(const struct profile *p, const struct profile_counts *counts,
			  const struct lens *lens, const struct groups *k, const struct weights *w,
			  struct progress *progress, int64_t **out);

#endif
