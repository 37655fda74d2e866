/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The writer behind format_folded; see folded.h for what it writes, format.h for its contract. */
#ifndef PROFTOP_FORMATS_FOLDED_WRITE_H
#define PROFTOP_FORMATS_FOLDED_WRITE_H

#include "format.h"

#include <stdbool.h>

int folded_write(const struct analysis *a, FILE *to, struct err *e);

/*
 * The name that stackcollapse-perf.pl prints for a frame that perf script prints as label: the caller
 * frees. comm: it is a thread's name, the first frame. java: the first frame is "java".
 */
char *folded_collapsed_name(const char *label, bool comm, bool java);

#endif
