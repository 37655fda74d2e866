/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A comparison as Markdown, for pull requests. */
#ifndef PROFTOP_CLI_DIFF_DIFF_MARKDOWN_H
#define PROFTOP_CLI_DIFF_DIFF_MARKDOWN_H

#include <stdio.h>

struct diff_rows;
struct judgement;

/* What the conditions said (there may be none), then the rows. */
void diff_markdown(const struct diff_rows *r, const struct judgement *j, FILE *to);

#endif
