/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of the memory view: who allocates, as text and as JSON. */
#ifndef PROFTOP_CLI_REPORT_REPORT_MEMORY_H
#define PROFTOP_CLI_REPORT_REPORT_MEMORY_H

#include "query/heap/footprint.h"

#include <stdbool.h>
#include <stdio.h>

struct report;

/* The column of that name, as it stands above it in small letters. False: there is none. */
bool report_memory_column(const char *name, enum footprint_column *out);

/* r->analysis has a footprint. */
void report_memory_text(const struct report *r, FILE *to);
void report_memory_json(const struct report *r, FILE *to);

#endif
