/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One recording as the command that makes it decides: record by the command line alone, live for a view of its own. */
#ifndef PROFTOP_CLI_RECORD_RECORD_JOB_H
#define PROFTOP_CLI_RECORD_RECORD_JOB_H

#include "cli/options/command.h"

#include <stdbool.h>

struct live_command;
struct options;

/* All is borrowed. */
struct record_job {
	const struct options *o;      /* what the command line says */
	const char *output;           /* where to; NULL: to a usual place */
	const char *max_size;         /* as --max-size has it; NULL: no limit */
	bool live;                    /* somebody watches what is recorded, … */
	int command_out;              /* … what a command writes goes to this descriptor, … */
	struct live_command *command; /* … and what becomes of it is told here; else NULL */
};

/* Does it, as proftop record would. */
enum status record_run(const struct record_job *j);

#endif
