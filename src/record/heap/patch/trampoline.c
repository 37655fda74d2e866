/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What may be moved is a list of what compilers begin functions with, and everything else may not. */
#include "config.h"

#include "record/heap/patch/trampoline.h"

#include "record/heap/patch/x86_code.h"

#include <string.h>

static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };

static size_t begin_of(const struct code *f)
{
	bool marked = f->n >= sizeof(endbr64) && memcmp(f->bytes, endbr64, sizeof(endbr64)) == 0;

	return marked ? sizeof(endbr64) : 0;
}

/* Instructions of one byte of opcode that do the same at any address. */
static bool is_plain_byte(uint8_t op)
{
	if (op < 0x40)
		return true; /* add, or, adc, sbb, and, sub, xor, cmp */
	switch (op) {
	case 0x63: /* movsxd */
	case 0x68: /* push */
	case 0x69: /* imul */
	case 0x6a:
	case 0x6b:
	case 0x80: /* arithmetic with an immediate */
	case 0x81:
	case 0x83:
	case 0x84: /* test */
	case 0x85:
	case 0x88: /* mov */
	case 0x89:
	case 0x8a:
	case 0x8b:
	case 0x8d: /* lea */
	case 0x90: /* nop */
	case 0x98: /* cdqe, cqo */
	case 0x99:
	case 0xa8: /* test */
	case 0xa9:
	case 0xc0: /* shifts */
	case 0xc1:
	case 0xc6: /* mov */
	case 0xc7:
	case 0xd0: /* shifts */
	case 0xd1:
	case 0xd2:
	case 0xd3:
	case 0xf6: /* test, not, neg, mul, div */
	case 0xf7:
		return true;
	default:
		return op >> 4 == 5 || op >> 4 == 11; /* push, pop; mov */
	}
}

/* The same of those that begin with 0f. */
static bool is_plain_0f(uint8_t op)
{
	switch (op) {
	case 0x10: /* moves of vectors */
	case 0x11:
	case 0x12:
	case 0x13:
	case 0x16:
	case 0x17:
	case 0x1e: /* nops */
	case 0x1f:
	case 0x28: /* movaps */
	case 0x29:
	case 0x54: /* andps, andnps, orps, xorps */
	case 0x55:
	case 0x56:
	case 0x57:
	case 0x6c: /* punpcklqdq, punpckhqdq */
	case 0x6d:
	case 0x6e: /* moves of vectors */
	case 0x6f:
	case 0x70: /* pshufd */
	case 0x7e:
	case 0x7f:
	case 0xa3: /* bt */
	case 0xa4: /* shld, shrd */
	case 0xa5:
	case 0xac:
	case 0xad:
	case 0xaf: /* imul */
	case 0xb6: /* movzx */
	case 0xb7:
	case 0xb8: /* popcnt */
	case 0xba: /* bt */
	case 0xbc: /* bsf, bsr */
	case 0xbd:
	case 0xbe: /* movsx */
	case 0xbf:
	case 0xd6: /* movq */
	case 0xef: /* pxor */
		return true;
	default:
		return op >> 4 == 4 || op >> 4 == 9; /* cmov, set */
	}
}

/* To a place that is known, or by a word at one. */
static bool is_call(const struct x86_insn *i)
{
	return i->flow == X86_CALL || (i->flow == X86_CALL_INDIRECT && i->rip_at);
}

/* Does it the same elsewhere, or can it be made to? */
static bool is_movable(const struct x86_insn *i)
{
	if (i->vex || i->narrow || i->map > 1)
		return false;
	if (i->flow == X86_BRANCH || i->flow == X86_JUMP || is_call(i))
		return true;
	if (i->flow != X86_ON)
		return false;
	return i->map ? is_plain_0f(i->opcode) : is_plain_byte(i->opcode);
}

static bool leads(const struct x86_insn *i)
{
	return i->flow == X86_BRANCH || i->flow == X86_LOOP || i->flow == X86_JUMP ||
	       i->flow == X86_CALL;
}

static uint64_t target(const struct x86_insn *i, uint64_t address)
{
	return address + i->n + (uint64_t)(int64_t)i->to;
}

