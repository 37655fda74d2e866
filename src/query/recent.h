/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What functions weighed by themselves over the last stretch of time: the rows' sparklines of what is being recorded. */
#ifndef PROFTOP_QUERY_RECENT_H
#define PROFTOP_QUERY_RECENT_H

#include "keys.h"
#include "lens.h"
#include "profile.h"
#include "weigh.h"

#include <stdint.h>

struct progress;

/* Equal slots of time that are over; their borders stand still while time goes on. */
#define RECENT_SLOTS 12

struct recent {
	uint32_t n_keys;
	int64_t *slot; /* [n_keys][RECENT_SLOTS] of column 0, oldest first; owned */
};

/*
 * Over lens->recent_ns before the newest sample, whatever time terms say, of the innermost frames as they are without
 * transforms. k is of frames. 0, -ECANCELED, or -ENODATA without times; the caller ends with recent_done() in any case.
 */
int recent_weigh(const struct profile *p, const struct profile_counts *counts,
		 const struct lens *lens, const struct keys *k, const struct weights *w,
		 struct progress *progress, struct recent *out);
void recent_done(struct recent *r);

#endif
