/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Split units: what the compiler left in a .dwo beside the object file, or a .dwp beside the program.
 *
 * Source: DWARF 5 §7.3.5 and the GNU extension of DWARF 4 that it comes from.
 */
#ifndef PROFTOP_DWARF_DIE_SPLIT_H
#define PROFTOP_DWARF_DIE_SPLIT_H

#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

struct die_reader;
struct die_unit;
struct dwarf_file;
struct debug_parts;

/* Zeroed knows nothing yet. */
struct die_split {
	VEC(struct dwarf_file *) dwp; /* packages; owned */
	size_t n_tried;               /* places where they were looked for */
	struct dwarf_file *dwo;       /* of the unit that is open, or NULL; owned */
	uint32_t n_opened;            /* so that each has another number */
	uint64_t n_missing;           /* units that were not found */
};

/* Does a unit only stand for one that lies elsewhere? */
bool die_is_skeleton(const struct die_unit *u);

/*
 * The unit that a skeleton stands for; NULL when it is not found. The places are the same each time.
 * One at a time: die_split_close() frees it.
 */
struct die_unit *die_split_open(struct die_split *s, struct die_reader *r,
				const struct debug_parts *places, const struct die_unit *skeleton);
void die_split_close(struct die_split *s, struct die_reader *r, struct die_unit *u);
void die_split_done(struct die_split *s);

#endif
