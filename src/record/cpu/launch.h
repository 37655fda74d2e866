/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A command that waits, as a process of ours, until whoever watches it is ready. */
#ifndef PROFTOP_RECORD_CPU_LAUNCH_H
#define PROFTOP_RECORD_CPU_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct err;
struct launch;

/*
 * Makes the process; argv[0] is looked for in $PATH. ready(arg): what it does before it becomes the command, NULL: nothing.
 * -errno with a sentence.
 */
int launch_prepare(char *const *argv, void (*ready)(void *arg), void *arg, struct launch **out,
		   struct err *e);
/* A process that was not let go ends. */
void launch_free(struct launch *l);

pid_t launch_pid(const struct launch *l);

/* Lets it become the command. -ENOENT and so on with a sentence when it cannot; the process has ended then. */
int launch_go(struct launch *l, struct err *e);

#endif
