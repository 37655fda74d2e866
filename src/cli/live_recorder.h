/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A recorder as a process of ours, which writes a file that live follows: the same code as proftop record, begun by
 * fork(2). The file lies in a directory of its own below $TMPDIR and goes when the recorder is freed.
 */
#ifndef PROFTOP_CLI_LIVE_RECORDER_H
#define PROFTOP_CLI_LIVE_RECORDER_H

#include "command.h"

#include <stddef.h>

struct live_recorder;
struct options;

/*
 * Records what o asks for, and waits until the file has begun. NULL when that cannot be, which is said; *status is
 * then what to exit with.
 */
struct live_recorder *live_recorder_start(const struct options *o, enum status *status);

/* The file; borrowed. Its name is what is recorded. */
const char *live_recorder_path(const struct live_recorder *r);

/* The process that records. */
int live_recorder_pid(const struct live_recorder *r);

/* The process that is recorded; 0: several, or everything. */
int live_recorder_target(const struct live_recorder *r);

/* Ends the recording and a command that it started, and says what these said. NULL is fine. */
void live_recorder_free(struct live_recorder *r);

/*
 * "gzip (812)", and "stopped" or "exited" behind it where it is so: what a process is now. A process that became
 * another program has its name.
 */
void live_target_text(int pid, char *out, size_t size);

#endif
