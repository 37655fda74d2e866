/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Recordings one after the other, each by a process of its own, as one command may be recorded again and again. */
#ifndef PROFTOP_CLI_RECORD_RECORD_RUNS_H
#define PROFTOP_CLI_RECORD_RECORD_RUNS_H

#include "cli/options/command.h"

#include <stdbool.h>

struct options;

/* More are of no use, and fill a disk. */
#define RECORD_RUNS_MOST 100

/* Does the recording whose options these are, in a process that ends with it. */
typedef enum status recorder_fn(const struct options *o);

/* --runs as a number, so many if it is not given. False: it is none, which is said. */
bool record_runs_number(const struct options *o, int usual, int *out);

/*
 * One run, with the standard input and output of nobody if it is quiet. The recorder's status, 128 + signal where a signal ended it.
 * *stopped becomes true if Ctrl-C or SIGTERM ended it: no other run is wanted then.
 */
enum status record_runs_one(const struct options *o, recorder_fn *run, bool quiet, bool *stopped);

/* record --runs: each run to a file of its own, by -o or the usual name; NULL: as the recorder names them. The first status but 0. */
enum status record_runs(const struct options *o, recorder_fn *run, const char *usual);

#endif
