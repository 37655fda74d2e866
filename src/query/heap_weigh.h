/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The allocations' part of weigh() and of tables of samples: what the columns of heap events are of, by stack or by thread. */
#ifndef PROFTOP_QUERY_HEAP_WEIGH_H
#define PROFTOP_QUERY_HEAP_WEIGH_H

#include "rowpass.h"
#include "weigh.h"

struct progress;
struct table_sums;

/*
 * Adds allocations to the columns of w that are of heap events; threads[n_threads] are set where a thread
 * allocated what is in column 0. Columns of samples are left alone. Returns 0 or -ECANCELED.
 */
int heap_weigh(const struct profile *p, const struct rowpass *r, struct progress *progress,
	       bool *threads, struct weights *w);
/* The same by keys of samples: threads, what they belong to, or events. Without a pass where the lens keeps one of weigh(). */
int heap_weigh_table(const struct profile *p, const struct rowpass *r, struct progress *progress,
		     struct table_sums *to);

#endif
