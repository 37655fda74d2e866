/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What live looks at, as /proc shows it: how the processes or threads that were named are by now, and what they take of
 * processors. It is asked again and again, and says what changed since it was asked first.
 */
#ifndef PROFTOP_CLI_LIVE_LIVE_TARGET_H
#define PROFTOP_CLI_LIVE_LIVE_TARGET_H

#include <stdbool.h>
#include <stddef.h>

struct live_command;
struct live_target;
struct options;
struct tui_target;

/* o says what is recorded; command: what it began, borrowed; NULL: nothing. */
struct live_target *live_target_new(const struct options *o, const struct live_command *command);
void live_target_free(struct live_target *t);

/*
 * One process is told as "gzip (812)", and behind it what became of it, such as "stopped", "exited", of a command also
 * "exited with 3" and "killed by SIGKILL", "new program" when it became another, and "forked 3"; of several, how many
 * there are of which that is so. Time is of processes with all that they began, of threads, or of the cpus that are
 * recorded.
 */
void live_target_look(struct live_target *t, struct tui_target *out);

#endif
