/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is in a profile, what was lost, how good its stacks are: `info`, as text and as JSON. */
#ifndef PROFTOP_CLI_REPORT_INFO_H
#define PROFTOP_CLI_REPORT_INFO_H

#include <stdbool.h>
#include <stdio.h>

struct profile;

/* Trouble with the file shows when it is closed. */
void report_info_text(const struct profile *p, bool ascii, FILE *to);
void report_info_json(const struct profile *p, FILE *to);

/* How many facts speak of something lost. */
unsigned report_info_losses(const struct profile *p);

#endif
