/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The command of a live view, as its recorder tells of it: in memory that both share. */
#ifndef PROFTOP_CLI_RECORD_LIVE_COMMAND_H
#define PROFTOP_CLI_RECORD_LIVE_COMMAND_H

#include <stdatomic.h>

#define LIVE_GOES_ON (-1)

struct live_command {
	atomic_int pid;    /* 0: it has not begun */
	atomic_int status; /* as waitpid(2) has it; LIVE_GOES_ON: not known to have ended */
};

/* Where nobody watches, c is NULL. */
static inline void live_command_began(struct live_command *c, int pid)
{
	if (c)
		atomic_store(&c->pid, pid);
}

static inline void live_command_ended(struct live_command *c, int status)
{
	if (c)
		atomic_store(&c->status, status);
}

#endif
