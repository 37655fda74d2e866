/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where the code of an entry lies: a range of its own, or a list of them.
 *
 * Ranges that begin at 0 are of code that the linker dropped, and are left out, as are empty ones.
 *
 * Source: DWARF 5 §2.17, §7.25; DWARF 4 §2.17.3 (.debug_ranges).
 */
#ifndef PROFTOP_DWARF_DIE_RANGES_H
#define PROFTOP_DWARF_DIE_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct die;
struct die_reader;
struct die_unit;

typedef void die_range_take(void *arg, uint64_t begin, uint64_t end);

/* Does the entry say that it has code? */
bool die_has_code(const struct die *d);

/* Tells each range of an entry; false when it has none. Each costs a step of r->work. */
bool die_each_range(struct die_reader *r, const struct die_unit *u, const struct die *d,
		    die_range_take *take, void *arg);

#endif
