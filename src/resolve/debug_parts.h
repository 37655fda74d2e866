/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where split units of a program may lie: in PROGRAM.dwp, or in .dwo files beside it. */
#ifndef PROFTOP_RESOLVE_SPLIT_PLACES_H
#define PROFTOP_RESOLVE_SPLIT_PLACES_H

#include "mem.h"

/* Zeroed has none. Paths that the program has or would have, each once; nothing says that it is there. */
struct split_places {
	VEC(char *) all; /* owned */
};

void split_places_add(struct split_places *p, const char *program);
void split_places_copy(struct split_places *to, const struct split_places *from);
void split_places_done(struct split_places *p);

#endif
