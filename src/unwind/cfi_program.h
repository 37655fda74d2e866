/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * CFA programs: runs the instructions of an entry to the rows they stand for (DWARF 5 §6.4.2), and
 * applies a row to registers and memory. The slow and complete way; cfi_rule.h is the fast one.
 */
#ifndef PROFTOP_UNWIND_CFI_PROGRAM_H
#define PROFTOP_UNWIND_CFI_PROGRAM_H

#include "base/bytes.h"
#include "unwind/arch.h"
#include "unwind/memory.h"

#include <stdbool.h>
#include <stdint.h>

enum reg_how {
	REG_UNSPECIFIED, /* nothing was said: callee-saved, so the same */
	REG_UNDEFINED,
	REG_SAME,
	REG_OFFSET,     /* at CFA + n */
	REG_VAL_OFFSET, /* is CFA + n */
	REG_REGISTER,   /* in register n */
	REG_EXPRESSION, /* at the address that the expression gives */
	REG_VAL_EXPRESSION
};

struct reg_rule {
	enum reg_how how;
	int64_t n;           /* offset in bytes, or register number */
	const uint8_t *expr; /* of expressions: borrowed from the section */
	size_t n_expr;
};

struct cfi_row {
	uint64_t begin, end; /* pcs, end exclusive */
	struct reg_rule cfa; /* REG_REGISTER n with cfa_offset, or REG_VAL_EXPRESSION */
	int64_t cfa_offset;
	struct reg_rule reg[UNWIND_N_REGS];
	unsigned ra; /* column of the return address */
	bool signal; /* 'S' augmentation */
};

/* What an entry and its CIE say, decoded. */
struct cfi_entry {
	uint64_t begin, end;  /* pcs covered, end exclusive */
	struct bytes initial; /* CIE's instructions */
	struct bytes program; /* FDE's */
	uint64_t code_align;
	int64_t data_align;
	uint64_t section_address, data_base; /* for DW_CFA_set_loc's encoding */
	const uint8_t *section_bytes;
	unsigned ra;
	uint8_t encoding; /* of code addresses */
	bool signal;
};

/*
 * Runs the entry and hands each row to each(), which returns false to stop. Returns false when the
 * program is malformed (rows before that point have been handed out).
 */
typedef bool cfi_row_fn(void *arg, const struct cfi_row *row);
bool cfi_run(const struct cfi_entry *e, enum unwind_arch arch, cfi_row_fn *each, void *arg);

/* How applying a row ended. */
enum cfi_step {
	CFI_STEPPED,    /* regs are the caller's */
	CFI_OUTERMOST,  /* the return address is undefined: there is no caller */
	CFI_UNREADABLE, /* memory that is not there */
	CFI_UNKNOWN     /* a register that is not known, or an expression that fails */
};

/* Makes regs those of the caller: pc, sp and whatever the row restores. */
enum cfi_step cfi_apply(const struct cfi_row *row, enum unwind_arch arch,
			const struct unwind_memory *m, struct unwind_regs *regs);

#endif
