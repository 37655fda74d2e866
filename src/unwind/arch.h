/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The registers that unwinding knows, by their DWARF numbers.
 *
 * Sources: System V ABI AMD64 supplement, figure 3.36; DWARF for the Arm 64-bit Architecture
 * (AADWARF64), table 1.
 */
#ifndef PROFTOP_UNWIND_ARCH_H
#define PROFTOP_UNWIND_ARCH_H

#include <stdbool.h>
#include <stdint.h>

enum unwind_arch { UNWIND_X86_64, UNWIND_AARCH64 };

/* Registers are kept in arrays of this many, indexed by DWARF number. */
#define UNWIND_N_REGS 34

/* The one that this is compiled for; others are not recorded on. */
#if defined(__aarch64__)
#define UNWIND_HERE UNWIND_AARCH64
#else
#define UNWIND_HERE UNWIND_X86_64
#endif

#define X86_RBX 3
#define X86_RBP 6
#define X86_RSP 7
#define X86_R10 10
#define X86_R12 12
#define X86_R13 13
#define X86_R14 14
#define X86_R15 15
#define X86_RIP 16

#define ARM_X19 19
#define ARM_FP  29
#define ARM_LR  30
#define ARM_SP  31
#define ARM_PC  32

struct unwind_regs {
	uint64_t at[UNWIND_N_REGS]; /* by DWARF number */
	uint64_t known;             /* bit n: at[n] is known */
};

static inline unsigned unwind_sp(enum unwind_arch a)
{
	return a == UNWIND_X86_64 ? X86_RSP : ARM_SP;
}

static inline unsigned unwind_fp(enum unwind_arch a)
{
	return a == UNWIND_X86_64 ? X86_RBP : ARM_FP;
}

/* The register that holds the program counter here, and by CFI the return address above. */
static inline unsigned unwind_pc(enum unwind_arch a)
{
	return a == UNWIND_X86_64 ? X86_RIP : ARM_PC;
}

/* The column of a CIE that usually means the return address. */
static inline unsigned unwind_ra(enum unwind_arch a)
{
	return a == UNWIND_X86_64 ? X86_RIP : ARM_LR;
}

/* A code address as it was signed or tagged, without those bits (AArch64 PAC and TBI). */
static inline uint64_t unwind_strip(enum unwind_arch a, uint64_t pc)
{
	if (a != UNWIND_AARCH64 || (pc >> 55 & 1))
		return pc;
	return pc & ((UINT64_C(1) << 48) - 1);
}

static inline bool unwind_reg_known(const struct unwind_regs *r, unsigned n)
{
	return n < UNWIND_N_REGS && (r->known >> n & 1);
}

static inline void unwind_reg_set(struct unwind_regs *r, unsigned n, uint64_t value)
{
	r->at[n] = value;
	r->known |= UINT64_C(1) << n;
}

#endif
