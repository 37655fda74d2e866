/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Paths as texts: their last part, and what two of them have in common at the end. No file is asked. */
#ifndef PROFTOP_BASE_PATH_H
#define PROFTOP_BASE_PATH_H

#include <stddef.h>
#include <stdint.h>

/* "c" of "/a/b/c"; a path without a slash, or with nothing behind the last one, whole. Points into path. */
const char *path_last_part(const char *path);

/* How many bytes at the end of two paths are the same. */
size_t path_common_end(const char *a, const char *b);

/* The whole parts in that end: 2 of "/x/b/c" and "/y/b/c", 1 of "c" and "/y/c", 0 of "/ab" and "/b". */
uint32_t path_common_parts(const char *a, const char *b);

#endif
