/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explore falls back on without a terminal, and what other reports share. */
#ifndef PROFTOP_CLI_CMD_REPORT_H
#define PROFTOP_CLI_CMD_REPORT_H

#include "command.h"

struct load;
struct options;
struct output;

/* Columns of the terminal that is written to; 0: it is none. */
int report_terminal_cols(const struct output *out);

/* Waits for the loading and prints the report that o asks for. */
enum status report_loaded(const struct options *o, struct load *l);

#endif
