/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is in a profile, what was lost, how good its stacks are: `info`, as text and as JSON. */
#ifndef PROFTOP_CLI_REPORT_REPORT_INFO_H
#define PROFTOP_CLI_REPORT_REPORT_INFO_H

#include <stdbool.h>
#include <stdio.h>

#include "profile/profile.h"

/* Trouble with the file shows when it is closed. */
void report_info_text(const struct profile *p, bool ascii, FILE *to);
void report_info_json(const struct profile *p, FILE *to);

/* How many facts of a kind there are: FACT_LOSS, something was lost. */
unsigned report_info_facts(const struct profile *p, enum fact_kind kind);

#endif