/* Is `to` within what was moved? Its first byte is a jump now, to which anybody may come. */
static bool hits(uint64_t to, const struct code *f, const struct code_plan *plan)
{
	uint64_t offset = to - f->address;

	return offset < plan->end && offset > 0 && offset != plan->at;
}

/* No instruction of its own leads back to its beginning, unless it calls itself, and none to an unknown place. */
static const char *check_body(const struct code *f, const struct code_plan *plan)
{
	struct x86_insn i;
	uint64_t to;

	for (size_t at = plan->at; at < f->n; at += i.n) {
		if (!x86_decode(f->bytes + at, f->n - at, &i))
			return "it has an instruction that is not known";
		/* One by a word at a known place is the last call of a function of a library. */
		if (i.flow == X86_JUMP_INDIRECT && !i.rip_at)
			return "it has a jump by a table";
		to = target(&i, f->address + at);
		if (leads(&i) && to - f->address < plan->end &&
		    (i.flow != X86_CALL || hits(to, f, plan)))
			return "it jumps to its beginning";
	}
	return NULL;
}

const char *code_plan(const struct code *f, struct code_plan *plan)
{
	struct code_plan p = { 0 };
	size_t at = begin_of(f);
	struct x86_insn i;
	const char *why;

	p.at = (uint8_t)at;
	while (at < p.at + CODE_JUMP_BYTES) {
		if (at >= f->n)
			return "it is shorter than a jump";
		if (!x86_decode(f->bytes + at, f->n - at, &i) || !is_movable(&i))
			return "it begins with an instruction that is not moved";
		at += i.n;
		/* What follows a jump may be no code. A call must be the last. */
		if ((i.flow == X86_JUMP || is_call(&i)) && at < p.at + CODE_JUMP_BYTES)
			return "it is shorter than a jump";
	}
	p.end = (uint8_t)at;
	p.calls = is_call(&i);
	why = check_body(f, &p);
	if (!why)
		*plan = p;
	return why;
}

bool code_stays_out(const struct code *other, const struct trampoline *m)
{
	struct x86_insn i;

	for (size_t at = 0; at < other->n; at += i.n) {
		if (!x86_decode(other->bytes + at, other->n - at, &i))
			return false;
		if (leads(&i) && hits(target(&i, other->address + at), &m->code, &m->plan))
			return false;
	}
	return true;
}

bool code_next_call(const struct code *f, size_t *at, uint64_t *to)
{
	struct x86_insn i;
	uint64_t from;

	while (*at < f->n && x86_decode(f->bytes + *at, f->n - *at, &i)) {
		from = f->address + *at;
		*at += i.n;
		*to = i.flow == X86_CALL || i.flow == X86_JUMP ? target(&i, from) : 0;
		if (i.flow == X86_CALL_INDIRECT || (i.flow == X86_JUMP_INDIRECT && i.rip_at) ||
		    (*to != 0 && *to - f->address >= f->n))
			return true;
	}
	return false;
}

static const struct trampoline *hit_by(uint64_t to, const struct trampoline *const *m, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (hits(to, &m[i]->code, &m[i]->plan))
			return m[i];
	return NULL;
}

/* Where it leads, if an instruction with a distance of four bytes begins at p; 0: none does. */
static uint64_t far_target(const struct code *text, size_t at)
{
	const uint8_t *p = text->bytes + at;
	size_t skip = *p == 0xe8 || *p == 0xe9 ? 1 : *p == 0x0f ? 2 : 0;
	int32_t distance;

	if (skip == 0 || at + skip + sizeof(distance) > text->n || (skip == 2 && p[1] >> 4 != 8))
		return 0;
	memcpy(&distance, p + skip, sizeof(distance));
	return text->address + at + skip + sizeof(distance) + (uint64_t)(int64_t)distance;
}

const struct trampoline *code_hit(const struct code *text, size_t *at,
				  const struct trampoline *const *m, size_t n)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t end = m[i]->code.address + m[i]->plan.end;

		low = m[i]->code.address < low ? m[i]->code.address : low;
		high = end > high ? end : high;
	}
	for (; *at < text->n; ++*at) {
		uint64_t to = far_target(text, *at);
		const struct trampoline *hit = to >= low && to < high ? hit_by(to, m, n) : NULL;

		if (hit)
			return hit;
	}
	return NULL;
}

