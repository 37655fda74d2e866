/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as JSON. */
#ifndef PROFTOP_CLI_DIFF_DIFF_JSON_H
#define PROFTOP_CLI_DIFF_DIFF_JSON_H

#include <stdio.h>

struct annotation;
struct diff_rows;
struct judgement;
struct report;

/* With what the conditions said, if there are any. Trouble with the file shows when it is closed. */
void diff_json(const struct diff_rows *r, const struct judgement *j, FILE *to);
/* The same with a function's code in the place of rows: r has its limits and no rows. */
void diff_json_code(const struct diff_rows *r, const struct judgement *j,
		    const struct report *report, const struct annotation *a, FILE *to);

#endif
