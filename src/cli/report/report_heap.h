/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tables about a heap (query/heap/heap_table.h) as text and JSON. */
#ifndef PROFTOP_CLI_REPORT_REPORT_HEAP_H
#define PROFTOP_CLI_REPORT_REPORT_HEAP_H

#include <stdio.h>

struct json_out;
struct report;

/* Of r->heap, which is there. */
void report_heap_text(const struct report *r, FILE *to);
/* The members "notes" and "rows". */
void report_heap_json(const struct report *r, struct json_out *j);

#endif
