/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop record --heap -- COMMAND: a command with the heap tracer preloaded. */
#ifndef PROFTOP_CLI_RECORD_RECORD_HEAP_H
#define PROFTOP_CLI_RECORD_RECORD_HEAP_H

#include "cli/options/command.h"

struct record_job;

/* Runs the command to its end, and says where its trace is; the command's exit status. output: an absolute path, or NULL. */
enum status record_heap(const struct record_job *j, const char *output);

#endif
