/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Functions of a comparison that are on one side alone, and where the other side has them: in another module, or, as far
 * as times show it, in their only caller, where a compiler inlined them on the one side and not on the other.
 *
 * The first is certain. The second is not: a caller's own weight became larger (or smaller) by about what the function
 * weighed, and both changes are beyond noise.
 */
#ifndef PROFTOP_QUERY_DIFF_DIFF_MOVES_H
#define PROFTOP_QUERY_DIFF_DIFF_MOVES_H

#include <stdbool.h>
#include <stdint.h>

struct diff;

enum move { MOVE_NONE, MOVE_MODULE, MOVE_CALLER };

struct diff_move {
	enum move move;
	bool gone;    /* it was before and is no more; else it is new */
	uint32_t key; /* in the other module, or the caller */
};

/* [n_keys] by key of functions; NULL where rows are no functions. The caller frees. */
struct diff_move *diff_moves_find(const struct diff *d);

/*
 * "now in libx.so", "was in prog", "perhaps inlined into serve", "perhaps taken out of serve"; NULL for MOVE_NONE. Names in
 * it are untrusted; the caller frees.
 */
char *diff_move_text(const struct diff *d, const struct diff_move *m);

#endif
