/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Moving the beginnings of functions: the lengths of instructions as a disassembler gave them, what may be moved and
 * what not, and functions of this program that do the same when their beginning runs elsewhere.
 *
 * PROFTOP_TEST_CODE="FILE…" ./t_tracer --filter 'x86/given_files' compares each instruction of files with objdump.
 */
#include "config.h"

#include "record/heap/patch/allocators.h"
#include "record/heap/patch/elf_symbols.h"
#include "record/heap/patch/trampoline.h"
#include "record/heap/patch/x86_code.h"
#include "tests/fuzz/fuzz.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Hexadecimal digits and spaces. */
static size_t parse(const char *text, uint8_t *out, size_t room)
{
	size_t n = 0;
	char *end;

	for (unsigned long v = strtoul(text, &end, 16); end != text && n < room;
	     v = strtoul(text, &end, 16)) {
		out[n++] = (uint8_t)v;
		text = end;
	}
	return n;
}

Test(x86, instructions_are_as_long_as_they_are)
{
	/* Of real functions, by GNU objdump 2.40; the sizes of immediates with every prefix that changes them. */
	static const struct {
		const char *bytes; /* those behind '|' belong to the next one */
		enum x86_flow flow;
		int rip_at;
		int32_t to;
	} cases[] = {
		{ "55|48 89 e5", X86_ON, 0, 0 },                   /* push %rbp */
		{ "41 57|41 56", X86_ON, 0, 0 },                   /* push %r15 */
		{ "f3 0f 1e fa|55", X86_ON, 0, 0 },                /* endbr64 */
		{ "48 81 ff 00 10 00 00|0f", X86_ON, 0, 0 },       /* cmp $0x1000,%rdi */
		{ "0f 87 93 00 00 00|48", X86_BRANCH, 0, 0x93 },   /* ja */
		{ "77 0c|85", X86_BRANCH, 0, 12 },                 /* ja */
		{ "48 8d 15 c8 5d 2c 00|48", X86_ON, 3, 0 },       /* lea 0x2c5dc8(%rip),%rdx */
		{ "48 c7 c1 b8 f5 ff ff|48", X86_ON, 0, 0 },       /* mov $-2632,%rcx */
		{ "64 48 03 04 25 00 00 00 00|90", X86_ON, 0, 0 }, /* add %fs:0x0,%rax */
		{ "64 4c 03 91 48 03 00 00|64", X86_ON, 0, 0 },    /* add %fs:0x348(%rcx),%r10 */
		{ "44 0f b6 0c 01|4f", X86_ON, 0, 0 },             /* movzbl (%rcx,%rax,1),%r9d */
		{ "48 8b 44 24 08|c3", X86_ON, 0, 0 },             /* mov 8(%rsp),%rax */
		{ "48 8b 84 24 00 01 00 00|c3", X86_ON, 0, 0 },    /* mov 256(%rsp),%rax */
		{ "e9 30 ee ff ff|cc", X86_JUMP, 0, -4560 },
		{ "eb fe|cc", X86_JUMP, 0, -2 },
		{ "e8 00 00 00 00|90", X86_CALL, 0, 0 },
		{ "66 48 e8 01 00 00 00|48", X86_CALL, 0,
		  1 }, /* data16 rex.W call, for thread-local memory */
		{ "ff 25 10 00 00 00|cc", X86_JUMP_INDIRECT, 2, 0 },
		{ "f2 ff 25 10 00 00 00|cc", X86_JUMP_INDIRECT, 3, 0 }, /* bnd */
		{ "3e ff e0|cc", X86_JUMP_INDIRECT, 0, 0 },             /* notrack */
		{ "ff 14 c5 00 00 00 00|cc", X86_CALL_INDIRECT, 0, 0 },
		{ "e3 05|90", X86_LOOP, 0, 5 },
		{ "c3|90", X86_STOP, 0, 0 },
		{ "0f 0b|90", X86_STOP, 0, 0 },
		{ "48 b8 01 02 03 04 05 06 07 08|90", X86_ON, 0, 0 }, /* movabs */
		{ "b8 01 02 03 04|90", X86_ON, 0, 0 },
		{ "66 b8 01 02|90", X86_ON, 0, 0 },
		{ "66 48 b8 01 02 03 04 05 06 07 08|90", X86_ON, 0, 0 },
		{ "f7 05 00 00 00 00 01 00 00 00|90", X86_ON, 2, 0 }, /* testl $1,0(%rip) */
		{ "f7 d0|90", X86_ON, 0, 0 },                         /* not */
		{ "66 f7 c0 01 00|90", X86_ON, 0, 0 },                /* test $1,%ax */
		{ "f6 c1 07|90", X86_ON, 0, 0 },
		{ "f6 d9|90", X86_ON, 0, 0 },
		{ "66 0f 1f 84 00 00 00 00 00|90", X86_ON, 0, 0 }, /* nopw */
		{ "a1 01 02 03 04 05 06 07 08|90", X86_ON, 0, 0 },
		{ "67 a1 01 02 03 04|90", X86_ON, 0, 0 },
		{ "c8 10 00 00|90", X86_ON, 0, 0 },
		{ "c5 f8 77|90", X86_ON, 0, 0 },          /* vzeroupper */
		{ "c5 fa 7f 44 24 10|90", X86_ON, 0, 0 }, /* vmovdqu */
		{ "c4 e3 7d 39 c1 01|90", X86_ON, 0, 0 }, /* vextracti128 */
		{ "c4 e2 fb f7 c1|90", X86_ON, 0, 0 },    /* shrx */
		{ "62 f1 fe 48 6f 05 00 01 00 00|90", X86_ON, 6,
		  0 },                                       /* vmovdqu64 256(%rip),%zmm0 */
		{ "62 f3 fd 48 39 c1 01|90", X86_ON, 0, 0 }, /* vextracti64x4 */
		{ "66 0f 3a 0f c1 08|90", X86_ON, 0, 0 },    /* palignr */
		{ "66 0f 38 00 c1|90", X86_ON, 0, 0 },       /* pshufb */
		{ "0f ba e0 05|90", X86_ON, 0, 0 },          /* bt */
		{ "f3 0f b8 c0|90", X86_ON, 0, 0 },          /* popcnt */
		{ "69 c0 01 02 03 04|90", X86_ON, 0, 0 },
		{ "66 69 c0 01 02|90", X86_ON, 0, 0 },
		{ "c2 08 00|90", X86_STOP, 0, 0 },
		{ "0f a4 c1 05|90", X86_ON, 0, 0 }, /* shld */
		{ "48 6b c0 0a|90", X86_ON, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[32];
		const char *rest = strchr(cases[i].bytes, '|');
		size_t n = parse(cases[i].bytes, bytes, sizeof(bytes)),
		       all = n + parse(rest + 1, bytes + n, sizeof(bytes) - n);
		struct x86_insn insn = { 0 };

		cr_expect_eq(x86_decode(bytes, all, &insn), n, "%s: %u", cases[i].bytes, insn.n);
		cr_expect_eq(insn.flow, cases[i].flow, "%s: flow %u", cases[i].bytes, insn.flow);
		cr_expect_eq(insn.rip_at, cases[i].rip_at, "%s", cases[i].bytes);
		cr_expect_eq(insn.to, cases[i].to, "%s", cases[i].bytes);
		for (size_t cut = 0; cut < n; cut++)
			cr_expect_eq(x86_decode(bytes, cut, &insn), 0, "%s cut to %zu",
				     cases[i].bytes, cut);
	}
}

Test(x86, what_is_not_known_is_refused)
{
	static const char *const cases[] = {
		"06",                      /* push %es: not in 64-bit mode */
		"9a 00 00 00 00 00 00",    /* a far call: the same */
		"d5 00 90",                /* REX2 */
		"62 f4 7c 08 01 c0",       /* EVEX of APX */
		"62 f1 7a 08 6f c0",       /* EVEX without the bit that is always there */
		"66 e9 00 00 00 00 90",    /* a jump whose length depends on the maker */
		"66 0f 84 00 00 00 00",    /* the same */
		"8f e9 78 e1 c1 00 00 00", /* XOP */
		"0f b8 c0",                /* not popcnt */
		"c7 f8 00 00 00 00",       /* xbegin: leads somewhere */
		"66 66 66 66 66 66 66 66 66 66 66 66 66 66 66 90", /* more than 15 bytes */
		"66 c5 f8 77",                                     /* VEX behind a prefix */
		"0f 24 c0",                                        /* test registers, long gone */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[32] = { 0 };
		struct x86_insn insn;

		parse(cases[i], bytes, sizeof(bytes));
		cr_expect_eq(x86_decode(bytes, sizeof(bytes), &insn), 0, "%s", cases[i]);
	}
}

/* Compares with the lines of objdump. Returns how many were compared. */
static size_t compare_with_objdump(const char *path)
{
	char command[4200], line[4096];
	size_t n = 0, n_unknown = 0;
	FILE *f;

	snprintf(command, sizeof(command), "objdump -d -w '%s' 2>/dev/null", path);
	f = popen(command, "r");
	cr_assert_not_null(f);
	while (fgets(line, sizeof(line), f)) {
		/* "  1139:\t48 89 e5             \tmov    %rsp,%rbp" */
		char *begin = strstr(line, ":\t"), *name = begin ? strchr(begin + 2, '\t') : NULL;
		struct x86_insn insn;
		uint8_t bytes[32];
		size_t got;

		if (line[0] != ' ' || !name || strstr(name, "(bad)"))
			continue;
		*name = '\0';
		got = parse(begin + 2, bytes, 16);
		/* It shows fwait and what comes next as one. */
		if (bytes[0] == 0x9b)
			continue;
		memset(bytes + got, 0x90, sizeof(bytes) - got);
		n++;
		if (x86_decode(bytes, sizeof(bytes), &insn) == 0)
			n_unknown++;
		else
			cr_expect_eq(insn.n, got, "%s: %s: %u", path, line, insn.n);
		cr_expect(insn.n == 0 || !insn.rip_at == !strstr(name + 1, "(%rip)"), "%s: %s",
			  path, line);
	}
	pclose(f);
	printf("%s: %zu instructions, of which %zu are not known\n", path, n, n_unknown);
	return n;
}

Test(x86, given_files)
{
	const char *given = getenv("PROFTOP_TEST_CODE");
	char *paths = strdup(given ? given : "/proc/self/exe"), *at = paths;

#if !defined(__x86_64__)
	given = NULL;
	at = NULL;
#endif
	if (system("command -v objdump >/dev/null 2>&1") != 0)
		cr_skip_test("no objdump");
	for (char *path; (path = strsep(&at, " \n"));) {
		char real[4096];

		if (*path && realpath(path, real))
			cr_expect_gt(compare_with_objdump(real), given ? 0 : 1000);
	}
	free(paths);
}

/* --- what may be moved ----------------------------------------------------------------------- */

Test(code_move, functions_are_taken_or_refused)
{
	static const struct {
		const char *what, *bytes;
		int at, end;     /* of the plan */
		const char *why; /* part of it; NULL: taken */
	} cases[] = {
		{ "pushes", "41 57 41 56 41 55 41 54 c3", 0, 6, NULL },
		{ "one long instruction", "48 81 ff 00 10 00 00 c3", 0, 7, NULL },
		{ "endbr64 stays", "f3 0f 1e fa 55 48 89 e5 41 57 c3", 4, 10, NULL },
		{ "a jump ends it", "31 c9 e9 00 01 00 00", 0, 7, NULL },
		{ "a jump alone", "e9 00 01 00 00", 0, 5, NULL },
		{ "a branch to what comes later", "48 85 ff 74 02 90 90 c3", 0, 5, NULL },
		{ "too short", "31 c0 c3", 0, 0, "not moved" },
		{ "too short, with a jump", "90 eb 10 90 90 90 90", 0, 0, "shorter than a jump" },
		{ "cut", "48 89", 0, 0, "not moved" },
		{ "empty", "", 0, 0, "shorter than a jump" },
		{ "endbr64 only", "f3 0f 1e fa", 0, 0, "shorter than a jump" },
		{ "a call", "e8 00 01 00 00 c3", 0, 5, NULL },
		{ "a call after others", "53 48 89 fb e8 00 01 00 00 c3", 0, 9, NULL },
		{ "a call by memory", "ff 15 00 01 00 00 c3", 0, 6, NULL },
		{ "a call by a register", "ff d0 90 90 90 c3", 0, 0, "not moved" },
		{ "a loop", "31 c0 e2 10 90 90 90 c3", 0, 0, "not moved" },
		{ "vectors of another kind", "c5 f8 28 c1 90 c3", 0, 0, "not moved" },
		{ "32-bit addresses", "67 48 8b 05 00 00 00 00 c3", 0, 0, "not moved" },
		{ "jumps back to its beginning", "41 57 41 56 41 55 eb f8", 0, 0,
		  "to its beginning" },
		{ "jumps back into it", "41 57 41 56 41 55 74 fa c3", 0, 0, "to its beginning" },
		{ "jumps back far", "41 57 41 56 41 55 0f 84 f5 ff ff ff c3", 0, 0,
		  "to its beginning" },
		{ "jumps back behind it", "41 57 41 56 41 55 90 eb fd", 0, 6, NULL },
		{ "jumps within it", "74 01 90 90 90 c3", 0, 0, "to its beginning" },
		{ "calls itself", "41 57 41 56 41 55 e8 f5 ff ff ff c3", 0, 6, NULL },
		{ "calls into it", "41 57 41 56 41 55 e8 f7 ff ff ff c3", 0, 0,
		  "to its beginning" },
		{ "a table", "41 57 41 56 41 55 ff e0", 0, 0, "by a table" },
		{ "a table in memory", "41 57 41 56 41 55 ff 24 c5 00 00 00 00", 0, 0,
		  "by a table" },
		{ "another function's address", "41 57 41 56 41 55 ff 25 00 00 00 00", 0, 6, NULL },
		{ "not known later on", "41 57 41 56 41 55 06 c3", 0, 0, "not known" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t bytes[64];
		struct code f = { bytes, parse(cases[i].bytes, bytes, sizeof(bytes)), 0x400000 };
		struct code_plan plan = { 0 };
		const char *why = code_plan(&f, &plan);

		if (cases[i].why)
			cr_expect(why && strstr(why, cases[i].why), "%s: %s", cases[i].what,
				  why ? why : "taken");
		else
			cr_expect_null(why, "%s: %s", cases[i].what, why);
		cr_expect_eq(plan.at, cases[i].at, "%s: %u", cases[i].what, plan.at);
		cr_expect_eq(plan.end, cases[i].end, "%s: %u", cases[i].what, plan.end);
	}
}

Test(code_move, what_leads_into_a_function_is_found)
{
	/* The function is at 0x1000, and bytes 0 … 5 of it are moved; the other is at 0x1010. */
	static const struct {
		const char *bytes;
		bool clear;
	} cases[] = {
		{ "eb ee", true },  /* to its first byte */
		{ "eb ef", false }, /* its second */
		{ "eb f3", false }, /* its last */
		{ "eb f4", true },  /* behind it */
		{ "e9 eb ff ff ff", true },  { "e9 ee ff ff ff", false },
		{ "e8 ee ff ff ff", false }, { "0f 84 ed ff ff ff", false },
		{ "90 90 c3", true },        { "06", false }, /* not known */
	};
	uint8_t moved[] = { 0x41, 0x57, 0x41, 0x56, 0x41, 0x55, 0xc3 }, bytes[16];
	struct trampoline m = { .code = { moved, sizeof(moved), 0x1000 } };
	const struct trampoline *all = &m;

	cr_assert_null(code_plan(&m.code, &m.plan));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t n = parse(cases[i].bytes, bytes, sizeof(bytes));
		struct code other = { bytes, n, 0x1010 };
		size_t at = 0;
		bool narrow = bytes[0] == 0xeb || bytes[0] == 0x06;

		cr_expect_eq(code_stays_out(&other, &m), cases[i].clear, "%s", cases[i].bytes);
		/* Looks at four bytes only, wherever they begin. */
		cr_expect_eq(code_hit(&other, &at, &all, 1) == NULL, narrow || cases[i].clear, "%s",
			     cases[i].bytes);
	}
}

Test(code_move, what_counts_from_its_own_place_is_changed)
{
	/* lea 0x10(%rip),%rax; je +0x20; at 0x401000, moved to 0x300000 */
	static const uint8_t bytes[] = { 0x48, 0x8d, 0x05, 0x10, 0, 0, 0, 0x74, 0x20, 0xc3 };
	static const uint8_t want[] = {
		0xf3, 0x0f, 0x1e, 0xfa,                   /* endbr64 */
		0x48, 0x8d, 0x05, 0x0c, 0x10, 0x10, 0x00, /* the same address */
		0xe9, 0xf7, 0x0f, 0x10, 0x00,             /* jmp 0x401007 */
	};
	struct trampoline m = { .code = { bytes, sizeof(bytes), 0x401000 } };
	uint8_t out[CODE_MOVED_BYTES], jump[CODE_JUMP_BYTES];

	cr_assert_null(code_plan(&m.code, &m.plan));
	cr_expect_eq(code_write_moved(&m, 0x300000, out), sizeof(want));
	cr_expect_arr_eq(out, want, sizeof(want));
	cr_expect_eq(code_write_moved(&m, UINT64_C(0x7f0000000000), out), 0, "it is too far");
	cr_expect(code_write_jump(jump, 0x1000, UINT64_C(0x1000) + INT32_MAX));
	cr_expect_not(code_write_jump(jump, 0x1000, UINT64_C(0x1000) + INT32_MAX + 6));
}

Test(code_move, calls_return_to_their_own_place)
{
	/* push %rbx; mov %rdi,%rbx; call 0x402000; at 0x401000, moved to 0x300000 */
	static const uint8_t direct[] = { 0x53, 0x48, 0x89, 0xfb, 0xe8, 0xf7, 0x0f, 0, 0, 0xc3 };
	static const uint8_t want_direct[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0x53, 0x48, 0x89, 0xfb, 0xff, 0x35, 5, 0, 0, 0,
		0xe9, 0xed, 0x1f, 0x10, 0x00, 0x09, 0x10, 0x40, 0,    0,    0, 0, 0,
	};
	/* call *0x1000(%rip), a word at 0x402006 */
	static const uint8_t by_word[] = { 0xff, 0x15, 0x00, 0x10, 0, 0, 0xc3 };
	static const uint8_t want_by_word[] = {
		0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x35, 6,    0, 0, 0, 0xff, 0x25,
		0xf6, 0x1f, 0x10, 0x00, 0x06, 0x10, 0x40, 0, 0, 0, 0,    0,
	};
	struct trampoline m = { .code = { direct, sizeof(direct), 0x401000 } };
	struct trampoline n = { .code = { by_word, sizeof(by_word), 0x401000 } };
	uint8_t out[CODE_MOVED_BYTES];

	cr_assert_null(code_plan(&m.code, &m.plan));
	cr_expect(m.plan.calls);
	cr_expect_eq(code_write_moved(&m, 0x300000, out), sizeof(want_direct));
	cr_expect_arr_eq(out, want_direct, sizeof(want_direct));
	cr_assert_null(code_plan(&n.code, &n.plan));
	cr_expect_eq(code_write_moved(&n, 0x300000, out), sizeof(want_by_word));
	cr_expect_arr_eq(out, want_by_word, sizeof(want_by_word));
}

/* --- functions of this program ---------------------------------------------------------------- */

static volatile long word = 17;

#define TRIED __attribute__((noinline, used))

static TRIED long reads_a_word(long a, long b)
{
	return a * word + b;
}

static TRIED long branches_at_once(long a, long b)
{
	if (a == 0)
		return b;
	return a / (b ? b : 1);
}

static TRIED long calls_itself(long a, long b)
{
	volatile long keep[4] = { a, b, a + b, a - b };

	return a <= 0 ? b : calls_itself(a - 1, b + keep[2]) + keep[0];
}

static TRIED long loops(long a, long b)
{
	long sum = 0;

	for (long i = 0; i < (a & 63); i++)
		sum += i * b ^ word;
	return sum;
}

static TRIED long calls_others(long a, long b)
{
	return reads_a_word(a, b) + branches_at_once(b, a) + (long)strlen("text");
}

static TRIED long has_many_locals(long a, long b)
{
	char text[256];

	return snprintf(text, sizeof(text), "%ld %ld %ld", a, b, word) + text[0];
}

#if defined(__x86_64__)
typedef long tried_fn(long, long);

static const struct {
	const char *name;
	tried_fn *fn;
} tried[] = {
	{ "reads_a_word", reads_a_word }, { "branches_at_once", branches_at_once },
	{ "calls_itself", calls_itself }, { "loops", loops },
	{ "calls_others", calls_others }, { "has_many_locals", has_many_locals },
};

/* The function as its symbol says; n 0: the file has no such symbol. */
static struct code find(const struct elf_symbols *s, const char *name, const void *address)
{
	for (size_t i = 0; i < s->n; i++)
		if (elf_symbols_is_function(s, i) && strcmp(elf_symbols_name(s, i), name) == 0)
			return (struct code){ address, s->at[i].st_size, (uint64_t)address };
	return (struct code){ 0 };
}

/* Executable memory with the moved beginning, near to it. */
static uint8_t *map_moved(const struct trampoline *m)
{
	for (uint64_t i = 1; i < 1000; i++) {
		uint64_t at = (m->code.address & ~UINT64_C(4095)) - (i << 20);
		uint8_t *p = mmap((void *)at, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		cr_assert_neq(p, MAP_FAILED);
		if (code_write_moved(m, (uint64_t)p, p))
			return p;
		munmap(p, 4096);
	}
	cr_assert_fail("no memory near it");
	return NULL;
}
#endif

Test(code_move, functions_do_the_same_from_elsewhere)
{
#if defined(__x86_64__)
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct elf_symbols s;

	cr_assert(elf_symbols_read(fd, &s));
	close(fd);
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		struct trampoline m = { .code = find(&s, tried[i].name,
						     (const void *)(uintptr_t)tried[i].fn) };
		const char *why;
		tried_fn *moved;

		/* Names that a compiler changed. */
		if (s.dynamic || m.code.n == 0) {
			printf("skipped: no symbol %s\n", tried[i].name);
			continue;
		}
		why = code_plan(&m.code, &m.plan);
		/* Sanitizers make other beginnings. */
		if (why) {
			printf("skipped: %s: %s\n", tried[i].name, why);
			continue;
		}
		moved = (tried_fn *)(uintptr_t)map_moved(&m);
		for (long a = -3; a < 30; a++)
			for (long b = -3; b < 4; b++)
				cr_expect_eq(moved(a, b), tried[i].fn(a, b), "%s(%ld, %ld)",
					     tried[i].name, a, b);
	}
	elf_symbols_drop(&s);
#else
	(void)has_many_locals;
#endif
}

/* --- bytes that mean harm --------------------------------------------------------------------- */

Test(code_move, damaged_functions)
{
	static const char *const seeds[] = {
		"f3 0f 1e fa 55 48 8d 05 10 00 00 00 48 89 e5 41 57 74 10 e8 00 10 00 00 eb f0 c3",
		"48 85 ff 74 20 64 48 8b 04 25 00 00 00 00 48 3b 05 00 10 00 00 75 06 ff 25 00 20 00 00 c3",
		"e9 00 10 00 00",
		"31 c9 0f 84 00 01 00 00 62 f1 fe 48 6f 05 00 01 00 00 c3",
	};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		uint8_t bytes[64];
		size_t n = parse(seeds[i], bytes, sizeof(bytes));

		fuzz_vary(fuzz_code, bytes, n, 5000);
	}
}

