/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Walks of stacks made by hand, over CFI assembled here byte by byte: each case says what the stack
 * holds and which frames must come out, and why the walk must end.
 */
#include "tests/fuzz/fuzz.h"
#include "unwind/cfi.h"
#include "unwind/cfi_program.h"
#include "unwind/dwarf_expr.h"
#include "unwind/epilogue.h"
#include "unwind/walk.h"

#include <criterion/criterion.h>
#include <dwarf.h>
#include <stdio.h>
#include <string.h>

#define BIAS  0x100000u /* where the module is loaded */
#define STACK 0x7000u   /* address of the first dumped byte */

/* Sections being assembled; .debug_frame form, as its pointers are plain. */
struct blob {
	uint8_t at[2048];
	size_t n;
};

static void put(struct blob *b, const void *p, size_t n)
{
	cr_assert(b->n + n <= sizeof(b->at));
	memcpy(b->at + b->n, p, n);
	b->n += n;
}

static void put_u32(struct blob *b, uint32_t v)
{
	put(b, &v, sizeof(v));
}

static void put_u64(struct blob *b, uint64_t v)
{
	put(b, &v, sizeof(v));
}

/* x86: CFA = rsp + 8, return address at CFA - 8. */
static void put_cie(struct blob *b, const char *augmentation, enum unwind_arch arch)
{
	static const uint8_t x86[] = { DW_CFA_def_cfa, 7, 8, DW_CFA_offset | 16, 1 };
	static const uint8_t arm[] = { DW_CFA_def_cfa, 31, 0 };
	bool is_x86 = arch == UNWIND_X86_64;
	struct blob body = { .n = 0 };

	put_u32(&body, UINT32_MAX);
	put(&body, "\4", 1);
	put(&body, augmentation, strlen(augmentation) + 1);
	put(&body, "\10\0\1\170", 4); /* address size, segment size, code align 1, data align -8 */
	put(&body, is_x86 ? "\20" : "\36", 1);
	if (*augmentation == 'z')
		put(&body, "\0", 1);
	put(&body, is_x86 ? x86 : arm, is_x86 ? sizeof(x86) : sizeof(arm));
	put_u32(b, (uint32_t)body.n);
	put(b, body.at, body.n);
}

static void put_fde(struct blob *b, uint32_t cie, uint64_t begin, uint64_t n, const char *program,
		    size_t n_program, bool z)
{
	put_u32(b, (uint32_t)(4 + 16 + (size_t)z + n_program));
	put_u32(b, cie);
	put_u64(b, begin);
	put_u64(b, n);
	if (z)
		put(b, "\0", 1);
	put(b, program, n_program);
}

/*
 * 0x1000 leaf:  CFA rsp+8                       0x2000 fp frame: CFA rbp+16, rbp at CFA-16
 * 0x3000 outermost: return address undefined    0x4000 realigned: CFA = *(rbp-8), rbp at [rbp]
 * 0x5000 signal trampoline                      0x6000 CFA = r13 (known only by restoring)
 * 0x7000 leaf that saves r13 at CFA-16          0x8000 lazy PLT
 * 0xa000 leaf that has popped rbp               0xb000 leaf that has popped r13
 */
static void put_functions(struct blob *b)
{
	uint32_t signal_cie;

	put_cie(b, "", UNWIND_X86_64);
	put_fde(b, 0, 0x1000, 0x100, "", 0, false);
	put_fde(b, 0, 0x2000, 0x100, "\x0c\6\x10\x86\2", 5, false);
	put_fde(b, 0, 0x3000, 0x100, "\7\x10", 2, false);
	put_fde(b, 0, 0x4000, 0x100, "\x0f\3\x76\x78\x06\x10\6\2\x76\0", 10, false);
	put_fde(b, 0, 0x6000, 0x100, "\x0c\x0d\0", 3, false);
	put_fde(b, 0, 0x7000, 0x100, "\x0c\7\x10\x8d\2", 5, false);
	put_fde(b, 0, 0x8000, 0x100, "\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22", 13,
		false);
	put_fde(b, 0, 0xa000, 0x100, "\x86\2", 2, false);
	put_fde(b, 0, 0xb000, 0x100, "\x8d\2", 2, false);
	signal_cie = (uint32_t)b->n;
	put_cie(b, "zS", UNWIND_X86_64);
	/* CFA = *(rsp+16); rsp at rsp+16, rip at rsp+24, rbp at rsp+8 */
	put_fde(b, signal_cie, 0x5000, 0x100,
		"\x0f\3\x77\x10\x06\x10\7\2\x77\x10\x10\x10\2\x77\x18\x10\6\2\x77\x08", 20, true);
}

