/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tracer of heaps in a command that is started here: what the command needs in its environment, and what came of it. */
#ifndef PROFTOP_CLI_RECORD_HEAP_LAUNCH_H
#define PROFTOP_CLI_RECORD_HEAP_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct heap_launch;
struct record_job;
struct record_traces;

/*
 * output: the trace's name as the tracer takes it (%p and so on), absolute; NULL: by the command's name and number. NULL
 * when there is no tracer or no room for what it says, which is told.
 */
struct heap_launch *heap_launch_new(const struct record_job *j, const char *output);
void heap_launch_free(struct heap_launch *l);

/* Makes the environment of the calling process, which is about to become the command, such that the tracer is in it. */
void heap_launch_environment(const struct heap_launch *l);

/* Ends the trace of the command, process pid, which goes on; says why if it cannot. */
void heap_launch_end(pid_t pid);

/*
 * Takes the traces and the processes without one that the tracer tells of, and says what else it says. pid: the command, which has
 * ended. False: the tracer says nothing of it.
 */
bool heap_launch_traces(const struct heap_launch *l, pid_t pid, struct record_traces *traces);
/* The command, process pid, has ended, with this status of waitpid(2): says which traces there are, too. */
bool heap_launch_say(const struct heap_launch *l, pid_t pid, int status);

/* The same log was empty: says that nothing ("nothing", "no heap") was recorded, and why. status: of waitpid(2). */
void heap_launch_say_nothing(const struct heap_launch *l, const char *what, int status);

#endif
