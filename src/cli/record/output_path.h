/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a recording goes: whether there can be a file, and what lies there already, which is kept. */
#ifndef PROFTOP_CLI_RECORD_OUTPUT_PATH_H
#define PROFTOP_CLI_RECORD_OUTPUT_PATH_H

#include <stdbool.h>
#include <stddef.h>

/* The path from the root; the caller frees. */
char *output_path_absolute(const char *path);

/*
 * Can a file be written where path is to be, and what is there be moved? Tried in its directory, or in the one before the first percent sign, which stands for
 * what is not known yet; NULL: in the present one. Says so if not.
 */
bool output_path_check(const char *path);

/* What was moved out of the way. All 0 at the beginning; ended by one of the two below. */
struct output_path {
	struct record_move *at; /* in the order of what was done; owned */
	size_t n, cap;
};

/*
 * Whatever lies at path, if anything does, is kept as FILE.old, be it a file or a directory recording; a path with a percent sign is no name yet. False: it cannot be, which
 * is said.
 */
bool output_path_clear(struct output_path *p, const char *path);

/* The same of what is known to be there, without a word. */
bool output_path_move(struct output_path *p, const char *path);

/* Removes a directory recording. False: there is something else in it, and it is as it was. */
bool output_path_remove(const char *directory);

/* There is a recording: what was FILE.old before is gone. */
void output_path_keep(struct output_path *p);

/* There is none, and nothing at its place: everything is as it was. */
void output_path_undo(struct output_path *p);

#endif
