/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A report as text for people: headings begin with '#', rows are one frame each. */
#ifndef PROFTOP_CLI_REPORT_REPORT_TEXT_H
#define PROFTOP_CLI_REPORT_REPORT_TEXT_H

#include <stdio.h>

struct report;

/* Prints what report_make_rows() made. Trouble with the file shows when it is closed. */
void report_text(const struct report *r, FILE *to);

/* Slices of time and what was in them. */
void report_text_timeline(const struct report *r, FILE *to);

/* The heat map, drawn by its view r->cols wide. */
void report_text_heat(const struct report *r, FILE *to);

/* The icicle graph of the whole call tree, drawn by its view r->cols wide. */
void report_text_flame(const struct report *r, FILE *to);

#endif
