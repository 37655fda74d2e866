/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory of this process for what goes with it, locked for as long as it, or a process that it forked, has it open. Who is
 * killed leaves it behind: the next one of the same user takes it away.
 */
#ifndef PROFTOP_CLI_OPTIONS_SCRATCH_H
#define PROFTOP_CLI_OPTIONS_SCRATCH_H

struct err;

struct scratch {
	char *path; /* NULL: none; owned */
	int fd;     /* of the directory; holds the lock; -1: not locked */
};

/*
 * Makes one below parent whose name begins with prefix, of letters and dashes, and takes away what others with that left. 0, or
 * -errno with a sentence.
 */
int scratch_make(struct scratch *s, const char *parent, const char *prefix, struct err *e);

/* With all that is in it. */
void scratch_remove(struct scratch *s);

#endif
