/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The notes of people on rows of a report. All of these do nothing where there are none. */
#ifndef PROFTOP_CLI_REPORT_REPORT_NOTES_H
#define PROFTOP_CLI_REPORT_REPORT_NOTES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct footprint_site;
struct groups;
struct json_out;
struct report;

/* "# note on parse: …", a line for each note on a row, and on a site of the memory view. */
void report_notes_text(const struct report *r, FILE *to);
/* "note" of the object of a row, and of a site's. */
void report_notes_row_json(const struct report *r, size_t row, struct json_out *j);
void report_notes_site_json(const struct report *r, const struct footprint_site *site,
			    struct json_out *j);
/* What is noted on a function alone, or NULL; borrowed. */
const char *report_notes_function(const struct report *r, const char *name, const char *module);

#endif
