/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A stack machine for CFI's expressions. An operation that CFI may not use (calls, locations of
 * variables) is malformed here.
 */
#include "config.h"

#include "unwind/dwarf_expr.h"

#include "unwind/leb.h"

#include <dwarf.h>

#define MAX_CELLS 64
#define MAX_STEPS 1000

struct machine {
	uint64_t cell[MAX_CELLS]; /* the stack; n of them */
	unsigned n;
	struct bytes code;    /* what is still to run */
	const uint8_t *start; /* of the whole expression, for branches */
	const struct unwind_regs *regs;
	const struct unwind_memory *memory;
	enum expr_result result; /* EXPR_OK until something fails */
};

static void fail(struct machine *m, enum expr_result why)
{
	if (m->result == EXPR_OK)
		m->result = why;
}

static void push(struct machine *m, uint64_t v)
{
	if (m->n == MAX_CELLS)
		fail(m, EXPR_BAD);
	else
		m->cell[m->n++] = v;
}

static uint64_t pop(struct machine *m)
{
	if (m->n == 0) {
		fail(m, EXPR_BAD);
		return 0;
	}
	return m->cell[--m->n];
}

static void push_reg(struct machine *m, uint64_t reg, int64_t offset)
{
	if (reg >= UNWIND_N_REGS || !unwind_reg_known(m->regs, (unsigned)reg))
		fail(m, EXPR_BAD);
	else
		push(m, m->regs->at[reg] + (uint64_t)offset);
}

static void load(struct machine *m, unsigned n_bytes)
{
	uint64_t v = 0;

	if (n_bytes == 0 || n_bytes > 8)
		fail(m, EXPR_BAD);
	else if (!unwind_load(m->memory, pop(m), &v))
		fail(m, EXPR_UNREADABLE);
	else
		push(m, n_bytes == 8 ? v : v & ((UINT64_C(1) << n_bytes * 8) - 1));
}

static void branch(struct machine *m, bool taken)
{
	int16_t by = (int16_t)take_u16(&m->code);
	ptrdiff_t to = m->code.at - m->start + by;

	if (!taken || m->code.bad)
		return;
	if (to < 0 || to > m->code.end - m->start)
		fail(m, EXPR_BAD);
	else
		m->code.at = m->start + to;
}

/* Operations that push a constant; false: op is none. */
static bool run_constant(struct machine *m, uint8_t op)
{
	struct bytes *b = &m->code;

	if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
		push(m, (uint64_t)(op - DW_OP_lit0));
		return true;
	}
	switch (op) {
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		push(m, take_u64(b));
		return true;
	case DW_OP_const1u:
		push(m, take_u8(b));
		return true;
	case DW_OP_const1s:
		push(m, (uint64_t)(int8_t)take_u8(b));
		return true;
	case DW_OP_const2u:
		push(m, take_u16(b));
		return true;
	case DW_OP_const2s:
		push(m, (uint64_t)(int16_t)take_u16(b));
		return true;
	case DW_OP_const4u:
		push(m, take_u32(b));
		return true;
	case DW_OP_const4s:
		push(m, (uint64_t)(int32_t)take_u32(b));
		return true;
	case DW_OP_constu:
		push(m, take_uleb(b));
		return true;
	case DW_OP_consts:
		push(m, (uint64_t)take_sleb(b));
		return true;
	default:
		return false;
	}
}

/* Operations that move cells about, read registers or memory; false: op is none. */
static bool run_stack(struct machine *m, uint8_t op)
{
	uint64_t a, b, c;

	switch (op) {
	case DW_OP_dup:
	case DW_OP_over:
	case DW_OP_pick:
		a = op == DW_OP_dup ? 0 : op == DW_OP_over ? 1 : take_u8(&m->code);
		if (a < m->n)
			push(m, m->cell[m->n - 1 - a]);
		else
			fail(m, EXPR_BAD);
		return true;
	case DW_OP_drop:
		pop(m);
		return true;
	case DW_OP_swap:
		a = pop(m);
		b = pop(m);
		push(m, a);
		push(m, b);
		return true;
	case DW_OP_rot:
		a = pop(m);
		b = pop(m);
		c = pop(m);
		push(m, a);
		push(m, c);
		push(m, b);
		return true;
	case DW_OP_bregx:
		a = take_uleb(&m->code);
		push_reg(m, a, take_sleb(&m->code));
		return true;
	case DW_OP_deref:
		load(m, 8);
		return true;
	case DW_OP_deref_size:
		load(m, take_u8(&m->code));
		return true;
	case DW_OP_nop:
		return true;
	default:
		return false;
	}
}

