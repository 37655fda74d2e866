/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writer behind format_folded; see folded.h for what it writes, format.h for its contract. */
#ifndef PROFTOP_FORMATS_FOLDED_FOLDED_WRITE_H
#define PROFTOP_FORMATS_FOLDED_FOLDED_WRITE_H

#include "formats/format.h"

#include <stdbool.h>

int folded_write(const struct analysis *a, const struct write_options *o, FILE *to, struct err *e);

/*
 * The frames that stackcollapse-perf.pl makes of one that perf script prints as label, joined by ';':
 * mostly one; it takes "->" for the mark between inlined functions, also in operator->. Names that begin with '(',
 * as "(anonymous namespace)::f", it drops with their frames: here they are kept. java: the root frame is "java",
 * without its numbers. The caller frees; never NULL.
 */
char *folded_collapse_frame(const char *label, bool java);

/* As above for the thread's name. */
char *folded_collapse_comm(const char *comm);

#endif
