/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A graph of calls as stacks. The file has no stacks: it tells what each call of g by f costs, not who called f then. A path of several
 * calls gets the part of each function's cost that its calls have of all calls of it, as if a function did the same for every caller
 * (as gprof does: Graham, Kessler, McKusick, 1982). Sums by function and by pairs of functions stay those of the file, to the unit.
 */
#ifndef PROFTOP_FORMATS_CALLGRIND_CALLGRIND_TREE_H
#define PROFTOP_FORMATS_CALLGRIND_CALLGRIND_TREE_H

#include "profile/builder.h"

#include <stdint.h>

struct callgrind_text;
struct progress;

/* Name of the frame that stands for the callers of rare paths, see below. */
#define CALLGRIND_MERGED_NAME "[callers merged]"

/* What became of a file. */
struct callgrind_tree_result {
	uint64_t n_rows;      /* samples that were added */
	uint64_t n_large;     /* left out, as sums would be too large */
	uint64_t n_recursive; /* functions that call themselves, at once or by others */
	uint64_t n_uneven;    /* functions whose calls cost more than they do */
	double merged;        /* greatest part of an event below CALLGRIND_MERGED_NAME, 0 to 1 */
};

/*
 * Adds all threads of the text to the profile, in batches of its own: the write lock is not held. Paths can be more than any memory
 * holds: those that cost most come first, and what remains after work_most items, which the threads share, has its functions below CALLGRIND_MERGED_NAME, where
 * they count for themselves, and no more for their callers.
 *
 * 0, -EFBIG when the profile is full, or -ECANCELED.
 */
int callgrind_tree_build(const struct callgrind_text *t, struct profile *p, capture_id c,
			 enum root_names root_names, uint64_t work_most, struct progress *progress,
			 struct callgrind_tree_result *result);

#endif