/* Operations on one cell, and branches; false: op is none. */
static bool run_unary(struct machine *m, uint8_t op)
{
	uint64_t a;

	switch (op) {
	case DW_OP_abs:
		a = pop(m);
		push(m, (int64_t)a < 0 ? 0 - a : a);
		return true;
	case DW_OP_neg:
		push(m, 0 - pop(m));
		return true;
	case DW_OP_not:
		push(m, ~pop(m));
		return true;
	case DW_OP_plus_uconst:
		a = pop(m);
		push(m, a + take_uleb(&m->code));
		return true;
	case DW_OP_skip:
		branch(m, true);
		return true;
	case DW_OP_bra:
		branch(m, pop(m) != 0);
		return true;
	default:
		return false;
	}
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
	if (b == 0) {
		fail(m, EXPR_BAD);
		return 0;
	}
	if (b == UINT64_MAX)
		return 0 - a;
	return (uint64_t)((int64_t)a / (int64_t)b);
}

static bool compare(uint8_t op, int64_t a, int64_t b, uint64_t *out)
{
	switch (op) {
	case DW_OP_eq:
		*out = a == b;
		return true;
	case DW_OP_ne:
		*out = a != b;
		return true;
	case DW_OP_ge:
		*out = a >= b;
		return true;
	case DW_OP_gt:
		*out = a > b;
		return true;
	case DW_OP_le:
		*out = a <= b;
		return true;
	case DW_OP_lt:
		*out = a < b;
		return true;
	default:
		return false;
	}
}

/* a op b for two-cell operations; false: op is none. */
static bool combine(struct machine *m, uint8_t op, uint64_t a, uint64_t b, uint64_t *out)
{
	switch (op) {
	case DW_OP_and:
		*out = a & b;
		return true;
	case DW_OP_or:
		*out = a | b;
		return true;
	case DW_OP_xor:
		*out = a ^ b;
		return true;
	case DW_OP_plus:
		*out = a + b;
		return true;
	case DW_OP_minus:
		*out = a - b;
		return true;
	case DW_OP_mul:
		*out = a * b;
		return true;
	case DW_OP_div:
		*out = divide(m, a, b);
		return true;
	case DW_OP_mod:
		if (b == 0)
			fail(m, EXPR_BAD);
		*out = b ? a % b : 0;
		return true;
	case DW_OP_shl:
		*out = b < 64 ? a << b : 0;
		return true;
	case DW_OP_shr:
		*out = b < 64 ? a >> b : 0;
		return true;
	case DW_OP_shra:
		*out = (uint64_t)((int64_t)a >> (b < 64 ? b : 63));
		return true;
	default:
		return compare(op, (int64_t)a, (int64_t)b, out);
	}
}

static void run_op(struct machine *m, uint8_t op)
{
	uint64_t a, b, v = 0;

	if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
		push_reg(m, (uint64_t)(op - DW_OP_breg0), take_sleb(&m->code));
		return;
	}
	if (run_constant(m, op) || run_stack(m, op) || run_unary(m, op))
		return;
	b = pop(m);
	a = pop(m);
	if (combine(m, op, a, b, &v))
		push(m, v);
	else
		fail(m, EXPR_BAD);
}

enum expr_result dwarf_expr_run(const uint8_t *code, size_t n, const struct unwind_regs *regs,
				const struct unwind_memory *memory, const uint64_t *first,
				uint64_t *out)
{
	struct machine m = {
		.code = bytes_over(code, n, false),
		.start = code,
		.regs = regs,
		.memory = memory,
	};

	if (first)
		push(&m, *first);
	for (int step = 0; bytes_left(&m.code) > 0; step++) {
		if (step == MAX_STEPS)
			return EXPR_BAD;
		run_op(&m, take_u8(&m.code));
		if (m.code.bad)
			return EXPR_BAD;
		if (m.result != EXPR_OK)
			return m.result;
	}
	if (m.n == 0)
		return EXPR_BAD;
	*out = m.cell[m.n - 1];
	return EXPR_OK;
}
