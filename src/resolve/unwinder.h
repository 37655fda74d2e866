/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copied user stacks of a capture → return addresses: finds, for any process and time, the unwind
 * tables of what was mapped, and walks (unwind/walk.h).
 *
 * Tables are read when the first stack leads into their module, and kept. For the locating thread.
 */
#ifndef PROFTOP_RESOLVE_UNWINDER_H
#define PROFTOP_RESOLVE_UNWINDER_H

#include "walk.h"

#include <stddef.h>
#include <stdint.h>

struct cfi_rule;
struct dso_table;
struct finder;
struct spaces;
struct unwinder;

/* Borrows all of it. */
struct unwinder *unwinder_new(const struct spaces *spaces, struct dso_table *dsos,
			      const struct finder *f, enum unwind_arch arch);
void unwinder_free(struct unwinder *u);

/* How a walk ended, and where. */
struct unwound {
	enum walk_end end;
	uint32_t dso; /* that the last frame is in, when that is why; else SPACE_NONE */
};

/*
 * Walks a stack of the space at a time. At most max frames, innermost first; returns how many.
 */
size_t unwinder_walk(struct unwinder *u, uint32_t space, int64_t time,
		     const struct unwind_regs *regs, const struct unwind_memory *m,
		     struct walk_frame *out, size_t max, struct unwound *how);

/* The rule for the instruction at pc in the space at a time. False: there is none. */
bool unwinder_rule(struct unwinder *u, uint32_t space, int64_t time, uint64_t pc,
		   struct cfi_rule *out);

#endif
