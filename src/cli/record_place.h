/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where a recording goes: whether there can be a file, and what lies there already, which is kept. */
#ifndef PROFTOP_CLI_RECORD_PLACE_H
#define PROFTOP_CLI_RECORD_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* The path from the root; the caller frees. */
char *record_place_absolute(const char *path);

/*
 * Can a file be written where path is to be, and what is there be moved? Tried in its directory, or in the one before the first percent sign, which stands for
 * what is not known yet; NULL: in the present one. Says so if not.
 */
bool record_place_check(const char *path);

/* What was moved out of the way. All 0 at the beginning; ended by one of the two below. */
struct record_place {
	struct record_move *at; /* in the order of what was done; owned */
	size_t n, cap;
};

/*
 * Whatever lies at path, if anything does, is kept as FILE.old, be it a file or a directory recording; a path with a percent sign is no name yet. False: it cannot be, which
 * is said.
 */
bool record_place_clear(struct record_place *p, const char *path);

/* The same of what is known to be there, without a word. */
bool record_place_move(struct record_place *p, const char *path);

/* Removes a directory recording. False: there is something else in it, and it is as it was. */
bool record_place_remove(const char *directory);

/* There is a recording: what was FILE.old before is gone. */
void record_place_keep(struct record_place *p);

/* There is none, and nothing at its place: everything is as it was. */
void record_place_undo(struct record_place *p);

#endif
