/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions and inlined calls of a unit that hold given addresses. One walk over the unit finds
 * them for all addresses, and only what holds one is kept.
 *
 * Nothing recurses: levels are counted, and a walk takes at most r->work steps.
 *
 * Source: DWARF 5 §3.3 (subprograms and inlined calls).
 */
#ifndef PROFTOP_DWARF_DIE_CALLS_H
#define PROFTOP_DWARF_DIE_CALLS_H

#include "base/mem.h"

#include <stddef.h>
#include <stdint.h>

struct die_named;
struct die_reader;
struct die_unit;

#define CALL_NONE UINT32_MAX

/* An address, and what holds it. */
struct call_want {
	uint64_t address;
	uint64_t width;    /* of the function's range that holds it */
	uint32_t function; /* number of the function; CALL_NONE: none holds it */
	uint32_t call;     /* number of the innermost call */
};

/* A function or an inlined call. Numbers of a function's calls are higher than its own. */
struct call {
	uint64_t offset;                /* of the entry */
	uint32_t parent;                /* what it is inlined into; of a function: itself */
	uint32_t level;                 /* of its children, while calls are collected */
	uint32_t line;                  /* in the parent where it is called; 0 until named */
	const char *file;               /* likewise, or NULL */
	const struct die_named *called; /* NULL: not named yet */
};

struct calls {
	VEC(struct call) all; /* functions first, then the calls of each */
	uint32_t n_functions;
};

/*
 * Fills in the wants, which are sorted by address, and calls, which was empty. -1 when the unit is
 * damaged: what was found before that stays.
 */
int die_calls_find(struct die_reader *r, struct die_unit *u, struct call_want *w, size_t n,
		   struct calls *out);

/* Fills in what is called, and from where. files: the unit whose files are meant. */
void die_call_name(struct die_reader *r, struct die_unit *u, struct die_unit *files,
		   struct call *c);

#endif
