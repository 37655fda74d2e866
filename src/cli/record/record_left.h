/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes that a recording of the heap left alone, as --children was not given: programs that the command ran, and children
 * that it forked. By lines of the tracer's log, and by what still runs when the command has ended, as daemons do. With --children,
 * what still runs goes on being recorded.
 */
#ifndef PROFTOP_CLI_RECORD_RECORD_LEFT_H
#define PROFTOP_CLI_RECORD_RECORD_LEFT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct record_left_one {
	char *program; /* owned */
	size_t order;  /* in which it was told of */
	pid_t pid;
	bool forked; /* it did not become another program, as far as is known */
};

/* All zeros: none. */
struct record_left {
	struct record_left_one *at;
	size_t n, room;
};

/* Takes a line of the tracer's log. False: it tells of no such process. */
bool record_left_take(struct record_left *l, const char *line);

/* Takes the processes that run now and have that log in the environment that they began with, but for process pid. */
void record_left_find(struct record_left *l, const char *log, pid_t pid);

void record_left_say(struct record_left *l);
/* The same of processes that are recorded and go on: what they trace later nobody will list. output: of the first trace, or NULL. */
void record_left_say_going_on(struct record_left *l, const char *output);
void record_left_done(struct record_left *l);

#endif
