/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The report of the memory view: who allocates, as text and as JSON. */
#ifndef PROFTOP_CLI_REPORT_MEMORY_H
#define PROFTOP_CLI_REPORT_MEMORY_H

#include <stdio.h>

struct report;

/* r->analysis has a footprint. */
void report_memory_text(const struct report *r, FILE *to);
void report_memory_json(const struct report *r, FILE *to);

#endif
