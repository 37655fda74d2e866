/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Findings as text and JSON: the sentences, and what proves each. */
#ifndef PROFTOP_CLI_REPORT_REPORT_FINDINGS_H
#define PROFTOP_CLI_REPORT_REPORT_FINDINGS_H

#include <stdio.h>

struct json_out;
struct report;

/* Of r->findings, which are there. */
void report_findings_text(const struct report *r, FILE *to);
/* The array "findings". */
void report_findings_json(const struct report *r, struct json_out *j);

#endif
