/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The interpreter of CFA programs, and the application of full rows.
 *
 * A program cannot loop: each instruction takes bytes, rows are bounded by them. The stack of
 * remembered rows is bounded too.
 */
#include "config.h"

#include "unwind/cfi_program.h"

#include "unwind/dwarf_expr.h"
#include "unwind/leb.h"

#include <dwarf.h>

#define MAX_REMEMBERED 8

/* DWARF for the Arm 64-bit Architecture, 2024Q3; elf.h and dwarf.h do not have it yet. */
#define CFA_AARCH64_NEGATE_RA_STATE_WITH_PC 0x2c

struct run {
	const struct cfi_entry *entry;
	enum unwind_arch arch;
	struct cfi_row row;                        /* being built; begin is its pc */
	struct cfi_row initial;                    /* after the CIE's instructions */
	struct cfi_row remembered[MAX_REMEMBERED]; /* DW_CFA_remember_state */
	unsigned n_remembered;
	cfi_row_fn *each;
	void *arg;
	bool stopped; /* each() has had enough */
	bool bad;
};

/* Ends the current row at pc and hands it out. */
static void advance_to(struct run *r, uint64_t pc)
{
	if (pc > r->entry->end)
		pc = r->entry->end;
	if (pc < r->row.begin) {
		r->bad = true;
		return;
	}
	if (pc == r->row.begin)
		return;
	r->row.end = pc;
	if (!r->each(r->arg, &r->row))
		r->stopped = true;
	r->row.begin = pc;
}

static void set_reg(struct run *r, uint64_t reg, enum reg_how how, int64_t n)
{
	/* Vector and other registers that unwinding does not follow. */
	if (reg >= UNWIND_N_REGS)
		return;
	r->row.reg[reg] = (struct reg_rule){ .how = how, .n = n };
}

static struct reg_rule take_expression(struct bytes *b, enum reg_how how)
{
	uint64_t n = take_uleb(b);
	struct reg_rule rule = { .how = how, .n_expr = (size_t)n };

	rule.expr = take_bytes(b, (size_t)n);
	return rule;
}

static void restore_reg(struct run *r, uint64_t reg)
{
	if (reg < UNWIND_N_REGS)
		r->row.reg[reg] = r->initial.reg[reg];
}

static void remember(struct run *r)
{
	if (r->n_remembered == MAX_REMEMBERED)
		r->bad = true;
	else
		r->remembered[r->n_remembered++] = r->row;
}

/* The rules come back, the place does not. */
static void restore(struct run *r)
{
	uint64_t begin = r->row.begin;

	if (r->n_remembered == 0) {
		r->bad = true;
		return;
	}
	r->row = r->remembered[--r->n_remembered];
	r->row.begin = begin;
}

static void set_cfa(struct run *r, uint64_t reg, int64_t offset)
{
	r->row.cfa = (struct reg_rule){ .how = REG_REGISTER, .n = (int64_t)(reg & 0xffff) };
	r->row.cfa_offset = offset;
}

/* product of a factored offset, without signed overflow */
static int64_t factored(const struct run *r, int64_t n)
{
	return (int64_t)((uint64_t)n * (uint64_t)r->entry->data_align);
}

/* Instructions about the CFA; false: op is none. */
static bool run_cfa_op(struct run *r, uint8_t op, struct bytes *b)
{
	uint64_t reg;

	switch (op) {
	case DW_CFA_def_cfa:
		reg = take_uleb(b);
		set_cfa(r, reg, (int64_t)take_uleb(b));
		return true;
	case DW_CFA_def_cfa_sf:
		reg = take_uleb(b);
		set_cfa(r, reg, factored(r, take_sleb(b)));
		return true;
	case DW_CFA_def_cfa_register:
		set_cfa(r, take_uleb(b), r->row.cfa_offset);
		return true;
	case DW_CFA_def_cfa_offset:
		r->row.cfa_offset = (int64_t)take_uleb(b);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		r->row.cfa_offset = factored(r, take_sleb(b));
		return true;
	case DW_CFA_def_cfa_expression:
		r->row.cfa = take_expression(b, REG_VAL_EXPRESSION);
		return true;
	default:
		return false;
	}
}

