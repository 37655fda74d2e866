/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples of which only the ends were read.
 *
 * Copied stacks are most of a recording that has them, and mostly only their inner part is looked at. So whoever
 * reads records may leave the middle of a long sample out: it has its place in memory, but what stands there means
 * nothing until the gap is filled. Decoding fills gaps that are not inside of the copied stack; who walks the stack
 * fills those that it gets to.
 */
#ifndef PROFTOP_PERF_ABI_LAZY_STACK_H
#define PROFTOP_PERF_ABI_LAZY_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_attr;
struct lazy_stack;
struct perf_record;
struct perf_records;
struct perf_sample;

/* Reads the bytes; those that are not to be had any more become 0. */
typedef void lazy_stack_fill_fn(void *source, const struct lazy_stack *g);

struct lazy_stack {
	uint64_t record; /* offset in the file of the sample that it is in */
	uint64_t offset; /* of its first byte */
	uint8_t *at;     /* where it is in memory */
	size_t n;        /* bytes; 0 once it is filled */
	lazy_stack_fill_fn *fill;
	void *source; /* for fill; borrowed */
};

void lazy_stack_fill(struct lazy_stack *g);

/*
 * The gap in the record at an offset in the file, or NULL. *next is where to look first: 0 at the start of a batch, then
 * as the call before left it, for records in order.
 */
struct lazy_stack *lazy_stack_find(const struct perf_records *w, uint64_t offset, size_t *next);

/*
 * As perf_sample_decode() does, of a record that has a gap, or none (NULL). out->gap is what remains of it: the
 * copied stack from there on is not in memory.
 */
bool lazy_stack_decode(struct lazy_stack *g, const struct perf_attr *a, const struct perf_record *r,
		       struct perf_sample *out);

/* Bytes of a sample's copied stack that hold data and are in memory. */
uint64_t lazy_stack_stack(const struct perf_sample *s);

#endif
