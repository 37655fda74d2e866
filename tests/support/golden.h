/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Golden files: each says in its first lines what to do, and after a line of dashes what is seen then. With
 * PROFTOP_MAKE_SCREENS in the environment they are written anew, to be reviewed as a change.
 */
#ifndef PROFTOP_TESTS_SUPPORT_GOLDEN_H
#define PROFTOP_TESTS_SUPPORT_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Compares all *.txt of a directory with what play() makes of their first lines (malloc'd); returns how many there
 * are.
 */
unsigned golden_files(const char *dir,
		      char *(*play)(const char *path, const char *script, void *arg), void *arg);

/* The next of the first lines: its first word, and what follows that, "" when nothing does. False: no more. */
bool golden_line(const char **script, char *line, size_t size, char **value);

#endif
