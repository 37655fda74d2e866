/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Whose an allocation is: the one frame of its stack that stands for it in tables.
 *
 * What a language's library is made of (std::) and wrappers of the allocator (xmalloc) are passed over. Of the rest
 * it is the innermost frame of the program's own, if that has a name. If it has none, as in stripped programs, it is
 * what the program had called: the innermost frame of a library, by the next name outward in that library. If there
 * is no library either, the next name outward in the program. So it is, too, with a program that is its main() and
 * nothing else, as python3 where all of it is in libpython.
 */
#ifndef PROFTOP_QUERY_HEAP_HEAP_SITES_H
#define PROFTOP_QUERY_HEAP_HEAP_SITES_H

#include "profile/profile.h"
#include "query/core/groups.h"

#include <stdbool.h>
#include <stdint.h>

/* A frame: a function, and where in it the call is that led to the allocation. */
struct heap_site {
	uint32_t key;  /* of functions; KEY_NONE: of no stack */
	uint32_t file; /* string_id of the source file of the call; 0 without line */
	uint32_t line; /* 0: not known */
};

/* Each stack's site, of KEY_NONE for the root: [n_stacks], the caller frees. */
struct heap_site *heap_sites(const struct profile *p, const struct profile_counts *counts,
			     const struct groups *keys, bool inlines);

#endif
