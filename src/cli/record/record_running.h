/* SPDX-License-Identifier: GPL-3.0-or-later */
/* proftop record -p: the recording of a process that runs already, from beginning to end; and what both kinds of record say. */
#ifndef PROFTOP_CLI_RECORD_RECORD_RUNNING_H
#define PROFTOP_CLI_RECORD_RECORD_RUNNING_H

#include "cli/options/command.h"

#include <stdbool.h>
#include <stdint.h>

struct options;
struct record_job;

/* Records until the process ends, Ctrl-C or --duration. output: an absolute path, or NULL. Says what happened. */
enum status record_running(const struct record_job *j, const char *output);

/* Behind what should be the number of a process, and is a name: how one comes by the number; else "". */
const char *record_about_names(const char *text);

/* The process that -p names; says so and returns 0 when it is no number. */
int record_pid(const struct options *o);

/* --duration, 0 when not given; says so and returns false when it is no time. */
bool record_duration(const struct options *o, uint64_t *ms);

/* Says where a trace is, and how large. */
void record_say_trace(const char *path);

#endif
