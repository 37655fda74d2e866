/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Temporary files without a name: they go when they are closed, however the program ends. */
#ifndef PROFTOP_BASE_TMPFILE_H
#define PROFTOP_BASE_TMPFILE_H

#include <stddef.h>

struct err;

/*
 * Opens an empty one in $TMPDIR; without that variable in /var/tmp, /tmp, or memory, whichever there is first. what: the name of
 * the bytes that go there, for the sentence. Returns the descriptor, which the caller closes, or -errno.
 */
int tmpfile_open(const char *what, struct err *e);

/* Writes all of n bytes: 0 or -errno. */
int tmpfile_write(int fd, const void *bytes, size_t n);

#endif
