/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where n, N and the search as you type go: a pass over the places that match, in any order, of which
 * one is picked. Goes round at the ends.
 */
#ifndef PROFTOP_TUI_ROWS_MATCH_CURSOR_H
#define PROFTOP_TUI_ROWS_MATCH_CURSOR_H

#include <stdbool.h>
#include <stdint.h>

/* No step: matches are counted, and nothing moves. */
#define FIND_STAY 2

struct match_cursor {
	uint32_t from;         /* the cursor's place */
	int step;              /* 0: at or after it, 1: after it, -1: before it, or FIND_STAY */
	uint32_t n;            /* matches so far, the following are of them */
	uint32_t n_before;     /* on the near side of where the search goes from */
	uint32_t least, most;  /* the first and the last */
	uint32_t before, next; /* the last of the near side, and the first that is not */
	uint32_t target;       /* the one to go to, */
	bool goes;             /* if there is one */
};

void match_cursor_start(struct match_cursor *f, uint32_t from, int step);
/* A match. */
void match_cursor_add(struct match_cursor *f, uint32_t place);
/*
 * Returns the number of the match to go to, from 1, which is then in f->target, or 0; with FIND_STAY that of the match
 * where the cursor is.
 */
uint32_t match_cursor_end(struct match_cursor *f);

#endif
