/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Full rows made compact, by recognising the few shapes that compilers and libcs use. */
#include "config.h"

#include "unwind/cfi_rule.h"

#include "unwind/cfi_program.h"
#include "unwind/leb.h"

#include <dwarf.h>

/* "breg N + offset", and nothing after it; or with one deref after it. */
static bool expression_is(const struct reg_rule *r, unsigned reg, bool deref, int64_t *offset)
{
	struct bytes b = bytes_over(r->expr, r->n_expr, false);

	if (take_u8(&b) != DW_OP_breg0 + reg)
		return false;
	*offset = take_sleb(&b);
	if (deref && take_u8(&b) != DW_OP_deref)
		return false;
	return !b.bad && bytes_left(&b) == 0;
}

/*
 * The CFA of a lazy PLT as binutils and lld write it: 8 more once the index has been pushed, which
 * happens at byte N of the slot. breg7 8; breg16 0; lit15; and; litN; ge; lit3; shl; plus.
 */
static bool expression_is_plt(const struct reg_rule *r, int64_t *pushed_at)
{
	static const uint8_t head[] = { DW_OP_breg0 + X86_RSP, 8,        DW_OP_breg0 + X86_RIP, 0,
					DW_OP_lit15,           DW_OP_and };
	static const uint8_t tail[] = { DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus };
	const uint8_t *e = r->expr;

	if (r->n_expr != sizeof(head) + 1 + sizeof(tail))
		return false;
	if (memcmp(e, head, sizeof(head)) != 0 ||
	    memcmp(e + sizeof(head) + 1, tail, sizeof(tail)) != 0)
		return false;
	if (e[sizeof(head)] < DW_OP_lit0 || e[sizeof(head)] > DW_OP_lit15)
		return false;
	*pushed_at = e[sizeof(head)] - DW_OP_lit0;
	return true;
}

static enum cfa_kind cfa_of(const struct cfi_row *row, enum unwind_arch arch, int64_t *offset,
			    unsigned *reg)
{
	const struct reg_rule *cfa = &row->cfa;

	if (cfa->how == REG_REGISTER) {
		*offset = row->cfa_offset;
		*reg = (unsigned)cfa->n;
		if (*reg == unwind_sp(arch))
			return CFA_SP;
		if (*reg == unwind_fp(arch))
			return CFA_FP;
		return *reg < UNWIND_N_REGS ? CFA_REGISTER : CFA_GENERAL;
	}
	if (cfa->how != REG_VAL_EXPRESSION)
		return CFA_GENERAL;
	if (expression_is(cfa, unwind_sp(arch), true, offset))
		return CFA_AT_SP;
	if (expression_is(cfa, unwind_fp(arch), true, offset))
		return CFA_AT_FP;
	if (arch == UNWIND_X86_64 && expression_is_plt(cfa, offset))
		return CFA_PLT;
	return CFA_GENERAL;
}

/* Where a register is; false when no slot kind says so. */
static bool slot_of(const struct reg_rule *rule, enum unwind_arch arch, uint8_t *kind,
		    int16_t *offset)
{
	int64_t n = 0;

	switch (rule->how) {
	case REG_UNSPECIFIED:
	case REG_SAME:
		*kind = SLOT_SAME;
		break;
	case REG_UNDEFINED:
		*kind = SLOT_UNDEFINED;
		break;
	case REG_OFFSET:
		*kind = SLOT_CFA;
		n = rule->n;
		break;
	case REG_EXPRESSION:
		if (expression_is(rule, unwind_sp(arch), false, &n))
			*kind = SLOT_SP;
		else if (expression_is(rule, unwind_fp(arch), false, &n))
			*kind = SLOT_FP;
		else
			return false;
		break;
	case REG_VAL_OFFSET:
	case REG_REGISTER:
	case REG_VAL_EXPRESSION:
		return false;
	}
	*offset = (int16_t)n;
	return n >= INT16_MIN && n <= INT16_MAX;
}

struct cfi_rule cfi_rule_of(const struct cfi_row *row, enum unwind_arch arch)
{
	struct cfi_rule general = { .cfa_kind = CFA_GENERAL, .signal = row->signal };
	struct cfi_rule rule = general;
	const struct reg_rule *ra = &row->reg[row->ra];
	int64_t offset = 0;
	unsigned reg = 0;

	general.ra_kind = ra->how == REG_UNDEFINED ? SLOT_UNDEFINED : SLOT_CFA;
	/* A stack pointer that is not simply the CFA. */
	if (row->reg[unwind_sp(arch)].how != REG_UNSPECIFIED || row->ra != unwind_ra(arch)) {
		int64_t at;

		/* Signal frames save it as a word; that word is what the CFA loads too. */
		if (!row->signal || row->cfa.how != REG_VAL_EXPRESSION ||
		    !expression_is(&row->reg[unwind_sp(arch)], unwind_sp(arch), false, &at))
			return general;
		if (!expression_is(&row->cfa, unwind_sp(arch), true, &offset) || at != offset)
			return general;
	}
	rule.cfa_kind = cfa_of(row, arch, &offset, &reg) & 0xff;
	if (offset < INT32_MIN || offset > INT32_MAX)
		return general;
	rule.cfa = (int32_t)offset;
	rule.reg = reg & 0x7f;
	if (!slot_of(ra, arch, &rule.ra_kind, &rule.ra) ||
	    !slot_of(&row->reg[unwind_fp(arch)], arch, &rule.fp_kind, &rule.fp))
		return general;
	return rule.cfa_kind == CFA_GENERAL ? general : rule;
}
