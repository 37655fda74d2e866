/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Heap traces made by hand, for tests. */
#ifndef PROFTOP_TESTS_SUPPORT_MADE_HEAP_H
#define PROFTOP_TESTS_SUPPORT_MADE_HEAP_H

#include "base/mem.h"
#include "heaptrace/heap_events.h"
#include "heaptrace/heap_records.h"

#include <stddef.h>
#include <stdint.h>

struct err;
struct heap_columns;
struct profile;
struct read_options;

struct made_heap {
	VEC(uint8_t) bytes;
	uint64_t n_blocks;
	uint64_t n_nodes;
	bool packed;      /* columns are packed with zstd */
	bool free_stacks; /* frees have stacks, as after init */
};

/* A file of pid 7 whose times are in µs from 1 s on. The caller ends with made_heap_done(). */
void made_heap_init(struct made_heap *h);
void made_heap_done(struct made_heap *h);

/* A block of records. */
void made_heap_records(struct made_heap *h, const struct heap_record *r, size_t n);
/* A block of nodes, which go on where the last ones ended; the first is 1. */
void made_heap_nodes(struct made_heap *h, const struct heap_node *nodes, size_t n);
/* A block of events of a thread. */
void made_heap_events(struct made_heap *h, uint32_t thread, uint64_t first_id,
		      const struct heap_event *e, size_t n);

/* A block that says of so many events that they were dropped; the last of them was at that time. */
void made_heap_skipped(struct made_heap *h, uint32_t n, uint64_t last_time);

/*
 * What every file begins with: a process "/bin/prog", its threads 1 "main" and 2 "worker", a module
 * mapped at 0x1000, and nodes 1: 0x1010 (outermost), 2: 0x1020 below it, 3: 0x1030 below that.
 */
void made_heap_begin(struct made_heap *h);
/* The record that ends a file. */
void made_heap_end(struct made_heap *h);

/* Reads n bytes as the heap trace "x": what its reader returns. *p is the caller's in any case. */
int made_heap_read_bytes(const void *bytes, size_t n, const struct read_options *o,
			 struct profile **p, struct err *e);
/* The same of h, which can be read. */
struct profile *made_heap_read(const struct made_heap *h);
/* Likewise, as one more capture of p. */
void made_heap_read_again(const struct made_heap *h, struct profile *p);
/* Are the allocations of both the same, in the same order? */
bool made_heap_same(const struct heap_columns *a, const struct heap_columns *b);

/* The text of a fact; NULL: there is none of that name. */
const char *made_heap_fact(const struct profile *p, const char *name);

#endif
