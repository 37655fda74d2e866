/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copied user stacks of a capture → return addresses: finds, for any process and time, the unwind
 * tables of what was mapped, and walks (unwind/walk.h).
 *
 * Tables are read when the first stack leads into their module, and kept. For the locating thread.
 */
#ifndef PROFTOP_SYMBOLS_STACK_UNWINDER_H
#define PROFTOP_SYMBOLS_STACK_UNWINDER_H

#include "profile/profile.h"
#include "symbols/search/resolver_options.h"
#include "unwind/walk.h"

#include <stddef.h>
#include <stdint.h>

struct cfi_rule;
struct dso_table;
struct debug_file_search;
struct jit_code;
struct spaces;
struct stack_unwinder;

/* Borrows all of it. read_code: see resolver_options. */
struct stack_unwinder *stack_unwinder_new(const struct spaces *spaces, const struct jit_code *g,
					  struct dso_table *dsos, const struct debug_file_search *f,
					  enum unwind_arch arch, resolver_read_code *read_code);
void stack_unwinder_free(struct stack_unwinder *u);

/* How a walk ended, and where. */
struct unwound {
	enum walk_end end;
	uint32_t dso; /* that the last frame is in, when that is why; else SPACE_NONE */
};

/* Where and when a stack was. */
struct unwind_place {
	uint32_t space;
	int32_t pid; /* whose space that is */
	int64_t time;
};

/*
 * Walks a stack of that place. At most max frames, innermost first; returns how many.
 */
size_t stack_unwinder_walk(struct stack_unwinder *u, const struct unwind_place *at,
			   const struct unwind_regs *regs, const struct unwind_memory *m,
			   struct walk_frame *out, size_t max, struct unwound *how);

/* The rule for the instruction at pc of that place. False: there is none. */
bool stack_unwinder_rule(struct stack_unwinder *u, const struct unwind_place *at, uint64_t pc,
			 struct cfi_rule *out);

/* Is pc of that place in a 32-bit program or library? */
bool stack_unwinder_is_32(struct stack_unwinder *u, const struct unwind_place *at, uint64_t pc);

#endif
