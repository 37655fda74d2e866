/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is there at the end of a time and was not at its beginning, less what went. */
#ifndef PROFTOP_QUERY_HEAP_HEAP_CHANGE_H
#define PROFTOP_QUERY_HEAP_HEAP_CHANGE_H

#include "profile/profile.h"
#include "query/core/lens.h"

#include <stdint.h>

struct progress;

/*
 * Bytes that each origin has more at to_ns than at from_ns, since the start, into by_origin, [n_origins]: of
 * what passes the lens and its column 0, which is of a heap, but for what filters say of time. 0 or -ECANCELED.
 */
int heap_change(const struct profile *p, const struct profile_counts *counts,
		const struct lens *lens, int64_t from_ns, int64_t to_ns, struct progress *progress,
		int64_t *by_origin);

#endif
