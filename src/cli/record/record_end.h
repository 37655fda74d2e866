/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What ends a recording: its command, all that was watched, a signal or the time. */
#ifndef PROFTOP_CLI_RECORD_RECORD_END_H
#define PROFTOP_CLI_RECORD_RECORD_END_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/options/command.h"

struct launch;

struct record_end {
	struct launch *launch; /* NULL: nothing was started; borrowed */
	bool timed;            /* what is recorded is something else, as long as the command runs */
	const int *pids;       /* [n_pids] whose end is the recording's; borrowed */
	size_t n_pids;
	const int *tids; /* [n_tids] likewise */
	size_t n_tids;
	int status; /* of the command, as waitpid(2) has it; -1: it runs */

	uint64_t end_ms; /* by the clock; UINT64_MAX: no limit */
	int signals;     /* a descriptor; -1: none */
	struct {
		int *at;
		size_t n, cap;
	} watched; /* it, and one for each process that was there before: what to poll */
	bool told; /* a signal told us to end */
};

/* So long a command may take to end before somebody is told that it does not. */
#define RECORD_END_GRACE_MS 5000

/* The clock of limits. */
uint64_t record_end_now_ms(void);
/* Takes note from now on; what the caller knows is in e already. */
void record_end_watch(struct record_end *e);
/* So many milliseconds from now; 0: no limit. */
void record_end_after(struct record_end *e, uint64_t ms);
bool record_end_is_over(struct record_end *e);
/* Is it the time that ended the recording, before the command? */
bool record_end_timed_out(const struct record_end *e);
/*
 * Waits for the command's end; asked: it is asked to end first, by SIGTERM. What is meant for us is passed on to it; who
 * tells us a second time to end has us leave it, with the status -1.
 */
void record_end_command(struct record_end *e, bool asked);
/* Says what is waited for. */
void record_end_say_waits(int pid);
/* What we exit with: the command's status as shells tell it; that it ended as the time was up is what was wanted. */
enum status record_end_status(int status, bool timed_out);
void record_end_done(struct record_end *e);

#endif
