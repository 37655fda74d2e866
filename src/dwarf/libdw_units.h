/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Units of debug information that our reader declines, read by libdw: abbreviations that it takes for damaged, versions and
 * forms that it does not know. libdw works in a child of ours, as such units may be damaged so that they would end us.
 */
#ifndef PROFTOP_DWARF_LIBDW_UNITS_H
#define PROFTOP_DWARF_LIBDW_UNITS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Addresses that one call answers. */
#define LIBDW_MOST   2048u
/* Frames of an address; past that, inner ones give way. */
#define LIBDW_FRAMES 16u

struct libdw_ask {
	const char *path;      /* of the file that has the debug information */
	const uint64_t *units; /* [n_units] offsets in .debug_info */
	size_t n_units;
	const uint64_t *addresses; /* [n] at most LIBDW_MOST */
	size_t n;
};

/* Strings live in the arena that was given, or are NULL. */
struct libdw_frame {
	const char *linkage_name, *name;
	const char *file, *declared; /* of the position, and of the function's declaration */
	uint32_t line, declared_line;
	uint64_t function; /* where its entry is in .debug_info */
};

struct libdw_answer {
	uint32_t n_units; /* of those asked for, that libdw reads */
	uint32_t n_frames
		[LIBDW_MOST]; /* of each address, the innermost first; 0: nothing is known */
	struct libdw_frame frame[LIBDW_MOST][LIBDW_FRAMES];
};

/* NULL: libdw reads none of the units, or did not survive it. The caller frees. */
struct libdw_answer *libdw_units_answer(const struct libdw_ask *q, struct arena *strings);

#endif
