/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as text for people: headings begin with '#', rows are one frame each. */
#ifndef PROFTOP_CLI_DIFF_DIFF_TEXT_H
#define PROFTOP_CLI_DIFF_DIFF_TEXT_H

#include <stdio.h>

struct diff_rows;

/* What is compared and how, then the rows. Trouble with the file shows when it is closed. */
void diff_text(const struct diff_rows *r, FILE *to);

/* "cpu-clock", or what both sides count where they have different events. The caller frees. */
char *diff_metric_name(const struct diff_rows *r);

#endif
