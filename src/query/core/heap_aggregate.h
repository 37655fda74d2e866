/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The allocations' part of aggregate() and of tables of samples: what the columns of heap events are of, by stack or by thread. */
#ifndef PROFTOP_QUERY_CORE_HEAP_AGGREGATE_H
#define PROFTOP_QUERY_CORE_HEAP_AGGREGATE_H

#include "profile/heap/heap.h"
#include "query/core/aggregate.h"
#include "query/core/sample_scan.h"

struct progress;
struct table_sums;

/*
 * Adds allocations to the columns of w that are of heap events; threads[n_threads] are set where a thread
 * allocated what is in column 0. Columns of samples are left alone. Returns 0 or -ECANCELED.
 */
int heap_aggregate(const struct profile *p, const struct sample_scan *r, struct progress *progress,
		   bool *threads, struct weights *w);
/*
 * The key of who allocated there, or of what, where k groups samples; process: the origin's. Blocks of unknown threads are of their
 * process's capture, too.
 */
uint32_t heap_key_of_origin(const struct profile *p, const struct groups *k,
			    const struct heap_origin *o, process_id process);
/* The same by keys of samples: threads, what they belong to, or events. Without a pass where the lens keeps one of aggregate(). */
int heap_aggregate_table(const struct profile *p, const struct sample_scan *r,
			 struct progress *progress, struct table_sums *to);

#endif
