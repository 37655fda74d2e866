/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prefixes, opcode, ModRM, SIB, displacement, immediate: by one letter for each opcode. */
#include "config.h"

#include "record/heap/patch/x86_code.h"

#include <string.h>

/*
 * What follows an opcode:
 *   .  nothing                 M  ModRM
 *   b  a byte                  m  ModRM, a byte
 *   z  4 bytes, 2 with 66      n  ModRM, 4 bytes, 2 with 66
 *   v  the same, 8 with REX.W  w  2 bytes
 *   a  an address of 8 bytes, 4 with 67
 *   e  3 bytes (enter)
 *   j  a byte that says where to        J  4 bytes that do
 *   t  ModRM, and as b for /0 and /1    T  ModRM, and as z for /0 and /1
 *   -  not in 64-bit mode, a prefix, or read otherwise
 */
static const char one_byte[] = /* 00 */ "MMMMbz--MMMMbz--"
					/* 10 */ "MMMMbz--MMMMbz--"
					/* 20 */ "MMMMbz--MMMMbz--"
					/* 30 */ "MMMMbz--MMMMbz--"
					/* 40 */ "----------------"
					/* 50 */ "................"
					/* 60 */ "---M----znbm...."
					/* 70 */ "jjjjjjjjjjjjjjjj"
					/* 80 */ "mn-mMMMMMMMMMMMM"
					/* 90 */ "..........-....."
					/* a0 */ "aaaa....bz......"
					/* b0 */ "bbbbbbbbvvvvvvvv"
					/* c0 */ "mmw.--mne.w..b-."
					/* d0 */ "MMMM---.MMMMMMMM"
					/* e0 */ "jjjjbbbbJJ-j...."
					/* f0 */ "-.--..tT......MM";

static const char two_bytes[] = /* 00 */ "MMMM-.....-.-M.m"
					 /* 10 */ "MMMMMMMMMMMMMMMM"
					 /* 20 */ "MMMM----MMMMMMMM"
					 /* 30 */ "......-.--------"
					 /* 40 */ "MMMMMMMMMMMMMMMM"
					 /* 50 */ "MMMMMMMMMMMMMMMM"
					 /* 60 */ "MMMMMMMMMMMMMMMM"
					 /* 70 */ "mmmmMMM.MM--MMMM"
					 /* 80 */ "JJJJJJJJJJJJJJJJ"
					 /* 90 */ "MMMMMMMMMMMMMMMM"
					 /* a0 */ "...MmM--...MmMMM"
					 /* b0 */ "MMMMMMMMMMmMMMMM"
					 /* c0 */ "MMmMmmmM........"
					 /* d0 */ "MMMMMMMMMMMMMMMM"
					 /* e0 */ "MMMMMMMMMMMMMMMM"
					 /* f0 */ "MMMMMMMMMMMMMMMM";

struct reader {
	const uint8_t *p;
	size_t n;  /* bytes at p, no more than an instruction has */
	size_t at; /* the next one */
	bool bad;  /* more were taken than there are */
	bool operand_16, address_32, rex_w;
	uint8_t repeat; /* f2 or f3, or 0 */
};

static uint8_t take(struct reader *r)
{
	if (r->at == r->n) {
		r->bad = true;
		return 0;
	}
	return r->p[r->at++];
}

static void skip(struct reader *r, size_t n)
{
	if (n > r->n - r->at) {
		r->bad = true;
		n = r->n - r->at;
	}
	r->at += n;
}

/* Legacy prefixes and REX. Returns the byte after them. */
static uint8_t take_prefixes(struct reader *r)
{
	for (;;) {
		uint8_t byte = take(r);

		switch (byte) {
		case 0x66:
			r->operand_16 = true;
			break;
		case 0x67:
			r->address_32 = true;
			break;
		case 0xf2:
		case 0xf3:
			r->repeat = byte;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
		case 0x64:
		case 0x65:
		case 0xf0:
			break;
		default:
			if (byte >> 4 != 4)
				return byte;
			r->rex_w = byte & 8;
			return take(r);
		}
		if (r->bad)
			return 0;
	}
}

/* ModRM with what belongs to it. */
static void take_modrm(struct reader *r, struct x86_insn *out)
{
	uint8_t modrm = take(r), mod = modrm >> 6, rm = modrm & 7, base = rm;

	out->modrm = modrm;
	if (mod == 3)
		return;
	if (rm == 4)
		base = take(r) & 7;
	if (mod == 0 && rm == 5)
		out->rip_at = (uint8_t)r->at;
	if (mod == 2 || (mod == 0 && base == 5))
		skip(r, 4);
	else if (mod == 1)
		skip(r, 1);
}

static void take_where_to(struct reader *r, struct x86_insn *out, size_t n)
{
	const uint8_t *p = r->p + r->at;

	skip(r, n);
	if (r->bad)
		return;
	if (n == 1)
		out->to = (int8_t)*p;
	else
		memcpy(&out->to, p, sizeof(out->to));
	/* Of processors with 66, some have 2 bytes here. */
	r->bad = r->operand_16 && !r->rex_w;
}

