/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where a program divides: from the root down as long as one caller has nearly everything, then each of its callees is a
 * branch. Functions of one branch may have changed for one reason.
 */
#ifndef PROFTOP_QUERY_TREE_BRANCHES_H
#define PROFTOP_QUERY_TREE_BRANCHES_H

#include <stdint.h>

struct calltree;
struct lens;
struct weights;

/*
 * [n_keys] by key the node of the branch that most of its own weight is below, 0 where it is in none. *alike: by how much all branches
 * that are large enough to say it changed at least, a logarithm of after over before outside the kernel, 0 where one grew and another shrank; NAN:
 * there are fewer than two. w has the scales. The caller frees.
 */
uint32_t *branches_find(const struct calltree *t, const struct lens *lens, const struct weights *w,
			double *alike);

#endif