bool code_is_jump(const struct code *f, uint64_t *to)
{
	size_t at = begin_of(f);
	struct x86_insn i;

	if (at >= f->n || !x86_decode(f->bytes + at, f->n - at, &i) || i.flow != X86_JUMP)
		return false;
	*to = target(&i, f->address + at);
	return at + i.n == f->n;
}

/* Four bytes that say how far it is from `end` to `to`. */
static bool put_distance(uint8_t *out, uint64_t end, uint64_t to)
{
	int64_t distance = (int64_t)(to - end);
	int32_t narrow = (int32_t)distance;

	if (narrow != distance)
		return false;
	memcpy(out, &narrow, sizeof(narrow));
	return true;
}

bool code_write_jump(uint8_t out[CODE_JUMP_BYTES], uint64_t from, uint64_t to)
{
	out[0] = 0xe9;
	return put_distance(out + 1, from + CODE_JUMP_BYTES, to);
}

/*
 * As the call would, but to return to where it was: pushes that address, and jumps. An unwinder finds the function then,
 * and not its moved beginning.
 *
 *	pushq back(%rip); jmp to    or    pushq back(%rip); jmpq *word(%rip)
 *	back: the address
 */
static size_t move_call(const struct code *f, size_t at, const struct x86_insn *i, uint64_t address,
			uint8_t *out)
{
	uint64_t from = f->address + at, back = from + i->n, to = target(i, from);
	uint8_t jump_bytes = i->flow == X86_CALL ? CODE_JUMP_BYTES : CODE_JUMP_BYTES + 1;
	const uint8_t push[] = { 0xff, 0x35, jump_bytes, 0, 0, 0 };
	uint8_t *jump = out + sizeof(push);
	int32_t distance;

	address += sizeof(push);
	memcpy(out, push, sizeof(push));
	memcpy(jump + jump_bytes, &back, sizeof(back));
	if (i->flow == X86_CALL) {
		if (!code_write_jump(jump, address, to))
			return 0;
	} else {
		jump[0] = 0xff;
		jump[1] = 0x25;
		memcpy(&distance, f->bytes + at + i->rip_at, sizeof(distance));
		if (!put_distance(jump + 2, address + jump_bytes,
				  back + (uint64_t)(int64_t)distance))
			return 0;
	}
	return sizeof(push) + jump_bytes + sizeof(back);
}

/* One instruction of f at `at`, to run at `address`. Returns how long it is there; 0: too far. */
static size_t move_one(const struct code *f, size_t at, const struct x86_insn *i, uint64_t address,
		       uint8_t *out)
{
	uint64_t from = f->address + at, to = target(i, from);
	int32_t distance;

	if (is_call(i))
		return move_call(f, at, i, address, out);
	if (i->flow == X86_JUMP)
		return code_write_jump(out, address, to) ? CODE_JUMP_BYTES : 0;
	if (i->flow == X86_BRANCH) {
		out[0] = 0x0f;
		out[1] = 0x80 | (i->opcode & 15);
		return put_distance(out + 2, address + 6, to) ? 6 : 0;
	}
	memcpy(out, f->bytes + at, i->n);
	if (i->rip_at) {
		memcpy(&distance, out + i->rip_at, sizeof(distance));
		to = from + i->n + (uint64_t)(int64_t)distance;
		if (!put_distance(out + i->rip_at, address + i->n, to))
			return 0;
	}
	return i->n;
}

size_t code_write_moved(const struct trampoline *m, uint64_t address, uint8_t out[CODE_MOVED_BYTES])
{
	const struct code *f = &m->code;
	size_t n = sizeof(endbr64), moved;
	struct x86_insn i = { 0 };

	/* It is called by its address. */
	memcpy(out, endbr64, sizeof(endbr64));
	for (size_t at = m->plan.at; at < m->plan.end; at += i.n) {
		if (!x86_decode(f->bytes + at, m->plan.end - at, &i))
			return 0;
		moved = move_one(f, at, &i, address + n, out + n);
		if (!moved)
			return 0;
		n += moved;
	}
	if (i.flow == X86_JUMP || is_call(&i))
		return n;
	if (!code_write_jump(out + n, address + n, f->address + m->plan.end))
		return 0;
	return n + CODE_JUMP_BYTES;
}