/* The same code twice, the second time of a module that keeps frame pointers. */
#define P(x) (BIAS + (x))
#define Q(x) (P(0x10000) + (x))
#define R    Q(0x20000)

static struct walk_module find(void *arg, uint64_t pc)
{
	static const struct cfi_rule sixteen = {
		.cfa_kind = CFA_SP, .cfa = 16, .ra_kind = SLOT_CFA, .ra = -8
	};
	static const struct cfi_rule called = {
		.cfa_kind = CFA_SP, .cfa = 8, .ra_kind = SLOT_CFA, .ra = -8
	};
	struct walk_module m = { .cfi = arg, .bias = BIAS, .entry = 0xd000, .mapped = true };

	/* A return address without tables, of which something is known all the same. */
	if (pc == R - 1)
		return (struct walk_module){ .mapped = true, .alone = &sixteen };
	if (pc < P(0) || pc >= Q(0x10000))
		return (struct walk_module){ 0 };
	/* The first instruction of a function, as _init's, which the tables of the module do not cover. */
	if (pc == P(0xf000))
		m.alone = &called;
	if (pc >= Q(0)) {
		m.bias = Q(0);
		m.keeps_fp = true;
	}
	return m;
}

struct walk_case {
	const char *what;
	uint64_t pc, fp, r13; /* registers; sp is STACK, r13 0: unknown */
	uint64_t stack[16];   /* words from STACK on */
	size_t n_stack;
	uint64_t frames[8]; /* expected pcs, 0 ends */
	enum walk_end end;
};

