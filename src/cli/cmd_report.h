/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What explore falls back on without a terminal, and what other reports share. */
#ifndef PROFTOP_CLI_CMD_REPORT_H
#define PROFTOP_CLI_CMD_REPORT_H

#include "cli/options/command.h"
#include "cli/options/query_options.h"

struct load;
struct load_wish;
struct options;
struct output;

/* Columns of the terminal that is written to; 0: it is none. */
int report_terminal_cols(const struct output *out);

/* What is printed, as a command decides; borrowed. */
struct report_wish {
	const struct options *o;      /* how: rows, widths, where to */
	const struct load_wish *read; /* of what */
	struct lens_wish lens;
	const char *view; /* as --view has it; NULL: the usual one */
};

/* Waits for the loading and prints the report. */
enum status report_loaded(const struct report_wish *w, struct load *l);

#endif
