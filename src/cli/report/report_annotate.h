/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A function's lines and instructions as text and as JSON. */
#ifndef PROFTOP_CLI_REPORT_REPORT_ANNOTATE_H
#define PROFTOP_CLI_REPORT_REPORT_ANNOTATE_H

#include <stdio.h>

struct annotate_options;
struct annotation;
struct err;
struct json_out;
struct report;

/*
 * Annotates the function that --function names, or the one with the most self cost (NULL). r has its analysis,
 * with a tree, and limits. 0, or -EINVAL with a sentence; the caller frees *out.
 */
int report_annotate_make(struct report *r, const struct annotate_options *o, const char *function,
			 struct annotation **out, struct err *e);
void report_annotate_text(struct report *r, const struct annotation *a, FILE *to);
void report_annotate_json(const struct report *r, const struct annotation *a, FILE *to);
/* What that has beside the members of every report. Of a comparison numbers are those of the runs before and of the runs after. */
void report_annotate_members(const struct report *r, const struct annotation *a,
			     struct json_out *j);

#endif
