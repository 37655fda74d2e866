/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recorder as a process of ours, which writes what live follows: the same code as proftop record, begun by fork(2).
 * CPU samples come through a pipe. Traces of heaps are written by the process that is recorded, to files in a directory of
 * their own below $TMPDIR, which goes when the recorder is freed, or with the recorder if we go before.
 */
#ifndef PROFTOP_CLI_LIVE_LIVE_RECORDER_H
#define PROFTOP_CLI_LIVE_LIVE_RECORDER_H

#include "cli/options/command.h"

#include <stddef.h>

struct live_recorder;
struct options;

/*
 * Records what o asks for, and waits until the file has begun. NULL when that cannot be, which is said; *status is
 * then what to exit with.
 */
struct live_recorder *live_recorder_start(const struct options *o, enum status *status);

/* What is recorded, as the screen calls it; borrowed. */
const char *live_recorder_name(const struct live_recorder *r);

/* The file, or what leads to the pipe; borrowed. */
const char *live_recorder_path(const struct live_recorder *r);

/* The process that records. */
int live_recorder_pid(const struct live_recorder *r);

/* The command that it was told to begin, until the recorder is freed; NULL: none. */
const struct live_command *live_recorder_command(const struct live_recorder *r);

/* Ends the recording and a command that it started, and says what these said. NULL is fine. */
void live_recorder_free(struct live_recorder *r);

#endif
