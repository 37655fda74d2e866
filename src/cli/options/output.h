/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where answers go: standard output, or a file that appears only when it is complete.
 */
#ifndef PROFTOP_CLI_OPTIONS_OUTPUT_H
#define PROFTOP_CLI_OPTIONS_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

struct err;

struct output {
	FILE *to;         /* what to write to */
	const char *name; /* for messages; borrowed */
	int fd;           /* behind `to`; owned unless it is standard output */
	int code;         /* errno of the first write that failed, or 0 */
	char *path;       /* the file to become, NULL when written directly; owned */
	char *temporary;  /* the file being written beside it; owned */
};

/*
 * path NULL or "-": standard output. 0, to be ended with output_close(), or -errno with a sentence.
 * o must stay where it is until then.
 */
int output_open(struct output *o, const char *path, struct err *e);

/* Would output_open() succeed? Tried, but for devices and pipes. 0, or -errno with a sentence. */
int output_check(const char *path, struct err *e);

/* Is path none of n files that are read? 0, or -EINVAL with a sentence. path may be NULL. */
int output_spares(const char *path, const char *const *files, size_t n, struct err *e);

/* Is it a terminal that people look at? */
bool output_is_terminal(const struct output *o);

/*
 * Writes what is left. keep: the file takes its place, else it vanishes. Returns 0, also when the reader
 * of a pipe went away; -errno with a sentence when not all could be written: nothing is left then.
 */
int output_close(struct output *o, bool keep, struct err *e);

#endif
