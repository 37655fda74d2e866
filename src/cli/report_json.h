/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as JSON; the shape is doc/json.md. */
#ifndef PROFTOP_CLI_REPORT_JSON_H
#define PROFTOP_CLI_REPORT_JSON_H

#include <stdio.h>

struct report;

/* Prints what report_make_rows() made. Trouble with the file shows when it is closed. */
void report_json(const struct report *r, FILE *to);

#endif