/* clang-format off */
static const struct walk_case cases[] = {
	{ "leaf called by the outermost", P(0x1010), 0, 0,
	  { P(0x3010) }, 1, { P(0x1010), P(0x3010) }, WALK_COMPLETE },
	{ "a return address at the very end belongs to the call before it", P(0x1010), 0, 0,
	  { P(0x3100) }, 1, { P(0x1010), P(0x3100) }, WALK_COMPLETE },
	{ "zero return address", P(0x1010), 0, 0, { 0 }, 1, { P(0x1010) }, WALK_COMPLETE },
	{ "the dump ends", P(0x1010), 0, 0, { P(0x1020) }, 1, { P(0x1010), P(0x1020) },
	  WALK_TRUNCATED },
	{ "nothing dumped", P(0x1010), 0, 0, { 0 }, 0, { P(0x1010) }, WALK_NO_DUMP },
	{ "frame pointer frame", P(0x2010), STACK + 16, 0,
	  { 1, 2, STACK + 40, P(0x3010) }, 4, { P(0x2010), P(0x3010) }, WALK_COMPLETE },
	{ "two of them: the saved rbp is followed", P(0x2010), STACK + 8, 0,
	  { 1, STACK + 32, P(0x2020), 0, 9, P(0x3010) }, 6,
	  { P(0x2010), P(0x2020), P(0x3010) }, WALK_COMPLETE },
	{ "not mapped", P(0x1010), 0, 0, { 0x42 }, 1, { P(0x1010), 0x42 }, WALK_NO_MODULE },
	{ "not mapped, where frame pointers end: nobody called", Q(0x1010), STACK + 8, 0,
	  { 0x42, STACK + 24, 7, 0 }, 4, { Q(0x1010) }, WALK_COMPLETE },
	{ "not mapped, without a frame pointer: likewise", Q(0x1010), 0, 0, { 0x42 }, 1, { Q(0x1010) },
	  WALK_COMPLETE },
	{ "not mapped, where they lead out of the copy", Q(0x1010), STACK + 8, 0,
	  { 0x42, STACK + 800 }, 2, { Q(0x1010), 0x42 }, WALK_NO_MODULE },
	{ "not mapped, where they go back", Q(0x1010), STACK + 8, 0, { 0x42, STACK }, 2,
	  { Q(0x1010), 0x42 }, WALK_NO_MODULE },
	{ "not mapped, where they end, with all registers", Q(0x7010), STACK + 16, 0,
	  { STACK + 40, Q(0x6010), 0, 0, 0x42 }, 5, { Q(0x7010), Q(0x6010) }, WALK_COMPLETE },
	{ "no tables, but a rule of this pc alone", P(0x1010), 0, 0,
	  { R, 7, P(0x3010) }, 3, { P(0x1010), R, P(0x3010) }, WALK_COMPLETE },
	{ "likewise with all registers, which stay as they are", P(0x7010), 0, 0,
	  { STACK + 56, R, 0, P(0x6010), 0, 0, P(0x3010) }, 7,
	  { P(0x7010), R, P(0x6010), P(0x3010) }, WALK_COMPLETE },
	{ "no CFI, no frame pointer", P(0x9000), 0, 0, { 1, 2 }, 2, { P(0x9000) }, WALK_NO_CFI },
	{ "no CFI, frame pointer leads on", P(0x9000), STACK, 0,
	  { STACK + 32, P(0x3010) }, 2, { P(0x9000), P(0x3010) }, WALK_COMPLETE },
	{ "realigned: CFA is the word at rbp-8", P(0x4010), STACK + 16, 0,
	  { 0, STACK + 40, STACK + 64, 5, P(0x3010) }, 5,
	  { P(0x4010), P(0x3010) }, WALK_COMPLETE },
	{ "signal frame: the interrupted pc is exact", P(0x1010), 0, 0,
	  { P(0x5001), 0, STACK + 56, STACK + 64, P(0x1000), 0, 0, 0, P(0x3010) }, 9,
	  { P(0x1010), P(0x5001), P(0x1000), P(0x3010) }, WALK_COMPLETE },
	{ "signal frame below an r13 frame: all registers", P(0x1010), 0, STACK + 72,
	  { P(0x5001), 0, STACK + 56, STACK + 64, P(0x6010), 0, 0, 0, P(0x3010) }, 9,
	  { P(0x1010), P(0x5001), P(0x6010), P(0x3010) }, WALK_COMPLETE },
	{ "signal frame: what was interrupted ran on another stack, below", P(0x1010), 0, 0,
	  { P(0x5001), 0, STACK - 56, STACK - 4096, P(0x1000) }, 5,
	  { P(0x1010), P(0x5001), P(0x1000) }, WALK_OTHER_STACK },
	{ "or above", P(0x1010), 0, 0,
	  { P(0x5001), 0, STACK + 99992, STACK + 99976, P(0x1000) }, 5,
	  { P(0x1010), P(0x5001), P(0x1000) }, WALK_OTHER_STACK },
	{ "r13 frame innermost", P(0x6010), 0, STACK + 16,
	  { 0, P(0x3010) }, 2, { P(0x6010), P(0x3010) }, WALK_COMPLETE },
	{ "r13 frame above one that saved r13: all registers", P(0x7010), 0, 0,
	  { STACK + 40, P(0x6010), 0, 0, P(0x3010) }, 5,
	  { P(0x7010), P(0x6010), P(0x3010) }, WALK_COMPLETE },
	{ "r13 frame, r13 unknown", P(0x1010), 0, 0, { P(0x6010), 0, 0 }, 3,
	  { P(0x1010), P(0x6010) }, WALK_UNREADABLE },
	{ "rbp popped, its slot below the stack pointer", P(0xa010), STACK + 16, 0,
	  { P(0x2010), 0, 0, P(0x3010) }, 4, { P(0xa010), P(0x2010), P(0x3010) }, WALK_COMPLETE },
	{ "r13 popped", P(0xb010), 0, STACK + 24,
	  { P(0x6010), 0, P(0x3010) }, 3, { P(0xb010), P(0x6010), P(0x3010) }, WALK_COMPLETE },
	{ "PLT before its push", P(0x8005), 0, 0, { P(0x3010) }, 1, { P(0x8005), P(0x3010) },
	  WALK_COMPLETE },
	{ "PLT after its push", P(0x800b), 0, 0, { 7, P(0x3010) }, 2, { P(0x800b), P(0x3010) },
	  WALK_COMPLETE },
	{ "where the program begins without CFI", P(0x1010), STACK, 0, { P(0xd010), 7 }, 2,
	  { P(0x1010), P(0xd010) }, WALK_COMPLETE },
	{ "too far behind that", P(0x1010), 0, 0, { P(0xd090), 7 }, 2,
	  { P(0x1010), P(0xd090) }, WALK_NO_CFI },
	{ "a return address that is a function's first, behind none", P(0x1010), STACK + 8, 0,
	  { P(0x2000), STACK + 24, P(0x3010) }, 3, { P(0x1010), P(0x2000) }, WALK_COMPLETE },
	{ "interrupted just before a function", P(0x1fff), STACK + 8, 0,
	  { P(0x2000), STACK + 24, P(0x3010) }, 3, { P(0x1fff), P(0x3010) }, WALK_COMPLETE },
	{ "a handler's return address that is the first of what leads out of it", P(0x1010), 0, 0,
	  { P(0x5000), 7 }, 2, { P(0x1010), P(0x5000) }, WALK_NO_CFI },
	{ "in sigreturn, behind the last instruction of its function", P(0x5100), 0, 0,
	  { 0, 0, STACK + 40, P(0x1000), 0, P(0x3010) }, 6,
	  { P(0x5100), P(0x1000), P(0x3010) }, WALK_COMPLETE },
	{ "behind another function", P(0x2100), 0, 0, { 1, 2 }, 2, { P(0x2100) }, WALK_NO_CFI },
	{ "the first instruction of a function without CFI", P(0xf000), STACK, 0, { P(0x3010), 7 }, 2,
	  { P(0xf000), P(0x3010) }, WALK_COMPLETE },
	{ "the same below an r13 frame: all registers", P(0xf000), STACK, STACK + 16,
	  { P(0x6010), P(0x3010) }, 2, { P(0xf000), P(0x6010), P(0x3010) }, WALK_COMPLETE },
	{ "its second", P(0xf001), 0, 0, { P(0x3010), 7 }, 2, { P(0xf001) }, WALK_NO_CFI },
	{ "frame pointers that go backwards", P(0x9000), STACK + 16, 0,
	  { 0, 0, STACK, P(0x9010) }, 4, { P(0x9000), P(0x9010) }, WALK_NO_CFI },
};
/* clang-format on */

