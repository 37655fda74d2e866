/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One source file that was compiled in two directories, for the two sides of a comparison: which paths are of one file, and which
 * lines of one text are which of the other.
 */
#ifndef PROFTOP_CODE_SOURCE_JOIN_H
#define PROFTOP_CODE_SOURCE_JOIN_H

#include "query/core/lens.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOURCE_JOIN_NONE UINT32_MAX

struct source_file;

/* A path with lines of the function. */
struct source_side {
	const char *path;
	const char *mapped; /* by --source-map; NULL: by none; borrowed, as is the path */
	const struct source_file *file; /* opened; it may be missing */
	bool own;                       /* it has lines of the function itself */
	bool of_side[N_SIDES];          /* which sides have it */
};

/* Where lines of a path stand instead: the first n_head of them, and those from tail on, in which all are the same. */
struct source_join {
	uint32_t to;     /* a path, or SOURCE_JOIN_NONE */
	uint32_t n_head; /* UINT32_MAX: all lines */
	uint32_t tail;
	int64_t shift; /* of lines from tail on */
	bool by_tail;  /* only the ends of the paths say that it is one file */
};

/*
 * Joins each path that one side has alone to the path of the other side that is the same by maps or by the file that was opened,
 * else to the one with the longest end in common, from the last part on. Lines go to the side after, unless only the other has a text.
 *
 * side, out  [n]
 */
void source_join_find(const struct source_side *side, size_t n, struct source_join *out);
/* Moves a position; false: it stays where it is. */
bool source_join_move(const struct source_join *join, uint32_t *path, uint32_t *line);

#endif