/* A file of one section of symbols, which damage reaches everywhere. */
Test(code_move, damaged_symbols)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr load;
		Elf64_Sym symbol[4];
		char names[32];
		Elf64_Shdr section[3];
	} file = { 0 };

	memcpy(file.header.e_ident, ELFMAG, SELFMAG);
	file.header.e_ident[EI_CLASS] = ELFCLASS64;
	file.header.e_ident[EI_DATA] = ELFDATA2LSB;
	file.header.e_phentsize = sizeof(Elf64_Phdr);
	file.header.e_shentsize = sizeof(Elf64_Shdr);
	file.header.e_phnum = 1;
	file.header.e_phoff = offsetof(__typeof__(file), load);
	file.header.e_shnum = 3;
	file.header.e_shoff = offsetof(__typeof__(file), section);
	file.load = (Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = sizeof(file) };
	memcpy(file.names, "\0mi_malloc\0mi_free\0malloc", 26);
	for (unsigned i = 1; i < 4; i++)
		file.symbol[i] = (Elf64_Sym){ .st_name = i == 1   ? 1
							 : i == 2 ? 11
								  : 19,
					      .st_info = STT_FUNC,
					      .st_shndx = 1,
					      .st_value = 16 * i,
					      .st_size = 16 };
	file.section[1] = (Elf64_Shdr){ .sh_type = SHT_SYMTAB,
					.sh_entsize = sizeof(Elf64_Sym),
					.sh_link = 2,
					.sh_offset = offsetof(__typeof__(file), symbol),
					.sh_size = sizeof(file.symbol) };
	file.section[2] = (Elf64_Shdr){ .sh_type = SHT_STRTAB,
					.sh_offset = offsetof(__typeof__(file), names),
					.sh_size = sizeof(file.names) };
	fuzz_vary(fuzz_code, &file, sizeof(file), 3000);
}

