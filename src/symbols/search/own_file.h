/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files in places where anybody may write, like /tmp: only those of the user or of root are read. */
#ifndef PROFTOP_SYMBOLS_SEARCH_OWN_FILE_H
#define PROFTOP_SYMBOLS_SEARCH_OWN_FILE_H

struct err;

/*
 * Opens a regular file for reading. -EPERM when it belongs neither to the user nor to root: names made
 * of pids come again. Else -errno with a sentence. The caller closes.
 */
int own_file_open(const char *path, int *fd, struct err *e);

#endif
