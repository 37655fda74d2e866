/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What an analysis shows as a pprof profile. */
#ifndef PROFTOP_FORMATS_PPROF_PPROF_WRITE_H
#define PROFTOP_FORMATS_PPROF_PPROF_WRITE_H

#include <stdio.h>

struct analysis;
struct err;
struct write_options;

/*
 * Writes a gzipped profile: a sample for each stack and thread, with the sums of all events that pass the filter; of heaps their
 * calls, bytes, and bytes at the peak and at the end. The format has no times. Where the filter changes stacks, the call tree
 * of the shown event is written instead, by functions. As format.write().
 */
int pprof_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e);

#endif