/* Stack pointers of the frames of some cases. */
static const struct {
	const char *what;
	uint64_t sp[4]; /* innermost frame first, 0 ends */
} pointers[] = {
	{ "leaf called by the outermost", { STACK, STACK + 8 } },
	{ "two of them: the saved rbp is followed", { STACK, STACK + 24, STACK + 48 } },
	{ "no CFI, frame pointer leads on", { STACK, STACK + 16 } },
	{ "realigned: CFA is the word at rbp-8", { STACK, STACK + 40 } },
	{ "signal frame: the interrupted pc is exact",
	  { STACK, STACK + 8, STACK + 64, STACK + 72 } },
	{ "r13 frame above one that saved r13: all registers", { STACK, STACK + 16, STACK + 40 } },
};

static void check_pointers(const char *what, const struct walk_frame *f, size_t n)
{
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++) {
		if (strcmp(pointers[i].what, what) != 0)
			continue;
		for (size_t k = 0; k < 4 && pointers[i].sp[k]; k++)
			cr_expect(k < n && f[k].sp == pointers[i].sp[k],
				  "%s: frame %zu has its stack at %#lx", what, k,
				  (unsigned long)f[k].sp);
	}
}

/* The only frames of all cases that handlers of signals return to. */
static bool is_trampoline(uint64_t pc)
{
	return pc >= P(0x5000) && pc <= P(0x5100);
}

/* Of a trampoline the place itself is meant, and of what was interrupted; of all others the call before. */
static void check_exact(const char *what, const struct walk_frame *f, size_t n)
{
	bool without_rule = n > 0 && f[n - 1].pc == P(0x5000);

	for (size_t i = 0; i < n - without_rule; i++) {
		bool interrupted = i == 0 || is_trampoline(f[i - 1].pc);

		cr_expect_eq(f[i].exact, interrupted || is_trampoline(f[i].pc), "%s: frame %zu",
			     what, i);
		cr_expect_eq(f[i].signal, is_trampoline(f[i].pc), "%s: frame %zu", what, i);
	}
}

