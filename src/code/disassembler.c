/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The only file that includes capstone. */
#include "config.h"

#include "code/disassembler.h"

#include <capstone/capstone.h>
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

struct disassembler {
	csh handle;
	cs_insn *insn; /* of capstone; owned */
	uint16_t machine;
	uint8_t unit; /* bytes that are skipped where there is no instruction */
	char text[sizeof(((cs_insn *)0)->mnemonic) + sizeof(((cs_insn *)0)->op_str) + 2];
};

struct disassembler *disassembler_new(uint16_t machine, bool is64)
{
	struct disassembler *d;
	cs_arch arch = CS_ARCH_X86;
	cs_mode mode = is64 ? CS_MODE_64 : CS_MODE_32;
	csh handle;

	if (machine == EM_AARCH64) {
		arch = CS_ARCH_ARM64;
		mode = CS_MODE_ARM;
	} else if (machine != EM_X86_64 && machine != EM_386) {
		return NULL;
	}
	if (cs_open(arch, mode, &handle) != CS_ERR_OK)
		return NULL;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	if (arch == CS_ARCH_X86)
		cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
	d = xcalloc(1, sizeof(*d));
	d->handle = handle;
	d->insn = cs_malloc(handle);
	d->machine = machine;
	d->unit = arch == CS_ARCH_X86 ? 1 : 4;
	if (d->insn)
		return d;
	disassembler_free(d);
	return NULL;
}

void disassembler_free(struct disassembler *d)
{
	if (!d)
		return;
	if (d->insn)
		cs_free(d->insn, 1);
	cs_close(&d->handle);
	free(d);
}

/* Where a jump goes, or what an operand is relative to the instruction. */
static void find_target_x86(const cs_insn *insn, struct decoded *out)
{
	const cs_x86 *x = &insn->detail->x86;

	for (uint8_t i = 0; i < x->op_count; i++) {
		const cs_x86_op *op = &x->operands[i];

		if (op->type == X86_OP_IMM && out->flow != FLOW_ON && out->flow != FLOW_RETURN)
			out->target = (uint64_t)op->imm;
		if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP)
			out->refers = insn->address + insn->size + (uint64_t)op->mem.disp;
	}
}

static void find_target_arm64(const cs_insn *insn, struct decoded *out)
{
	const cs_arm64 *x = &insn->detail->arm64;

	if (x->op_count == 0 || x->operands[x->op_count - 1].type != ARM64_OP_IMM)
		return;
	if (out->flow != FLOW_ON && out->flow != FLOW_RETURN)
		out->target = (uint64_t)x->operands[x->op_count - 1].imm;
	else if (insn->id == ARM64_INS_ADRP || insn->id == ARM64_INS_ADR)
		out->refers = (uint64_t)x->operands[x->op_count - 1].imm;
}

static enum code_flow flow_x86(csh handle, const cs_insn *insn)
{
	if (cs_insn_group(handle, insn, CS_GRP_RET) || cs_insn_group(handle, insn, CS_GRP_IRET))
		return FLOW_RETURN;
	if (cs_insn_group(handle, insn, CS_GRP_CALL))
		return FLOW_CALL;
	if (!cs_insn_group(handle, insn, CS_GRP_JUMP))
		return FLOW_ON;
	return insn->id == X86_INS_JMP || insn->id == X86_INS_LJMP ? FLOW_JUMP : FLOW_BRANCH;
}

static enum code_flow flow_arm64(csh handle, const cs_insn *insn)
{
	switch (insn->id) {
	case ARM64_INS_RET:
		return FLOW_RETURN;
	case ARM64_INS_BL:
	case ARM64_INS_BLR:
		return FLOW_CALL;
	case ARM64_INS_BR:
		return FLOW_JUMP;
	case ARM64_INS_B:
		return insn->detail->arm64.cc == ARM64_CC_INVALID ||
				       insn->detail->arm64.cc == ARM64_CC_AL
			       ? FLOW_JUMP
			       : FLOW_BRANCH;
	default:
		return cs_insn_group(handle, insn, CS_GRP_JUMP) ? FLOW_BRANCH : FLOW_ON;
	}
}

