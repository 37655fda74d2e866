/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include <criterion/criterion.h>
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "code/disassembler.h"

static const struct {
	uint16_t machine;
	bool is64;
	uint8_t code[16];
	size_t n;
	const char *is; /* address, text, flow, target of each instruction */
} cases[] = {
	{ EM_X86_64,
	  true,
	  { 0x55, 0x48, 0x89, 0xe5 },
	  4,
	  "1000 pushq   %rbp 0;1001 movq    %rsp, %rbp 0;" },
	{ EM_X86_64,
	  true,
	  { 0x74, 0x02, 0xeb, 0xfc, 0xc3 },
	  5,
	  "1000 je      0x1004 1>1004;1002 jmp     0x1000 2>1000;1004 retq 4;" },
	{ EM_X86_64, true, { 0xe8, 0xfb, 0xff, 0xff, 0xff }, 5, "1000 callq   0x1000 3>1000;" },
	{ EM_X86_64,
	  true,
	  { 0x48, 0x8b, 0x05, 0x09, 0x00, 0x00, 0x00 },
	  7,
	  "1000 movq    9(%rip), %rax 0~1010;" },
	{ EM_X86_64, true, { 0xff, 0xe0 }, 2, "1000 jmpq    *%rax 2;" },
	/* What is no instruction, and what ends inside one. */
	{ EM_X86_64, true, { 0x06, 0x90 }, 2, "1000 .byte 0x06 0;1001 nop 0;" },
	{ EM_X86_64, true, { 0x48, 0x8b }, 2, "1000 .byte 0x48 0;1001 .byte 0x8b 0;" },
	/* kmovd %ecx, %k2, vpcmpnequb (%rdi), %ymm18, %k1{%k2} and wrpkru: whole, whether the library knows them or not. */
	{ EM_X86_64,
	  true,
	  { 0xc5, 0xfb, 0x92, 0xd1, 0x62, 0xf3, 0x6d, 0x22, 0x3e, 0x0f, 0x04, 0x0f, 0x01, 0xef,
	    0xc3 },
	  15,
	  "1000 .byte 0xc5, 0xfb, 0x92, 0xd1 0;"
	  "1004 .byte 0x62, 0xf3, 0x6d, 0x22, 0x3e, 0x0f, 0x04 0;"
	  "100b .byte 0x0f, 0x01, 0xef 0;100e retq 4;" },
	/* One that ends inside its displacement. */
	{ EM_X86_64,
	  true,
	  { 0xc5, 0xfb, 0x92, 0x80, 0x00 },
	  5,
	  "1000 .byte 0xc5 0;1001 sti 0;1002 xchgl   %edx, %eax 0;1003 .byte 0x80 0;1004 .byte 0x00 0;" },
	{ EM_386,
	  false,
	  { 0x55, 0x89, 0xe5 },
	  3,
	  "1000 pushl   %ebp 0;1001 movl    %esp, %ebp 0;" },
	{ EM_AARCH64,
	  true,
	  { 0x00, 0x04, 0x00, 0x91, 0xe1, 0xff, 0xff, 0x54, 0x00, 0x00, 0x00, 0x94, 0xc0, 0x03,
	    0x5f, 0xd6 },
	  16,
	  "1000 add     x0, x0, #1 0;1004 b.ne    #0x1000 1>1000;1008 bl      #0x1008 3>1008;100c ret 4;" },
	{ EM_AARCH64,
	  true,
	  { 0xff, 0xff, 0xff, 0x17, 0x40, 0x00, 0x00, 0xb4 },
	  8,
	  "1000 b       #0xffc 2>ffc;1004 cbz     x0, #0x100c 1>100c;" },
	{ EM_AARCH64,
	  true,
	  { 0x00, 0x00, 0x00, 0x00, 0x01, 0x02 },
	  6,
	  "1000 .byte 0x00, 0x00, 0x00, 0x00 0;1004 .byte 0x01, 0x02 0;" },
};

Test(disassembler, decodes)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct disassembler *d = disassembler_new(cases[i].machine, cases[i].is64);
		const uint8_t *at = cases[i].code;
		size_t n = cases[i].n, used = 0;
		uint64_t address = 0x1000;
		char text[1024] = "";
		struct decoded out;

		cr_assert_not_null(d);
		while (disassembler_next(d, &at, &n, &address, &out)) {
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%lx %s %d",
						 (long)out.address, out.text, (int)out.flow);
			if (out.target != CODE_NO_TARGET)
				used += (size_t)snprintf(text + used, sizeof(text) - used, ">%lx",
							 (long)out.target);
			if (out.refers != CODE_NO_TARGET)
				used += (size_t)snprintf(text + used, sizeof(text) - used, "~%lx",
							 (long)out.refers);
			used += (size_t)snprintf(text + used, sizeof(text) - used, ";");
		}
		cr_expect_str_eq(text, cases[i].is, "case %zu: %s", i, text);
		disassembler_free(d);
	}
}

Test(disassembler, knows_its_machines)
{
	char name[32];

	cr_expect_null(disassembler_new(EM_S390, true));
	cr_expect_str_eq(disassembler_machine(EM_S390, name), "s390");
	cr_expect_str_eq(disassembler_machine(999, name), "machine 999");
}

/* Any bytes come to an end, and none is left out. */
Test(disassembler, takes_any_bytes)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64 };
	uint8_t code[4096];
	uint32_t x = 1;

	for (size_t i = 0; i < sizeof(code); i++) {
		x = x * 1664525 + 1013904223;
		code[i] = (uint8_t)(x >> 24);
	}
	for (size_t m = 0; m < 3; m++) {
		struct disassembler *d = disassembler_new(machines[m], machines[m] != EM_386);
		const uint8_t *at = code;
		size_t n = sizeof(code), sum = 0;
		uint64_t address = UINT64_MAX - 100;
		struct decoded out;

		while (disassembler_next(d, &at, &n, &address, &out)) {
			cr_assert_gt(out.n_bytes, 0);
			sum += out.n_bytes;
		}
		cr_expect_eq(sum, sizeof(code));
		disassembler_free(d);
	}
}
