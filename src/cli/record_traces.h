/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The traces of one recording of the heap. A process that becomes another program (exec) begins a trace of its own beside the
 * first: OUT, OUT.2, OUT.3, or with .heap at the end of the name NAME.heap, NAME.2.heap.
 */
#ifndef PROFTOP_CLI_RECORD_TRACES_H
#define PROFTOP_CLI_RECORD_TRACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct record_trace {
	char *path, *program; /* owned */
	int64_t bytes;        /* negative: it is gone */
	pid_t pid;
};

struct record_traces {
	struct record_trace *at;
	size_t n, room;
};

/* Takes a line of the tracer's log. False: it does not tell of a trace. */
bool record_traces_take(struct record_traces *t, const char *line);

/* Says what was recorded: each program that the process was, in its order; its children in short; and which trace is largest. */
void record_traces_say(const struct record_traces *t, pid_t pid);

void record_traces_done(struct record_traces *t);

/*
 * The other traces of the recording whose first is at path become FILE.old, so that they do not mix with those of the next. What is not
 * known to be of that recording stays as it is: the same process, or begun while that was recorded.
 */
void record_traces_make_way(const char *path);

#endif
