/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Signals and other programs, as a terminal program has to deal with them: job control, ending, the
 * editor, the clipboard command.
 */
#ifndef PROFTOP_TUI_TERM_JOBS_H
#define PROFTOP_TUI_TERM_JOBS_H

#include <signal.h>

/*
 * Blocks the signals that concern a terminal and returns a descriptor (signalfd) that tells of them,
 * or -errno. *before is the mask as it was.
 */
int jobs_watch(sigset_t *before);

/* Stops, as ^Z asks for, until the shell continues us. */
void jobs_stop(void);

/* Dies of a signal that was taken from the descriptor, unless it is ignored. */
void jobs_die(int signal_number);

/*
 * Runs a program with these standard streams and that signal mask until it ends, and stops when it is
 * stopped. Its exit status, or -errno. What was typed at it (^C) is not told of later.
 */
int jobs_run(char *const argv[], int in_fd, int out_fd, const sigset_t *mask);

/* Runs a shell command that reads the text and whose output is dropped. As jobs_run(). */
int jobs_feed(const char *command, const char *text, const sigset_t *mask);

#endif
