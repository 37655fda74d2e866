/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Unwind rules of generated code, by the tables in the jitdump that tells of it. */
#ifndef PROFTOP_SYMBOLS_JIT_JIT_UNWIND_H
#define PROFTOP_SYMBOLS_JIT_JIT_UNWIND_H

#include "unwind/arch.h"

#include <stdint.h>

struct cfi;
struct jit_dump;
struct jit_unwind;

/* Borrows d, which may be read on. Tables are read when the first stack leads into their function, and kept. */
struct jit_unwind *jit_unwind_new(const struct jit_dump *d);
void jit_unwind_free(struct jit_unwind *u);

/*
 * The rules of the function at an offset of the dump, and at which of their addresses that is;
 * borrowed. NULL: it has none, or they are of another machine. One thread at a time.
 */
struct cfi *jit_unwind_find(struct jit_unwind *u, enum unwind_arch arch, uint64_t offset,
			    uint64_t *address);

#endif
