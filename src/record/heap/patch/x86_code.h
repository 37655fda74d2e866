/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Instructions of x86_64 in 64-bit mode: how long they are, where they say an address that counts from their own
 * end, and where they lead. Not what they do. What is not known is refused.
 *
 * Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and appendix A.
 */
#ifndef PROFTOP_RECORD_HEAP_PATCH_X86_CODE_H
#define PROFTOP_RECORD_HEAP_PATCH_X86_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define X86_MOST_BYTES 15u

/* Where an instruction leads. */
enum x86_flow {
	X86_ON,            /* to the next one */
	X86_BRANCH,        /* there, or to the next one: a jump with a condition of the flags */
	X86_LOOP,          /* the same with a condition of rcx: loop, jrcxz */
	X86_JUMP,          /* there */
	X86_CALL,          /* there and back */
	X86_JUMP_INDIRECT, /* to where a register or a word of memory says */
	X86_CALL_INDIRECT, /* there and back */
	X86_STOP           /* away: ret, ud2, hlt, int3 */
};

struct x86_insn {
	uint8_t n; /* bytes */
	uint8_t map; /* of the opcode: 0 is one byte, 1 is 0f, 2 is 0f 38, 3 is 0f 3a, others are newer */
	uint8_t opcode; /* its last byte */
	uint8_t modrm;  /* 0: may be none */
	uint8_t flow;   /* enum x86_flow */
	uint8_t rip_at; /* the offset of four bytes that say how far from the end its operand is; 0: none */
	int32_t to;  /* BRANCH, LOOP, JUMP, CALL: so many bytes from its end */
	bool narrow; /* addresses are of 32 bits */
	bool vex;    /* VEX or EVEX */
};

/* Reads the instruction at p, of which n bytes are there. Returns its length; 0: not known, or cut. */
unsigned x86_decode(const uint8_t *p, size_t n, struct x86_insn *out);

#endif
