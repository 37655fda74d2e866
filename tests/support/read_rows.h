/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a reader makes of bytes, as one line of text: for tests of formats. */
#ifndef PROFTOP_TESTS_SUPPORT_READ_ROWS_H
#define PROFTOP_TESTS_SUPPORT_READ_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct format;
struct profile;

/* The format that takes the bytes, or NULL. */
const struct format *probe_bytes(const void *bytes, size_t n);

/* Reads them, as a file "x", into a new profile; *rc and *e are the reader's. */
struct profile *read_bytes_as(const struct format *f, const void *bytes, size_t n, int *rc,
			      struct err *e);

/* The same of a file, which must open, be taken by that format, and be read. */
struct profile *read_path_as(const struct format *f, const char *path);

/*
 * "function:module/self/total " of each row of the table by function, in the order of names, of that event (NULL: the one that opens).
 * The caller frees it.
 */
char *rows_of_event(const struct profile *p, const char *event);

/* The sum of the event's weights. */
int64_t total_of_event(const struct profile *p, const char *event);

/* Does info say something with that text in it? */
bool has_fact(const struct profile *p, const char *text);

#endif
