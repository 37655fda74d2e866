/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A directory of this process in /tmp, locked for as long as it runs. Who is killed leaves it behind: the next one
 * of the same user takes it away.
 */
#ifndef PROFTOP_CLI_SCRATCH_H
#define PROFTOP_CLI_SCRATCH_H

#include <stdbool.h>

struct scratch {
	char path[32]; /* "": none */
	int fd;        /* of the directory; holds the lock */
};

/* Makes it, and takes away what others left. Says why not. */
bool scratch_make(struct scratch *s);

/* With the files in it. */
void scratch_remove(struct scratch *s);

#endif
