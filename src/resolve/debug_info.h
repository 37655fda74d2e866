/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source positions and inlined calls of a module's addresses, from its debug information.
 *
 * Read as it is asked for: which unit covers an address (once for the module), where a unit's
 * functions lie (once per unit), the inlined calls of a function (once per function). Nothing is
 * searched twice, and no debug information is read that no address needs.
 *
 * Sources: DWARF 5 §2.17 (ranges), §3.3 (subprograms and inlined calls), §6.2 (lines).
 */
#ifndef PROFTOP_RESOLVE_DEBUG_INFO_H
#define PROFTOP_RESOLVE_DEBUG_INFO_H

#include <stddef.h>
#include <stdint.h>

typedef struct Dwarf Dwarf;

struct build_id;
struct debug_info;

/* A frame that an address stands for. Strings are the debug information's: borrowed for its life. */
struct debug_frame {
	const char *linkage_name; /* mangled, or NULL */
	const char *name;         /* as in the source, or NULL */
	const char *file;         /* of the position in this frame, or NULL */
	uint32_t line;            /* 0: unknown */
	uint64_t function;        /* same number, same function; never 0 */
	uint64_t entry;           /* of what names it, for debug_info_scope() */
	const char *declared;     /* file where the function is declared, or NULL */
	uint32_t declared_line;   /* 0: unknown */
};

/* Borrows dw, which must outlive it. One thread at a time. */
struct debug_info *debug_info_new(Dwarf *dw);
/*
 * Of an ELF file, if it has that build-id (any, when want->n is 0); NULL when it has no debug
 * information. Sections are read into memory as they are needed and never mapped.
 */
struct debug_info *debug_info_open(const char *path, const struct build_id *want);
void debug_info_free(struct debug_info *d);

/*
 * The frames of an address (the file's virtual address), innermost first; at most max of them, the
 * outermost ones kept. 0 when debug information does not cover it. A single frame without names
 * is an address with only a line.
 */
size_t debug_info_frames(struct debug_info *d, uint64_t address, struct debug_frame *out,
			 size_t max);

/*
 * What a function's plain name stands in: "std::__detail", "main::{lambda(int)}"; for functions of C++
 * without a linkage name. NULL: nothing, or not known. The caller frees.
 */
char *debug_info_scope(struct debug_info *d, const struct debug_frame *f);

#endif
