/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Samples, and sums of heaps, as the text of perf script, which format_perf_script and many tools read: with event, period, thread,
 * cpu, time, module, address and source of each, so that what is read again is what was written.
 *
 * Functions without a symbol are called as rows are, "[libz.so.1+0x3f20]", and known again by that.
 *
 * Lost are where functions are declared, and what is known beyond shortened stacks. Of heaps each measure becomes an event (malloc:live, malloc:calls) with one sample a stack, of a thread that
 * asked for it: times, sizes and lives of blocks are lost.
 */
#ifndef PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_WRITE_H
#define PROFTOP_FORMATS_PERF_SCRIPT_PERF_SCRIPT_WRITE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct analysis;
struct err;

/* Is there anything, and can its numbers be said? Not those of folded stacks, nor of a heap before and after. */
bool perf_script_says_all(const struct analysis *a);

/* What the event of a column is called in the text when it is read again; the caller frees. */
char *perf_script_event(const struct analysis *a, uint32_t column);

/*
 * Writes the samples of all events that pass the analysis' filter, with its transforms of stacks; what fades changes
 * nothing, and of a comparison what both sides are of is written. Rows that stand for several samples become so many, of equal
 * weights and times, unless that were millions. *begin_ns is the time of the earliest that was written, TIME_NONE without
 * times. 0 or -errno.
 */
int perf_script_write(const struct analysis *a, FILE *to, int64_t *begin_ns, struct err *e);

#endif
