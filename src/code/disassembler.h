/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Machine code to instructions as text, through capstone: x86-64 and i386 in AT&T syntax, as objdump
 * and perf print them, and AArch64. Any bytes may come: those that are no instruction become ".byte".
 */
#ifndef PROFTOP_CODE_DISASSEMBLER_H
#define PROFTOP_CODE_DISASSEMBLER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disassembler;

/* What an instruction does to the flow of control. */
enum code_flow {
	FLOW_ON,     /* goes on with the next one */
	FLOW_BRANCH, /* may go elsewhere: a conditional jump */
	FLOW_JUMP,   /* goes elsewhere */
	FLOW_CALL,
	FLOW_RETURN
};

#define CODE_NO_TARGET UINT64_MAX

struct decoded {
	uint64_t address; /* as the code's was given */
	uint64_t target;  /* of a direct jump or call; CODE_NO_TARGET */
	uint64_t
		refers; /* an address that it names otherwise (relative to itself); CODE_NO_TARGET */
	const char *text; /* mnemonic and operands; borrowed until the next one */
	uint8_t n_bytes;  /* > 0 */
	enum code_flow flow;
	bool is_data; /* no instruction */
};

/* By ELF's EM_…; NULL when there is none for such a machine. */
struct disassembler *disassembler_new(uint16_t machine, bool is64);
void disassembler_free(struct disassembler *d);

/* The next instruction of *code, which moves on with *n and *address; false at its end. */
bool disassembler_next(struct disassembler *d, const uint8_t **code, size_t *n, uint64_t *address,
		       struct decoded *out);

/* Is such a machine known? Its name otherwise, or "machine N" in out. */
const char *disassembler_machine(uint16_t machine, char out[32]);

#endif
