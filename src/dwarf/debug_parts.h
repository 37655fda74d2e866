/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the rest of a program's debug information lies: its split units in PROGRAM.dwp or in .dwo files beside
 * it, and what dwz moved out of several programs into one file that they share.
 */
#ifndef PROFTOP_DWARF_DEBUG_PARTS_H
#define PROFTOP_DWARF_DEBUG_PARTS_H

#include "base/mem.h"
#include "elf/build_id.h"

struct consulted_files;

/* Zeroed has none. */
struct debug_parts {
	VEC(char *)
	all; /* paths that the program has or would have, each once; nothing says that it is there; owned */
	char *shared;                      /* the shared file, or NULL; owned */
	struct build_id shared_id;         /* that it has; n 0: there is none */
	struct consulted_files *consulted; /* notes where they are looked for; borrowed, or NULL */
};

void debug_parts_add(struct debug_parts *p, const char *program);
void debug_parts_copy(struct debug_parts *to, const struct debug_parts *from);
void debug_parts_done(struct debug_parts *p);

#endif