Test(allocators, names_are_known_or_not)
{
	static const struct {
		const char *name;
		int naming; /* enum allocator_naming; -1: none */
		unsigned size, shift;
	} cases[] = {
		{ "malloc", NAMED_AS_LIBC, 0, 0 },
		{ "calloc", NAMED_AS_LIBC, 1, 0 },
		{ "mallocx", NAMED_AS_JEMALLOC, 0, 0 },
		{ "_rjem_sdallocx", NAMED_RJEM, ALLOCATOR_NONE, 0 },
		{ "_rjem_rallocx", NAMED_RJEM, 1, 0 },
		{ "je_posix_memalign", NAMED_JE, 2, 0 },
		{ "je_je_sdallocx_noflags", NAMED_JE, ALLOCATOR_NONE, 0 },
		{ "mi_heap_realloc_aligned", NAMED_MI, 1, 1 },
		{ "mi_realloc_aligned", NAMED_MI, 1, 0 },
		{ "tc_newarray", NAMED_TC, 0, 0 },
		{ "tc_malloc", NAMED_TC, 0, 0 },
		{ "_ZnwmSt11align_val_t", NAMED_AS_OPERATOR, 0, 0 },
		/* It makes a heap. */
		{ "mi_heap_new", -1, 0, 0 },
		{ "mi_heap_delete", -1, 0, 0 },
		{ "mi_new", NAMED_MI, 0, 0 },
		/* Has more arguments than go through. */
		{ "mi_heap_recalloc_aligned_at", -1, 0, 0 },
		{ "_rjem_je_arena_malloc", -1, 0, 0 },
		{ "je_malloc_default", -1, 0, 0 },
		{ "xmalloc", -1, 0, 0 },
		{ "_ZNKSt5valueEv", -1, 0, 0 },
		{ "mi_", -1, 0, 0 },
		{ "", -1, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct allocator_match m = { 0 };
		bool found = allocator_find(cases[i].name, &m);

		cr_expect_eq(found, cases[i].naming >= 0, "%s", cases[i].name);
		if (!found)
			continue;
		cr_expect_eq((int)m.naming, cases[i].naming, "%s", cases[i].name);
		cr_expect_eq(m.function->size, cases[i].size, "%s", cases[i].name);
		cr_expect_eq(m.shift, cases[i].shift, "%s", cases[i].name);
	}
}