/* Bytes of a ModRM byte with what belongs to it, 0 where they end too soon; the Intel manual, volume 2, 2.1.5. */
static size_t modrm_bytes(const uint8_t *at, size_t n)
{
	uint8_t mod, rm;
	size_t bytes = 1;

	if (n == 0)
		return 0;
	mod = at[0] >> 6;
	rm = at[0] & 7;
	if (mod == 3)
		return 1;
	if (rm == 4) { /* a SIB byte */
		if (n < 2)
			return 0;
		rm = at[1] & 7;
		bytes = 2;
	}
	if (mod == 0)
		return bytes + (rm == 5 ? 4 : 0);
	return bytes + (mod == 1 ? 1 : 4);
}

/* Maps of opcodes, as VEX and EVEX prefixes number them. */
#define MAP_0F   1
#define MAP_0F3A 3

static bool has_immediate(uint8_t map, uint8_t opcode)
{
	if (map == MAP_0F)
		return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
		       (opcode >= 0xc4 && opcode <= 0xc6);
	return map == MAP_0F3A;
}

/*
 * How long an instruction of AVX or AVX-512 is, whatever it does: the library knows not all of them, and what follows is read right
 * only from where it begins. 0: it is none.
 */
static size_t vector_bytes(const uint8_t *code, size_t n)
{
	size_t head, modrm;
	uint8_t map;

	if (n < 4)
		return 0;
	switch (code[0]) {
	case 0xc5:
		head = 2;
		map = MAP_0F;
		break;
	case 0xc4:
		head = 3;
		map = code[1] & 0x1f;
		break;
	case 0x62:
		head = 4;
		map = code[1] & 7;
		break;
	default:
		return 0;
	}
	if (n <= head + 1)
		return 0;
	modrm = modrm_bytes(code + head + 1, n - head - 1);
	if (modrm == 0)
		return 0;
	head += 1 + modrm + has_immediate(map, code[head]);
	return head <= n ? head : 0;
}

/* Bytes up to the next place where an instruction may begin. */
static size_t data_bytes(const struct disassembler *d, const uint8_t *code, size_t n)
{
	/* In 32-bit programs these bytes begin instructions of old, too, which the library knows. */
	size_t bytes = d->machine == EM_X86_64 ? vector_bytes(code, n) : 0;

	/* rdpkru, wrpkru, serialize and their kind */
	if (bytes == 0 && d->machine == EM_X86_64 && n >= 3 && code[0] == 0x0f && code[1] == 0x01 &&
	    code[2] >= 0xc0)
		bytes = 3;
	if (bytes == 0)
		bytes = d->unit;
	return bytes < n ? bytes : n;
}

/* What is no instruction, or none that the library knows. */
static void decode_data(struct disassembler *d, const uint8_t **code, size_t *n, uint64_t *address,
			struct decoded *out)
{
	uint8_t bytes = (uint8_t)data_bytes(d, *code, *n);
	int at = snprintf(d->text, sizeof(d->text), ".byte ");

	for (uint8_t i = 0; i < bytes; i++)
		at += snprintf(d->text + at, sizeof(d->text) - (size_t)at, "%s0x%02x",
			       i ? ", " : "", (*code)[i]);
	out->text = d->text;
	out->n_bytes = bytes;
	out->is_data = true;
	*code += bytes;
	*n -= bytes;
	*address += bytes;
}

bool disassembler_next(struct disassembler *d, const uint8_t **code, size_t *n, uint64_t *address,
		       struct decoded *out)
{
	const cs_insn *insn = d->insn;

	*out = (struct decoded){ .address = *address,
				 .target = CODE_NO_TARGET,
				 .refers = CODE_NO_TARGET };
	if (*n == 0)
		return false;
	if (!cs_disasm_iter(d->handle, code, n, address, d->insn) || insn->size == 0) {
		decode_data(d, code, n, address, out);
		return true;
	}
	if (d->machine == EM_AARCH64) {
		out->flow = flow_arm64(d->handle, insn);
		find_target_arm64(insn, out);
	} else {
		out->flow = flow_x86(d->handle, insn);
		find_target_x86(insn, out);
	}
	snprintf(d->text, sizeof(d->text), insn->op_str[0] ? "%-7s %s" : "%s", insn->mnemonic,
		 insn->op_str);
	out->text = d->text;
	out->n_bytes = (uint8_t)insn->size;
	return true;
}

const char *disassembler_machine(uint16_t machine, char out[32])
{
	switch (machine) {
	case EM_X86_64:
		return "x86-64";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "AArch64";
	case EM_ARM:
		return "ARM";
	case EM_RISCV:
		return "RISC-V";
	case EM_PPC64:
		return "PowerPC";
	case EM_S390:
		return "s390";
	default:
		snprintf(out, 32, "machine %u", machine);
		return out;
	}
}
