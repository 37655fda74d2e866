/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The second opening of a large file: what was made of it the first time is kept as an index (formats/pack/index_file.h) in
 * the cache directory. It is used as long as the file, the options, the program and every file that symbols were looked for in
 * are as they were.
 */
#ifndef PROFTOP_CLI_LOAD_LOAD_INDEX_H
#define PROFTOP_CLI_LOAD_LOAD_INDEX_H

#include "profile/builder.h"

#include <stdbool.h>

struct consulted_files;
struct load_index;
struct options;
struct progress;
struct read_options;

/* Does the user want any? By options, environment and settings. */
bool load_index_wanted(const struct options *o);

/*
 * Before a file is read, in the way that r says; all but path is borrowed. NULL: no index of it can be, as it is no regular
 * file or there is no cache directory.
 */
struct load_index *load_index_new(const char *path, const struct read_options *r);

/* Reads it instead of the file: 1; 0: there is none, and p is as it was; -errno: p is of no use. */
int load_index_read(struct load_index *i, struct profile *p, capture_id c,
		    struct progress *progress);

/*
 * The file was read in so many nanoseconds: if an index would save enough of them, one is written on a thread of its own. The
 * profile does not change any more, and outlives it.
 */
void load_index_write(struct load_index *i, const struct profile *p, int64_t took_ns);

/* Waits for the thread if finish, else stops it; frees. NULL is fine. */
void load_index_free(struct load_index *i, bool finish);

#endif