static void check(const struct walk_case *k, struct walker *w, struct cfi *cfi)
{
	struct unwind_memory memory = { .address = STACK,
					.bytes = (const uint8_t *)k->stack,
					.n = k->n_stack * 8,
					.n_missing = 0,
					.missed = NULL };
	struct unwind_regs regs = { .known = 0 };
	struct walk_frame out[8];
	enum walk_end end;
	uint64_t missing;
	size_t n, want = 0;

	unwind_reg_set(&regs, X86_RIP, k->pc);
	unwind_reg_set(&regs, X86_RSP, STACK);
	unwind_reg_set(&regs, X86_RBP, k->fp);
	if (k->r13)
		unwind_reg_set(&regs, X86_R13, k->r13);
	n = walk_stack(w, &regs, &memory, find, cfi, out, 8, &end, &missing);
	while (want < 8 && k->frames[want])
		want++;
	cr_expect_eq(n, want, "%s: %zu frames, not %zu", k->what, n, want);
	for (size_t i = 0; i < n && i < want; i++)
		cr_expect_eq(out[i].pc, k->frames[i], "%s: frame %zu is %#lx", k->what, i,
			     (unsigned long)out[i].pc);
	check_pointers(k->what, out, n);
	check_exact(k->what, out, n);
	cr_expect_eq(end, k->end, "%s: ends with %d", k->what, end);
}

Test(walk, cases)
{
	struct blob b = { .n = 0 };
	struct cfi_sections s = { .arch = UNWIND_X86_64 };
	struct walker *w = walker_new(UNWIND_X86_64);
	struct cfi *cfi;

	put_functions(&b);
	s.debug_frame = (struct cfi_section){ b.at, b.n, 0 };
	cfi = cfi_new(&s);
	/* twice: from CFI, then from the cache */
	for (int round = 0; round < 2; round++)
		for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
			check(&cases[i], w, cfi);
	walker_free(w);
	cfi_free(cfi);
}

Test(walk, depth_is_bounded)
{
	struct blob b = { .n = 0 };
	struct cfi_sections s = { .arch = UNWIND_X86_64 };
	struct walker *w = walker_new(UNWIND_X86_64);
	uint64_t stack[100];
	struct unwind_memory memory = { .address = STACK,
					.bytes = (const uint8_t *)stack,
					.n = sizeof(stack),
					.n_missing = 0,
					.missed = NULL };
	struct unwind_regs regs = { .known = 0 };
	struct walk_frame out[10];
	enum walk_end end;
	uint64_t missing;
	struct cfi *cfi;

	for (size_t i = 0; i < 100; i++)
		stack[i] = P(0x1010);
	put_functions(&b);
	s.debug_frame = (struct cfi_section){ b.at, b.n, 0 };
	cfi = cfi_new(&s);
	unwind_reg_set(&regs, X86_RIP, P(0x1010));
	unwind_reg_set(&regs, X86_RSP, STACK);
	cr_expect_eq(walk_stack(w, &regs, &memory, find, cfi, out, 10, &end, &missing), 10);
	cr_expect_eq(end, WALK_TOO_DEEP);
	walker_free(w);
	cfi_free(cfi);
}

/* AArch64: a leaf returns by the link register, signed; above it, saved pairs. */
Test(walk, aarch64_link_register)
{
	struct blob b = { .n = 0 };
	struct cfi_sections s = { .arch = UNWIND_AARCH64 };
	struct walker *w = walker_new(UNWIND_AARCH64);
	uint64_t stack[] = { STACK + 32, P(0x3010) | UINT64_C(0x2b) << 48, 0, 0, 0, 0 };
	struct unwind_memory memory = { .address = STACK,
					.bytes = (const uint8_t *)stack,
					.n = sizeof(stack),
					.n_missing = 0,
					.missed = NULL };
	struct unwind_regs regs = { .known = 0 };
	struct walk_frame out[4];
	enum walk_end end;
	uint64_t missing;
	struct cfi *cfi;

	put_cie(&b, "", UNWIND_AARCH64);
	put_fde(&b, 0, 0x1000, 0x100, "", 0, false);
	/* stp x29, x30, [sp, -32]!: CFA sp+32, x29 at CFA-32, x30 at CFA-24 */
	put_fde(&b, 0, 0x2000, 0x100, "\x0e\x20\x9d\4\x9e\3", 6, false);
	put_fde(&b, 0, 0x3000, 0x100, "\7\x1e", 2, false);
	s.debug_frame = (struct cfi_section){ b.at, b.n, 0 };
	cfi = cfi_new(&s);
	unwind_reg_set(&regs, ARM_PC, P(0x1010));
	unwind_reg_set(&regs, ARM_SP, STACK);
	unwind_reg_set(&regs, ARM_FP, STACK);
	unwind_reg_set(&regs, ARM_LR, P(0x2010) | UINT64_C(0x3f) << 48);
	cr_assert_eq(walk_stack(w, &regs, &memory, find, cfi, out, 4, &end, &missing), 3);
	cr_expect_eq(out[1].pc, P(0x2010));
	cr_expect_eq(out[2].pc, P(0x3010));
	cr_expect_eq(end, WALK_COMPLETE);
	walker_free(w);
	cfi_free(cfi);
}

