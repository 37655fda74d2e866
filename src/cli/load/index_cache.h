/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The directory of indexes, $XDG_CACHE_HOME/proftop or ~/.cache/proftop. It and the files in it are this user's own, which
 * nobody else may write to, and no links; others are not looked at. What was not used for longest goes when all are too much.
 */
#ifndef PROFTOP_CLI_LOAD_INDEX_CACHE_H
#define PROFTOP_CLI_LOAD_INDEX_CACHE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A descriptor of the directory, which is made where it is missing; -1: there is none that can be used. The caller closes. */
int index_cache_open(void);

/* An index by its name, for reading; -1: there is none. The caller closes. */
int index_cache_find(int dir, const char *name);
void index_cache_remove(int dir, const char *name);

/* Bytes that all of them may have: 2 GiB, or 5 % of what they have and what is free, if that is less. */
uint64_t index_cache_most(int dir);

/* A new file, which has another name until it is complete: *temporary, malloc'd. NULL: it cannot be made. */
FILE *index_cache_begin(int dir, const char *name, char **temporary);
/* Closes it, and gives it its name if keep; frees temporary. Removes what all of them have too much, the least recently used first. */
void index_cache_end(int dir, const char *name, FILE *f, char *temporary, bool keep);

#endif
