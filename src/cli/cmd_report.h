/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explore falls back on without a terminal. */
#ifndef PROFTOP_CLI_CMD_REPORT_H
#define PROFTOP_CLI_CMD_REPORT_H

#include "command.h"

struct load;
struct options;

/* Waits for the loading and prints the report that o asks for. */
enum status report_loaded(const struct options *o, struct load *l);

#endif
