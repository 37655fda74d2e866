/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * One row of CFI in 16 bytes: enough for nearly every frame that a compiler makes.
 *
 * A rule says where the frame above begins (the CFA: what the stack pointer was before the call),
 * where the return address is and where the caller's frame pointer is. Other registers are not
 * followed; a row that needs one is CFA_GENERAL and is run by cfi_program.h.
 */
#ifndef PROFTOP_UNWIND_CFI_RULE_H
#define PROFTOP_UNWIND_CFI_RULE_H

#include "unwind/arch.h"

#include <stdbool.h>
#include <stdint.h>

struct cfi_row;

enum cfa_kind {
	CFA_GENERAL,  /* none of these, or something else in the row is not: see cfi_row_at() */
	CFA_SP,       /* sp + cfa */
	CFA_FP,       /* fp + cfa */
	CFA_REGISTER, /* register ra_or_reg + cfa, known in the innermost frame only */
	CFA_AT_SP,    /* the word at sp + cfa: signal frames */
	CFA_AT_FP,    /* the word at fp + cfa: realigned frames */
	CFA_PLT       /* sp + 8, or sp + 16 from byte `cfa` of a 16-byte slot on: lazy PLT stubs */
};

/* Where a register of the caller is. */
enum slot_kind {
	SLOT_SAME,     /* where it was: not saved here */
	SLOT_CFA,      /* at CFA + offset */
	SLOT_SP,       /* at sp + offset */
	SLOT_FP,       /* at fp + offset */
	SLOT_UNDEFINED /* nowhere; of the return address: this is the outermost frame */
};

struct cfi_rule {
	uint32_t begin;     /* first pc, less the entry's: bytes */
	int32_t cfa;        /* offset, see enum cfa_kind */
	int16_t fp;         /* offset of the caller's frame pointer */
	int16_t ra;         /* offset of the return address */
	uint8_t cfa_kind;   /* enum cfa_kind */
	uint8_t fp_kind;    /* enum slot_kind */
	uint8_t ra_kind;    /* enum slot_kind */
	uint8_t reg : 7;    /* of CFA_REGISTER */
	uint8_t signal : 1; /* the frame above was interrupted: its pc is no return address */
};

/*
 * AArch64: the sp of a frame of which only fp is known, which points to where the frame saved the caller's fp and return
 * address. False: the rule does not say so of its frame.
 */
static inline bool cfi_rule_sp(const struct cfi_rule *r, uint64_t fp, uint64_t *sp)
{
	if (r->cfa_kind != CFA_SP || r->fp_kind != SLOT_CFA || r->ra_kind != SLOT_CFA ||
	    r->ra != r->fp + 8)
		return false;
	*sp = fp - (uint64_t)(int64_t)r->fp - (uint64_t)(int64_t)r->cfa;
	return true;
}

/* Does a step by the rule depend on sp? */
static inline bool cfi_rule_needs_sp(const struct cfi_rule *r)
{
	return r->cfa_kind == CFA_SP || r->cfa_kind == CFA_AT_SP || r->cfa_kind == CFA_PLT ||
	       r->ra_kind == SLOT_SP || r->fp_kind == SLOT_SP;
}

/* The row as a rule; CFA_GENERAL (with ra_kind and signal still true) when it does not fit one. */
struct cfi_rule cfi_rule_of(const struct cfi_row *row, enum unwind_arch arch);

#endif
