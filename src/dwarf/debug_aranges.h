/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Which units have which addresses, as .debug_aranges says it (DWARF 5 §6.1.2). */
#ifndef PROFTOP_DWARF_DEBUG_ARANGES_H
#define PROFTOP_DWARF_DEBUG_ARANGES_H

#include <stdbool.h>
#include <stdint.h>

struct dwarf_file;

/* Addresses [begin, end) are of the unit at an offset in .debug_info. */
typedef void arange_take(void *arg, uint64_t unit, uint64_t begin, uint64_t end);

/* Tells all of a file; false when there are none, or they are damaged: then what was told means nothing. */
bool debug_aranges_each(struct dwarf_file *f, arange_take *take, void *arg);

#endif