/* The stack of the next two, and what leads outward from its first frame. */
struct arm_stack {
	uint64_t word[128];
	struct unwind_regs regs;
	const struct cfi_rule *alone; /* of what has no tables, at P(0x5000) */
};

static struct walk_module find_arm(void *arg, uint64_t pc)
{
	static struct cfi *cfi;
	static struct blob b;
	struct arm_stack *a = arg;
	struct cfi_sections s = { .arch = UNWIND_AARCH64 };

	(void)pc;
	if (!cfi) {
		put_cie(&b, "", UNWIND_AARCH64);
		/* Signed: DW_CFA_AARCH64_negate_ra_state, and with the address that takes part. */
		put_fde(&b, 0, 0x2000, 0x80, "\x2d\x0e\x20\x9d\4\x9e\3", 7, false);
		put_fde(&b, 0, 0x2080, 0x80, "\x2c\x0e\x40\x9d\6\x9e\5", 7, false);
		put_fde(&b, 0, 0x3000, 0x100, "\7\x1e", 2, false);
		/* A leaf, as signals interrupt it. */
		put_fde(&b, 0, 0x4000, 0x100, "", 0, false);
		s.debug_frame = (struct cfi_section){ b.at, b.n, 0 };
		cfi = cfi_new(&s);
	}
	return (struct walk_module){ .cfi = cfi, .bias = P(0), .mapped = true, .alone = a->alone };
}

static void walk_arm(struct arm_stack *a, const uint64_t *pc, size_t n)
{
	struct unwind_memory memory = { .address = STACK,
					.bytes = (const uint8_t *)a->word,
					.n = sizeof(a->word) };
	struct walker *w = walker_new(UNWIND_AARCH64);
	struct walk_frame out[8];
	enum walk_end end;
	uint64_t missing;

	cr_assert_eq(walk_stack(w, &a->regs, &memory, find_arm, a, out, 8, &end, &missing), n);
	for (size_t i = 0; i < n; i++)
		cr_expect_eq(out[i].pc, pc[i]);
	cr_expect_eq(end, WALK_COMPLETE);
	walker_free(w);
}

#define SIGNED(pc) (P(pc) | UINT64_C(0x35) << 48)

/* AArch64: frame pointers do not say where the frame ends; what they lead to says by its rule where it begins. */
Test(walk, aarch64_frame_pointers)
{
	/* A frame of 64 bytes without tables, with its record at 16; one of 64 with the record at 16, too; one of 32. */
	struct arm_stack a = { .word = { [2] = STACK + 80,
					 [3] = SIGNED(0x2090),
					 [10] = STACK + 128,
					 [11] = SIGNED(0x2010),
					 [16] = 0,
					 [17] = SIGNED(0x3010) } };

	unwind_reg_set(&a.regs, ARM_PC, P(0x5010));
	unwind_reg_set(&a.regs, ARM_SP, STACK);
	unwind_reg_set(&a.regs, ARM_FP, STACK + 16);
	walk_arm(&a, (uint64_t[]){ P(0x5010), P(0x2090), P(0x2010), P(0x3010) }, 4);
}

