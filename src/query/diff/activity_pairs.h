/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Processes and threads of a comparison: those of equal names are one row, as no process is in two recordings. The names are
 * what they count as there.
 */
#ifndef PROFTOP_QUERY_DIFF_ACTIVITY_PAIRS_H
#define PROFTOP_QUERY_DIFF_ACTIVITY_PAIRS_H

#include "base/arena.h"
#include "query/diff/diff.h"
#include "query/diff/noise.h"

#include <stdint.h>

struct activity;
struct name_rules;
struct profile;

/* The names that a row stands for, in the order of their letters. */
struct task_names {
	const char **at; /* [n] in the arena */
	uint32_t n;
};

/* What is known of paired rows besides. */
struct activity_pairs {
	struct arena made;          /* names, and what rows' names are */
	struct task_names *names;   /* [n_rows] as the rows stood when they were made */
	uint32_t *made_as;          /* [n_rows] where in names a row's are */
	struct noise_delta *change; /* [n_rows] by row */
	struct diff_family family;  /* of all rows */
};

/* Makes rows of equal names one; the activity has columns of a comparison, and owns what is made. rules may be NULL. */
void activity_pair(struct activity *a, const struct profile *p, const struct name_rules *rules);
/* Orders them by what changed: processes, and the threads of each. */
void activity_pairs_order(struct activity *a, const struct diff *d);
/* The names of row i, as filters know them. */
const struct task_names *activity_pairs_names(const struct activity *a, uint32_t i);
void activity_pairs_free(struct activity_pairs *p);

#endif
