/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Transforms of stacks, on a tree whose keys are atoms: each is a map from the nodes of one tree to
 * those of another, so that the next one sees what the one before has made.
 */
#ifndef PROFTOP_QUERY_TREE_TRANSFORM_H
#define PROFTOP_QUERY_TREE_TRANSFORM_H

#include "profile/profile.h"
#include "query/core/groups.h"

#include <stdbool.h>

struct filter;
struct frametree;
struct line_frames;
struct progress;

/* Does f (which may be NULL) have any? */
bool transforms_wanted(const struct filter *f);

/*
 * Applies all transforms of f in order; *t is replaced. functions are keys under GROUP_FUNCTION. lines says what keys of *t
 * stand for that are no atoms; NULL: all are. A kept frame keeps its line; a recursion has that of its innermost frame, and a frame
 * into which others collapse has none. Returns 0 or -ECANCELED, when *t is one of the trees in between.
 */
int transforms_apply(const struct filter *f, const struct profile *p,
		     const struct profile_counts *counts, const struct groups *functions,
		     const struct line_frames *lines, struct progress *progress,
		     struct frametree *t);

#endif
