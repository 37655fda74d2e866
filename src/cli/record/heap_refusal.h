/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Why nothing was heard of the tracer of heaps in a command that ran: the one reason that holds, and what helps. */
#ifndef PROFTOP_CLI_RECORD_HEAP_REFUSAL_H
#define PROFTOP_CLI_RECORD_HEAP_REFUSAL_H

/*
 * The command as it was given, and the status that it ended with, of waitpid(2). Returns a sentence that begins with the
 * program's path; the caller frees.
 */
char *heap_refusal(const char *command, int status);

#endif