/* Instructions about other registers; false: op is none. */
static bool run_reg_op(struct run *r, uint8_t op, struct bytes *b)
{
	uint64_t reg;

	if (op < DW_CFA_offset_extended || op == DW_CFA_remember_state ||
	    op == DW_CFA_restore_state)
		return false;
	if (op > DW_CFA_val_expression && op != DW_CFA_GNU_negative_offset_extended)
		return false;
	reg = take_uleb(b);
	switch (op) {
	case DW_CFA_offset_extended:
		set_reg(r, reg, REG_OFFSET, factored(r, (int64_t)take_uleb(b)));
		return true;
	case DW_CFA_offset_extended_sf:
		set_reg(r, reg, REG_OFFSET, factored(r, take_sleb(b)));
		return true;
	case DW_CFA_GNU_negative_offset_extended:
		set_reg(r, reg, REG_OFFSET, factored(r, -(int64_t)(take_uleb(b) >> 1)));
		return true;
	case DW_CFA_val_offset:
		set_reg(r, reg, REG_VAL_OFFSET, factored(r, (int64_t)take_uleb(b)));
		return true;
	case DW_CFA_val_offset_sf:
		set_reg(r, reg, REG_VAL_OFFSET, factored(r, take_sleb(b)));
		return true;
	case DW_CFA_restore_extended:
		restore_reg(r, reg);
		return true;
	case DW_CFA_undefined:
		set_reg(r, reg, REG_UNDEFINED, 0);
		return true;
	case DW_CFA_same_value:
		set_reg(r, reg, REG_SAME, 0);
		return true;
	case DW_CFA_register:
		set_reg(r, reg, REG_REGISTER, (int64_t)take_uleb(b));
		return true;
	case DW_CFA_expression:
	case DW_CFA_val_expression: {
		struct reg_rule rule = take_expression(
			b, op == DW_CFA_expression ? REG_EXPRESSION : REG_VAL_EXPRESSION);

		if (reg < UNWIND_N_REGS)
			r->row.reg[reg] = rule;
		return true;
	}
	default:
		return false;
	}
}

/* Instructions that move on or keep state; anything else is malformed. */
static void run_other_op(struct run *r, uint8_t op, struct bytes *b)
{
	uint64_t scale = r->entry->code_align, at = r->row.begin;

	switch (op) {
	case DW_CFA_nop:
		break;
	case DW_CFA_set_loc:
		/* Plain addresses only; no compiler writes others here. */
		if (r->entry->encoding == DW_EH_PE_absptr)
			advance_to(r, take_u64(b));
		else
			r->bad = true;
		break;
	case DW_CFA_advance_loc1:
		advance_to(r, at + take_u8(b) * scale);
		break;
	case DW_CFA_advance_loc2:
		advance_to(r, at + take_u16(b) * scale);
		break;
	case DW_CFA_advance_loc4:
		advance_to(r, at + take_u32(b) * scale);
		break;
	case DW_CFA_remember_state:
		remember(r);
		break;
	case DW_CFA_restore_state:
		restore(r);
		break;
	case DW_CFA_GNU_args_size:
		take_uleb(b);
		break;
	case DW_CFA_AARCH64_negate_ra_state:
	case CFA_AARCH64_NEGATE_RA_STATE_WITH_PC:
		/* Signed return addresses are stripped whenever one is read. */
		break;
	default:
		r->bad = true;
	}
}

static void run_instructions(struct run *r, struct bytes b)
{
	while (bytes_left(&b) > 0 && !r->bad && !r->stopped) {
		uint8_t op = take_u8(&b), low = op & 0x3f;

		switch (op & 0xc0) {
		case DW_CFA_advance_loc:
			advance_to(r, r->row.begin + low * r->entry->code_align);
			break;
		case DW_CFA_offset:
			set_reg(r, low, REG_OFFSET, factored(r, (int64_t)take_uleb(&b)));
			break;
		case DW_CFA_restore:
			restore_reg(r, low);
			break;
		default:
			if (!run_cfa_op(r, op, &b) && !run_reg_op(r, op, &b))
				run_other_op(r, op, &b);
		}
		if (b.bad)
			r->bad = true;
	}
}

bool cfi_run(const struct cfi_entry *e, enum unwind_arch arch, cfi_row_fn *each, void *arg)
{
	struct run r = {
		.entry = e,
		.arch = arch,
		.row = { .begin = e->begin, .ra = e->ra, .signal = e->signal },
		.each = each,
		.arg = arg,
	};

	if (e->ra >= UNWIND_N_REGS || e->begin >= e->end)
		return false;
	run_instructions(&r, e->initial);
	r.initial = r.row;
	run_instructions(&r, e->program);
	if (!r.bad && !r.stopped)
		advance_to(&r, e->end);
	return !r.bad;
}

static enum cfi_step step_of(enum expr_result result)
{
	return result == EXPR_UNREADABLE ? CFI_UNREADABLE : CFI_UNKNOWN;
}