/* AArch64: what handlers return to is known by its code; a leaf that was interrupted has its return address in x30. */
Test(walk, aarch64_signal)
{
	static const uint8_t code[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4 };
	struct arm_stack a = { .word = { [0] = 0, [1] = P(0x5000) } };
	uint64_t *x = &a.word[4 + EPILOGUE_ARM_SIGNAL_X0 / 8];
	struct cfi_rule rule;

	cr_assert(epilogue_of_signal(UNWIND_AARCH64, code, sizeof(code), &rule));
	cr_expect(!epilogue_of_signal(UNWIND_AARCH64, code, sizeof(code) - 1, &rule));
	cr_expect(!epilogue_of_signal(UNWIND_X86_64, code, sizeof(code), &rule));
	a.alone = &rule;
	x[ARM_FP] = STACK + 960;
	x[ARM_LR] = SIGNED(0x2010);
	x[ARM_SP] = STACK + 960;
	x[ARM_PC] = P(0x4000);
	a.word[960 / 8 + 1] = SIGNED(0x3010);
	unwind_reg_set(&a.regs, ARM_PC, P(0x2010));
	unwind_reg_set(&a.regs, ARM_SP, STACK);
	walk_arm(&a, (uint64_t[]){ P(0x2010), P(0x5000), P(0x4000), P(0x2010), P(0x3010) }, 5);
}

static const struct {
	const char *what, *code;
	size_t n;
	enum expr_result result;
	uint64_t value;
} exprs[] = {
	{ "empty", "", 0, EXPR_BAD, 0 },
	{ "rsp + 8", "\x77\x08", 2, EXPR_OK, STACK + 8 },
	{ "load", "\x77\x08\x06", 3, EXPR_OK, 0x1122334455667788 },
	{ "load two bytes", "\x77\x08\x94\x02", 4, EXPR_OK, 0x7788 },
	{ "load past the dump", "\x77\x80\x01\x06", 4, EXPR_UNREADABLE, 0 },
	{ "unknown register", "\x70\x00", 2, EXPR_BAD, 0 },
	{ "swap, minus", "\x31\x35\x16\x1c", 4, EXPR_OK, 4 },
	{ "divide by zero", "\x31\x30\x1b", 3, EXPR_BAD, 0 },
	{ "INT64_MIN / -1", "\x10\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x11\x7f\x1b", 14, EXPR_OK,
	  UINT64_C(1) << 63 },
	{ "shift by 64", "\x31\x08\x40\x24", 4, EXPR_OK, 0 },
	{ "endless loop", "\x2f\xfd\xff", 3, EXPR_BAD, 0 },
	{ "branch out", "\x2f\x10\x00", 3, EXPR_BAD, 0 },
	{ "cut constant", "\x0e\x01", 2, EXPR_BAD, 0 },
	{ "underflow", "\x22", 1, EXPR_BAD, 0 },
};

Test(walk, expressions)
{
	uint64_t stack[] = { 1, 0x1122334455667788 };
	struct unwind_memory memory = { .address = STACK,
					.bytes = (const uint8_t *)stack,
					.n = sizeof(stack),
					.n_missing = 0,
					.missed = NULL };
	struct unwind_regs regs = { .known = 0 };

	unwind_reg_set(&regs, X86_RSP, STACK);
	for (size_t i = 0; i < sizeof(exprs) / sizeof(*exprs); i++) {
		uint64_t value = 0;
		int result = (int)dwarf_expr_run((const uint8_t *)exprs[i].code, exprs[i].n, &regs,
						 &memory, NULL, &value);

		cr_expect_eq(result, (int)exprs[i].result, "%s: %d", exprs[i].what, result);
		if (result == 0)
			cr_expect_eq(value, exprs[i].value, "%s: %#lx", exprs[i].what,
				     (unsigned long)value);
	}
}

/* The functions above with damage, asked and walked: nothing may crash, hang or contradict itself. */
Test(walk, damaged_tables)
{
	/* sizes of the sections; x86; pcs asked from 0x1000 in steps of 0xff; the leaf's pc */
	uint8_t head[16] = { 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0xfe, 0xff, 1, 0x10, 0x10, 2, 3 };
	uint64_t stack[] = { P(0x3010), STACK, 0x2010, 0x1010, STACK + 32, 0x5001, 0x3010, 0 };
	struct blob b = { .n = 0 }, seed = { .n = 0 };
	uint16_t n;

	put_functions(&b);
	n = (uint16_t)b.n;
	memcpy(head + 4, &n, sizeof(n));
	put(&seed, head, sizeof(head));
	put(&seed, b.at, b.n);
	put(&seed, stack, sizeof(stack));
	fuzz_vary(fuzz_cfi, seed.at, seed.n, 3000);
}
