/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks a dumped stack from the innermost frame outward.
 *
 * The caller says which module's CFI covers an address; the rules found are cached by pc, so that
 * a frame seen before costs one look-up and two loads. The walk follows pc, sp and fp; when a rule
 * wants more, the stack is walked again with all registers.
 */
#ifndef PROFTOP_UNWIND_WALK_H
#define PROFTOP_UNWIND_WALK_H

#include "unwind/arch.h"
#include "unwind/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cfi;
struct cfi_rule;

/* Why a stack ends where it does. */
enum walk_end {
	WALK_COMPLETE,   /* the outermost frame said so, or a zero return address */
	WALK_TRUNCATED,  /* the next frame lies past the dump's end */
	WALK_NO_MODULE,  /* nothing is mapped at the last pc, or its file is not to be had */
	WALK_NO_CFI,     /* mapped, but no entry covers it and frame pointers lead nowhere */
	WALK_UNREADABLE, /* the stack is not sane: it goes backwards, or a register is unknown */
	WALK_TOO_DEEP,
	WALK_OTHER_STACK, /* the next frame lies where no dump reaches: on another stack */
	WALK_NO_DUMP      /* nothing was dumped */
};
#define N_WALK_ENDS 8

/* perf dumps no more bytes: its records are shorter than 64 KiB. */
#define WALK_DUMP_MAX 65528

/* What covers an address. */
struct walk_module {
	struct cfi *cfi; /* NULL: no CFI to be had (no file) */
	uint64_t bias;   /* pc - bias is the module's own address */
	uint64_t entry;  /* the module's own address where a program begins in it, or 0 */
	bool mapped;     /* something is mapped there at all */
	/*
	 * All of its code keeps frame pointers, and the outermost frame's is 0, as Go has it: where no CFI covers it, or CFI
	 * leads to where nothing is mapped, that is where the stack ends. Of other code 0 says nothing.
	 */
	bool keeps_fp;
	/* Where no CFI covers it, the rule of this pc alone, if anything is known; borrowed until the next is looked up. */
	const struct cfi_rule *alone;
};

/* Is code that no CFI covers where a thread or a program begins? */
enum walk_start_kind {
	WALK_START_NONE,
	WALK_START, /* a program begins there, in code written by hand */
	/*
	 * It is just before code that CFI covers. A return address behind it is the first of a function, which no call leaves
	 * there (but signals do): it was given to the outermost frame, as makecontext(3) does. Of code that was interrupted
	 * it says nothing.
	 */
	WALK_START_GIVEN
};

/* Of the module's own address, as return addresses are looked up: 1 less. m has CFI. */
enum walk_start_kind walk_start_kind(const struct walk_module *m, uint64_t address);

typedef struct walk_module walk_find_fn(void *arg, uint64_t pc);

struct walker; /* a cache; one thread at a time */

struct walker *walker_new(enum unwind_arch arch);
void walker_free(struct walker *w);
/* Forgets what is cached: mappings changed. O(1). */
void walker_flush(struct walker *w);

struct walk_frame {
	uint64_t pc; /* as found */
	uint64_t sp; /* there: the callee's CFA, once it has returned */
	bool exact;  /* the instruction at pc itself, not the one before (a call) */
	/* Handlers of signals return to it, so that is exact; and what is outward of it was interrupted. */
	bool signal;
};

/*
 * Writes at most max frames, innermost first, and returns how many (at least 1: regs' own pc). *end
 * says why it stopped; *missing is the pc without module or CFI, when that was why.
 */
size_t walk_stack(struct walker *w, const struct unwind_regs *regs, const struct unwind_memory *m,
		  walk_find_fn *find, void *arg, struct walk_frame *out, size_t max,
		  enum walk_end *end, uint64_t *missing);

/* The rule for the instruction at pc, found and kept as a walk does. False: there is none. */
bool walk_rule(struct walker *w, uint64_t pc, walk_find_fn *find, void *arg, struct cfi_rule *out);

#endif
