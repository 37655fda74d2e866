/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The files that an answer was made with, those too that were looked for and were not there: it is the same answer as long as
 * they are as they were. A file is as it was by its size, number and time; those of /proc and /sys, which have no
 * such, by what they say.
 *
 * Any thread may note. NULL in place of the list notes nothing.
 */
#ifndef PROFTOP_BASE_CONSULTED_FILES_H
#define PROFTOP_BASE_CONSULTED_FILES_H

#include "base/bytes.h"
#include "base/pack_numbers.h"

#include <stdbool.h>

struct consulted_files;

struct consulted_files *consulted_files_new(void);
/* NULL is fine. */
void consulted_files_free(struct consulted_files *c);

/* That path is looked for; before it is opened. */
void consulted_files_note(struct consulted_files *c, const char *path);
/* The answer may be another one next time, though no file is. */
void consulted_files_doubt(struct consulted_files *c);

/* Puts all of them. False, and nothing: they say too little, as there were too many, or for doubt. */
bool consulted_files_put(struct consulted_files *c, pack_bytes *to);
/* Are all that were put so as they were? False, too, where the bytes are damaged. Takes them all. */
bool consulted_files_same(struct bytes *from);

#endif