static void take_rest(struct reader *r, struct x86_insn *out, char letter)
{
	size_t full = r->operand_16 && !r->rex_w ? 2 : 4;

	if (strchr("MmnTt", letter))
		take_modrm(r, out);
	switch (letter) {
	case '.':
	case 'M':
		break;
	case 'b':
	case 'm':
		skip(r, 1);
		break;
	case 'w':
		skip(r, 2);
		break;
	case 'e':
		skip(r, 3);
		break;
	case 'z':
	case 'n':
		skip(r, full);
		break;
	case 'v':
		skip(r, r->rex_w ? 8 : full);
		break;
	case 'a':
		skip(r, r->address_32 ? 4 : 8);
		break;
	case 't':
	case 'T':
		if ((out->modrm >> 3 & 7) < 2)
			skip(r, letter == 't' ? 1 : full);
		break;
	case 'j':
	case 'J':
		take_where_to(r, out, letter == 'j' ? 1 : 4);
		break;
	default:
		r->bad = true;
	}
}

/* Those opcodes of the newer encodings that have a byte behind ModRM. */
static bool has_byte(uint8_t map, uint8_t opcode)
{
	if (map == 3)
		return true;
	return map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 ||
			    (opcode >= 0xc4 && opcode <= 0xc6));
}

/* VEX (c4, c5) and EVEX (62): `first` was taken. */
static void take_vex(struct reader *r, struct x86_insn *out, uint8_t first)
{
	uint8_t payload = take(r);

	out->vex = true;
	out->map = 1;
	/* None of them may have these. */
	if (r->operand_16 || r->repeat || r->rex_w)
		r->bad = true;
	if (first == 0xc4) {
		out->map = payload & 31;
		skip(r, 1);
	} else if (first == 0x62) {
		out->map = payload & 7;
		/* Bits that are 0 and 1; else it is of a kind that came later. */
		if ((payload & 8) || !(take(r) & 4))
			r->bad = true;
		skip(r, 1);
	}
	out->opcode = take(r);
	if (out->map == 0 || out->map == 4 || out->map > 6 || (first != 0x62 && out->map > 3))
		r->bad = true;
	/* vzeroupper */
	if (first != 0x62 && out->map == 1 && out->opcode == 0x77)
		return;
	take_modrm(r, out);
	if (has_byte(out->map, out->opcode))
		skip(r, 1);
}

static void take_0f(struct reader *r, struct x86_insn *out)
{
	uint8_t opcode = take(r);

	out->map = 1;
	if (opcode == 0x38 || opcode == 0x3a) {
		out->map = opcode == 0x38 ? 2 : 3;
		out->opcode = take(r);
		take_rest(r, out, opcode == 0x38 ? 'M' : 'm');
		return;
	}
	out->opcode = opcode;
	take_rest(r, out, two_bytes[opcode]);
	/* Without f3 what it is says the processor; 78 has bytes behind ModRM with 66 or f2. */
	if ((opcode == 0xb8 && r->repeat != 0xf3) ||
	    (opcode == 0x78 && (r->operand_16 || r->repeat == 0xf2)))
		r->bad = true;
}

static void take_one_byte(struct reader *r, struct x86_insn *out, uint8_t opcode)
{
	out->opcode = opcode;
	take_rest(r, out, one_byte[opcode]);
	/* XOP, and the beginning and end of transactions. */
	if ((opcode == 0x8f && (out->modrm & 0x38)) ||
	    ((opcode == 0xc6 || opcode == 0xc7) && (out->modrm & 0x38)))
		r->bad = true;
}

static enum x86_flow flow_of(const struct x86_insn *i)
{
	uint8_t op = i->opcode, reg = i->modrm >> 3 & 7;

	if (i->vex || i->map > 1)
		return X86_ON;
	if (i->map == 1)
		return op >> 4 == 8 ? X86_BRANCH : op == 0x0b ? X86_STOP : X86_ON;
	if (op >> 4 == 7)
		return X86_BRANCH;
	if (op >= 0xe0 && op <= 0xe3)
		return X86_LOOP;
	if (op == 0xe8)
		return X86_CALL;
	if (op == 0xe9 || op == 0xeb)
		return X86_JUMP;
	if (op == 0xff && (reg == 2 || reg == 3))
		return X86_CALL_INDIRECT;
	if (op == 0xff && (reg == 4 || reg == 5))
		return X86_JUMP_INDIRECT;
	if (op == 0xc2 || op == 0xc3 || op == 0xca || op == 0xcb || op == 0xcc || op == 0xcf ||
	    op == 0xf4)
		return X86_STOP;
	return X86_ON;
}

unsigned x86_decode(const uint8_t *p, size_t n, struct x86_insn *out)
{
	struct reader r = { .p = p, .n = n < X86_MOST_BYTES ? n : X86_MOST_BYTES };
	struct x86_insn i = { 0 };
	uint8_t first = take_prefixes(&r);

	if (first == 0x0f)
		take_0f(&r, &i);
	else if (first == 0x62 || first == 0xc4 || first == 0xc5)
		take_vex(&r, &i, first);
	else
		take_one_byte(&r, &i, first);
	if (r.bad)
		return 0;
	i.n = (uint8_t)r.at;
	i.narrow = r.address_32;
	i.flow = (uint8_t)flow_of(&i);
	*out = i;
	return i.n;
}
