/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heap of a command whose CPU is sampled, too: both are recorded to one directory, which opens as one recording. In it are the
 * samples, data, where perf looks for them, and the traces, data.heap and so on.
 */
#ifndef PROFTOP_CLI_RECORD_RECORD_BOTH_H
#define PROFTOP_CLI_RECORD_RECORD_BOTH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct record_both;
struct record_job;

/* Nothing is touched yet. NULL: it is not whole, or there is no tracer, which is said. */
struct record_both *record_both_new(const struct record_job *j, const char *directory);
void record_both_free(struct record_both *b);

/* Makes the directory. False: that cannot be, which is said. */
bool record_both_make(const struct record_both *b);
/* Nothing was recorded: the directory goes. */
void record_both_unmake(const struct record_both *b);

/* Where the samples belong; borrowed. */
const char *record_both_data(const struct record_both *b);

/* For the process that is about to become the command; b is a struct record_both. */
void record_both_environment(void *b);

/*
 * "the heap, 12 kB", or of several traces how many; NULL: there is none, and why is said. The caller frees. status: as waitpid(2)
 * has it of the command, process pid; -1: it goes on.
 */
char *record_both_text(const struct record_both *b, pid_t pid, int status);

#endif