static enum cfi_step find_cfa(const struct cfi_row *row, const struct unwind_memory *m,
			      const struct unwind_regs *regs, uint64_t *cfa)
{
	enum expr_result result;

	if (row->cfa.how == REG_REGISTER) {
		if (!unwind_reg_known(regs, (unsigned)row->cfa.n))
			return CFI_UNKNOWN;
		*cfa = regs->at[row->cfa.n] + (uint64_t)row->cfa_offset;
		return CFI_STEPPED;
	}
	if (row->cfa.how != REG_VAL_EXPRESSION)
		return CFI_UNKNOWN;
	result = dwarf_expr_run(row->cfa.expr, row->cfa.n_expr, regs, m, NULL, cfa);
	return result == EXPR_OK ? CFI_STEPPED : step_of(result);
}

/* The caller's value of register n, by its rule. *known false: it has none. */
static enum cfi_step find_reg(const struct reg_rule *rule, unsigned n, uint64_t cfa,
			      const struct unwind_memory *m, const struct unwind_regs *regs,
			      uint64_t *value, bool *known)
{
	uint64_t at = cfa + (uint64_t)rule->n;
	enum expr_result result;

	*known = true;
	switch (rule->how) {
	case REG_UNSPECIFIED:
	case REG_SAME:
		*known = unwind_reg_known(regs, n);
		*value = regs->at[n];
		return CFI_STEPPED;
	case REG_UNDEFINED:
		*known = false;
		return CFI_STEPPED;
	case REG_REGISTER:
		*known = rule->n >= 0 && rule->n < UNWIND_N_REGS &&
			 unwind_reg_known(regs, (unsigned)rule->n);
		*value = *known ? regs->at[rule->n] : 0;
		return CFI_STEPPED;
	case REG_VAL_OFFSET:
		*value = at;
		return CFI_STEPPED;
	case REG_OFFSET:
		return unwind_load(m, at, value) ? CFI_STEPPED : CFI_UNREADABLE;
	case REG_EXPRESSION:
	case REG_VAL_EXPRESSION:
		result = dwarf_expr_run(rule->expr, rule->n_expr, regs, m, &cfa, value);
		if (result != EXPR_OK)
			return step_of(result);
		if (rule->how == REG_EXPRESSION && !unwind_load(m, *value, value))
			return CFI_UNREADABLE;
		return CFI_STEPPED;
	}
	return CFI_UNKNOWN;
}

/*
 * Is the slot of a register below the stack pointer? Then its value is back in the register:
 * compilers do not say so, as the slot still holds it, but no copy of the stack has it.
 */
static bool is_popped(const struct reg_rule *rule, uint64_t cfa, const struct unwind_regs *regs,
		      enum unwind_arch arch)
{
	return rule->how == REG_OFFSET && unwind_reg_known(regs, unwind_sp(arch)) &&
	       cfa + (uint64_t)rule->n < regs->at[unwind_sp(arch)];
}

enum cfi_step cfi_apply(const struct cfi_row *row, enum unwind_arch arch,
			const struct unwind_memory *m, struct unwind_regs *regs)
{
	static const struct reg_rule in_place = { .how = REG_SAME };
	struct unwind_regs next = { .known = 0 };
	uint64_t cfa = 0, value = 0;
	enum cfi_step step;
	bool known;

	if (row->reg[row->ra].how == REG_UNDEFINED)
		return CFI_OUTERMOST;
	step = find_cfa(row, m, regs, &cfa);
	if (step != CFI_STEPPED)
		return step;
	for (unsigned n = 0; n < UNWIND_N_REGS; n++) {
		step = find_reg(&row->reg[n], n, cfa, m, regs, &value, &known);
		/* What cannot be read is only needed for where we are going. */
		if (step != CFI_STEPPED && n == row->ra)
			return step;
		if (step == CFI_UNREADABLE && is_popped(&row->reg[n], cfa, regs, arch))
			step = find_reg(&in_place, n, cfa, m, regs, &value, &known);
		if (step == CFI_STEPPED && known)
			unwind_reg_set(&next, n, value);
	}
	if (row->reg[unwind_sp(arch)].how == REG_UNSPECIFIED)
		unwind_reg_set(&next, unwind_sp(arch), cfa);
	if (!unwind_reg_known(&next, row->ra))
		return CFI_UNKNOWN;
	unwind_reg_set(&next, unwind_pc(arch), unwind_strip(arch, next.at[row->ra]));
	*regs = next;
	return CFI_STEPPED;
}
