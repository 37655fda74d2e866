/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What functions weigh in stacks that were shortened (struct beyond_columns), where these say it no more. */
#ifndef PROFTOP_QUERY_BEYOND_H
#define PROFTOP_QUERY_BEYOND_H

#include "keys.h"
#include "lens.h"
#include "profile.h"
#include "weigh.h"

#include <stdint.h>

struct progress;

/*
 * *out becomes [n_keys][n_columns] sums to add to totals of keys of frames, for the caller to free; NULL where there are none. A
 * filter that asks for frames passes only what stacks still say. w is of the same. 0 or -ECANCELED.
 */
int beyond_sums(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, const struct keys *k, const struct weights *w,
		struct progress *progress, int64_t **out);

#endif
