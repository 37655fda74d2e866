/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The heap of a command whose CPU is sampled, too: both are recorded to one directory, which opens as one recording. In it are the
 * samples, data, where perf looks for them, and the traces, data.heap and so on.
 */
#ifndef PROFTOP_CLI_HEAP_BESIDE_H
#define PROFTOP_CLI_HEAP_BESIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct heap_beside;
struct record_job;

/* Nothing is touched yet. NULL: it is not whole, or there is no tracer, which is said. */
struct heap_beside *heap_beside_new(const struct record_job *j, const char *directory);
void heap_beside_free(struct heap_beside *b);

/* Makes the directory. False: that cannot be, which is said. */
bool heap_beside_make(const struct heap_beside *b);
/* Nothing was recorded: the directory goes. */
void heap_beside_unmake(const struct heap_beside *b);

/* Where the samples belong; borrowed. */
const char *heap_beside_data(const struct heap_beside *b);

/* For the process that is about to become the command; b is a struct heap_beside. */
void heap_beside_environment(void *b);

/* The heap of process pid, which goes on, is not recorded any more. */
void heap_beside_end(pid_t pid);

/*
 * "the heap, 12 kB", or of several traces how many; NULL: there is none, and why is said. The caller frees. status: as waitpid(2)
 * has it of the command, process pid; -1: it goes on.
 */
char *heap_beside_text(const struct heap_beside *b, pid_t pid, int status);

#endif
