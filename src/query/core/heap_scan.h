/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A pass over a long table in parts, one for each of a few threads. */
#ifndef PROFTOP_QUERY_CORE_HEAP_SCAN_H
#define PROFTOP_QUERY_CORE_HEAP_SCAN_H

#include <stdint.h>

struct progress;

#define HEAP_SCAN_MOST 4u

/* How many threads a table of n rows is worth: 1 to HEAP_SCAN_MOST. */
unsigned heap_scan_threads(uint32_t n);

/* Looks at rows [from, to) as thread number `worker`; what it writes to is that worker's own. */
typedef void heap_scan_fn(void *arg, unsigned worker, uint32_t from, uint32_t to);

/*
 * Calls fn for all of n rows, some at a time; each thread has one run of rows, in order. `from` is a multiple of HEAP_GROUP.
 * Returns 0 or -ECANCELED.
 */
int heap_scan(uint32_t n, unsigned n_threads, struct progress *progress, heap_scan_fn *fn,
	      void *arg);

#endif
