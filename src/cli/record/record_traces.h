/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The traces of one recording of the heap. A process that becomes another program (exec) begins a trace of its own beside the
 * first: OUT, OUT.2, OUT.3, or with .heap at the end of the name NAME.heap, NAME.2.heap.
 */
#ifndef PROFTOP_CLI_RECORD_RECORD_TRACES_H
#define PROFTOP_CLI_RECORD_RECORD_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/record/record_left.h"

struct output_path;

struct record_trace {
	char *path, *program; /* owned */
	int64_t bytes;        /* negative: it is gone */
	pid_t pid;
};

struct record_traces {
	struct record_trace *at;
	size_t n, room;
	struct record_left left;
	struct record_left
		going_on; /* with --children: recorded, and running when the command ended */
	char *output;     /* of the first trace; NULL: named by program and pid; owned */
	/* record_traces_oom_kills() before the process began; UINT64_MAX: not known */
	uint64_t oom_kills;
};

/* Takes a line of the tracer's log. False: it tells neither of a trace nor of a program without. */
bool record_traces_take(struct record_traces *t, const char *line);

/*
 * Takes the traces that stand in no line: a program in a mount namespace of its own may not see the log. path: of the first trace,
 * NULL: its name is by the program and the command's pid; begun_ns: since 1970, what was recorded before is not taken.
 */
void record_traces_find(struct record_traces *t, const char *path, pid_t pid, uint64_t begun_ns);

/* Says what was recorded: each program that the process was, in its order; its children in short; and which trace is largest. */
void record_traces_say(struct record_traces *t, pid_t pid);

/*
 * Process pid ended with this status, as wait() has it: its last trace, if it could not say so itself as the process was killed or
 * left by a system call that nobody sees, says it from now on. What processes that were killed had noted is added to their traces.
 */
void record_traces_ended(struct record_traces *t, pid_t pid, int status);

/* The process that wrote the trace at path is gone, nobody knows how: the same. */
void record_trace_gone(const char *path);

/* How many processes the kernel killed for want of memory since the machine began; UINT64_MAX: not known. */
uint64_t record_traces_oom_kills(void);

void record_traces_done(struct record_traces *t);

/*
 * What lies at path becomes FILE.old, and if it is a trace, the other traces of its recording do, so that they do not mix with those of the
 * next: the same process, or begun while that was recorded; what is not known to be of it stays. path NULL: nothing is in the way.
 * False: something is, which is said, and nothing was moved.
 */
bool record_traces_clear(struct output_path *p, const char *path);

#endif
