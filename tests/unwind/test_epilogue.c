/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Ends of functions as bytes, and the rules that follow from them. */
#include "config.h"

#include "unwind/epilogue.h"

#include <criterion/criterion.h>
#include <string.h>

#include "unwind/cfi_rule.h"

static const struct {
	const char *what, *code;
	size_t n;
	bool good;
	int32_t cfa;
	int16_t fp; /* from sp; 0: where it was */
} cases[] = {
	{ "ret", "\xc3", 1, true, 8, 0 },
	{ "rep ret", "\xf3\xc3", 2, true, 8, 0 },
	{ "add $8, %rsp; ret, as in CPython's trampolines", "\x48\x83\xc4\x08\xc3", 5, true, 16,
	  0 },
	{ "pop %rbp; ret, as in later ones", "\x5d\xc3", 2, true, 16, 0 },
	{ "add $0x18, %rsp; pop %rbx; pop %rbp; pop %r12; ret",
	  "\x48\x83\xc4\x18\x5b\x5d\x41\x5c\xc3", 9, true, 56, 32 },
	{ "add $0x400, %rsp; ret", "\x48\x81\xc4\x00\x04\x00\x00\xc3", 8, true, 1032, 0 },
	{ "add $-8, %rsp: it takes more", "\x48\x83\xc4\xf8\xc3", 5, false, 0, 0 },
	{ "a frame that is not believed", "\x48\x81\xc4\x00\x04\x00\x40\xc3", 8, false, 0, 0 },
	{ "mov (%rsp), %rbx; mov 0x28(%rsp), %rbp; add $0x30, %rsp; ret",
	  "\x48\x8b\x1c\x24\x48\x8b\x6c\x24\x28\x48\x83\xc4\x30\xc3", 14, true, 56, 40 },
	{ "add $0x18, %rsp; mov 8(%rsp), %r12; mov 0x10(%rsp), %rbp; add $0x20, %rsp; pop %rbp; ret, as Go's crosscall2",
	  "\x48\x83\xc4\x18\x4c\x8b\x64\x24\x08\x48\x8b\x6c\x24\x10\x48\x83\xc4\x20\x5d\xc3", 20,
	  true, 72, 56 },
	{ "mov -8(%rsp), %rbp: below the frame", "\x48\x8b\x6c\x24\xf8\xc3", 6, false, 0, 0 },
	{ "mov 8(%rsp), %rsp: sp says nothing then", "\x48\x8b\x64\x24\x08\xc3", 6, false, 0, 0 },
	{ "leave: sp says nothing", "\xc9\xc3", 2, false, 0, 0 },
	{ "pop %rsp: nor does it then", "\x5c\xc3", 2, false, 0, 0 },
	{ "it goes on: mov %rax, %rdi", "\x48\x89\xc7\xc3", 4, false, 0, 0 },
	{ "cut short", "\x48\x83\xc4", 3, false, 0, 0 },
	{ "no end in sight", "\x5b\x5b", 2, false, 0, 0 },
	{ "no code", "", 0, false, 0, 0 },
};

Test(epilogue, cases)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct cfi_rule r = { .cfa = -1 };
		bool good = epilogue_rule(UNWIND_X86_64, (const uint8_t *)cases[i].code, cases[i].n,
					  &r);
		/* pop %rbp, mov …(%rsp), %rbp */
		bool has_fp = memchr(cases[i].code, 0x5d, cases[i].n) != NULL ||
			      memchr(cases[i].code, 0x6c, cases[i].n) != NULL;

		cr_expect_eq(good, cases[i].good, "%s", cases[i].what);
		if (!good || !cases[i].good)
			continue;
		cr_expect_eq(r.cfa_kind, CFA_SP);
		cr_expect_eq(r.cfa, cases[i].cfa, "%s: CFA %d", cases[i].what, r.cfa);
		cr_expect(r.ra_kind == SLOT_CFA && r.ra == -8, "%s", cases[i].what);
		cr_expect_eq(r.fp_kind, has_fp ? SLOT_SP : SLOT_SAME, "%s", cases[i].what);
		cr_expect_eq(r.fp, cases[i].fp, "%s: fp at %d", cases[i].what, r.fp);
	}
}

Test(epilogue, other_machines)
{
	struct cfi_rule r;

	cr_assert_not(epilogue_rule(UNWIND_AARCH64, (const uint8_t *)"\xc3", 1, &r));
}
