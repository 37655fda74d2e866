/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where n, N and the search as you type go: a pass over the places that match, in order, of which
 * one is picked. Goes round at the ends.
 */
#ifndef PROFTOP_TUI_FINDING_H
#define PROFTOP_TUI_FINDING_H

#include <stdint.h>

struct finding {
	uint32_t from;   /* the cursor's place */
	int step;        /* 0: at or after it, 1: after it, -1: before it */
	uint32_t n;      /* matches so far */
	uint32_t target; /* the one to go to */
	uint32_t number; /* its number from 1; 0: none yet */
	uint32_t other;  /* the one to go to when the pass ends without: the first, or the last */
};

void finding_start(struct finding *f, uint32_t from, int step);
/* A match; places rise from call to call. */
void finding_add(struct finding *f, uint32_t place);
/* Returns the number of the match to go to, which is then in f->target, or 0. */
uint32_t finding_end(struct finding *f);

#endif
