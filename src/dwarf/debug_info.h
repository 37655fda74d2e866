/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Source positions and inlined calls of a module's addresses, from its debug information.
 *
 * Addresses are asked many at once: a plan groups them by unit, and each unit is walked once for all
 * of its addresses. Units are independent: any number of threads may each answer some, with a reader of
 * its own. Units that no address needs are never read, and what was read for one is given back.
 *
 * Bounds: over all groups of a plan, a reader takes no more than DEBUG_INFO_WORK steps for each byte of
 * debug information and DEBUG_INFO_WORK_EACH for each address. What would need more is not answered.
 *
 * Sources: DWARF 5 §2.17 (ranges), §3.3 (subprograms and inlined calls), §6.2 (lines).
 */
#ifndef PROFTOP_DWARF_DEBUG_INFO_H
#define PROFTOP_DWARF_DEBUG_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEBUG_INFO_WORK      16
#define DEBUG_INFO_WORK_EACH 8192

struct build_id;
struct debug_info;
struct debug_plan;
struct debug_reader;
struct elf_file;
struct debug_parts;

/* A frame that an address stands for. Strings live until the reader answers another group. */
struct debug_frame {
	const char *linkage_name; /* mangled, or NULL */
	const char *name;         /* as in the source, or NULL */
	const char *file;  /* of the position in this frame, or NULL; lives as long as the reader */
	uint32_t line;     /* 0: unknown */
	uint64_t function; /* same number, same function, to one reader; 0: it is not known */
	const char *declared;   /* file where the function is declared, or NULL; lives like file */
	uint32_t declared_line; /* 0: unknown */
	bool lasting;           /* linkage_name stays where it is: same address, same name */
	const struct die_named *entry; /* of what names it, for debug_info_scope(); or NULL */
};

/*
 * Of an ELF file, if it has that build-id (any, when want->n is 0); NULL when it has no debug
 * information. Only the heads of units are read here, or .debug_aranges.
 *
 * parts   where the rest of it lies, if not beside it; copied; or NULL
 */
struct debug_info *debug_info_open(const char *path, const struct debug_parts *parts,
				   const struct build_id *want);
/* Of an open file, which it takes even if it has none. */
struct debug_info *debug_info_of(struct elf_file *elf);
void debug_info_free(struct debug_info *d);

/* What is read from now on is kept until d is freed, not given back once a group was answered. */
void debug_info_keep(struct debug_info *d);

/* Parts that could not be read because they are damaged, and split units that were not found. */
uint64_t debug_info_n_damaged(struct debug_info *d);
uint64_t debug_info_n_missing(struct debug_info *d);
/* Units that our reader did not take, and libdw did. */
uint64_t debug_info_n_by_libdw(struct debug_info *d);

/* What to ask: n addresses (the file's virtual ones), in any order; borrowed. */
struct debug_plan *debug_plan_new(struct debug_info *d, const uint64_t *addresses, size_t n);
void debug_plan_free(struct debug_plan *p);
/* Units that have any of them. */
size_t debug_plan_n_groups(const struct debug_plan *p);

/* Gives at most max frames for an address; past that, inner ones give way. */
struct debug_reader *debug_reader_new(struct debug_info *d, size_t max);
void debug_reader_free(struct debug_reader *r);

/*
 * Frames of addresses[which], innermost first; called from debug_reader_answer(). Not called for
 * addresses of which nothing is known. A single frame without names is an address with only a line.
 */
typedef void debug_take(void *arg, size_t which, const struct debug_frame *frames, size_t n);

void debug_reader_answer(struct debug_reader *r, const struct debug_plan *p, size_t group,
			 debug_take *take, void *arg);

/* The MD5 of a source file as it was compiled, [16], of a path in answers; lives like that. NULL: not told. */
const uint8_t *debug_reader_md5(const struct debug_reader *r, const char *path);

/*
 * What a function's plain name stands in: "std::__detail", "main::{lambda(int)}"; for functions of C++
 * without a linkage name. NULL: nothing, or not known. The caller frees. Where nothing says where the function is declared, as of
 * lambdas, it is where this is: *f has that then.
 */
char *debug_info_scope(struct debug_reader *r, struct debug_frame *f);

#endif
