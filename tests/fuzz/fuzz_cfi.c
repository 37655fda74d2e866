/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as the unwind sections of a module, and as a stack that is walked with them. The first 16
 * bytes say how the rest is divided and where the walk begins.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "unwind/cfi.h"
#include "unwind/cfi_program.h"
#include "unwind/walk.h"

#include <stdlib.h>
#include <string.h>

#define HEAD   16
#define FRAMES 64
#define BASE   0x10000u /* where .eh_frame lies; the other sections follow */
#define STACK  0x7000000u

static struct walk_module find(void *arg, uint64_t pc)
{
	/* Some of the addresses have no file, some no mapping. */
	return (struct walk_module){ .cfi = pc % 251 == 250 ? NULL : arg, .mapped = pc % 257 != 0 };
}

static struct cfi_section cut(const uint8_t **at, size_t *left, size_t n, uint64_t *address)
{
	struct cfi_section s = { .bytes = *at, .n = n < *left ? n : *left, .address = *address };

	*at += s.n;
	*left -= s.n;
	*address += s.n;
	return s;
}

/* Rows are handed out in order and are never empty. */
static bool check_row(void *arg, uint64_t begin, uint64_t end, const struct cfi_rule *rule)
{
	unsigned *n = arg;

	(void)rule;
	if (begin >= end)
		abort();
	return ++*n < 10000;
}

static void ask(struct cfi *c, const uint8_t *head)
{
	for (unsigned i = 0; i < 64; i++) {
		uint64_t pc = ((uint64_t)head[8] << 8) + i * ((uint64_t)head[9] + 1);
		struct cfi_row row;
		struct cfi_rule rule, again;
		bool found = cfi_find(c, pc, &rule);

		if (found != cfi_find(c, pc, &again) || (found && !cfi_row_at(c, pc, &row)))
			abort();
		if (found && (pc < row.begin || pc >= row.end))
			abort();
	}
}

static void walk(struct cfi *c, enum unwind_arch arch, const uint8_t *head, const uint8_t *stack,
		 size_t n)
{
	struct unwind_memory m = { .address = STACK, .bytes = stack, .n = n };
	struct unwind_regs regs = { .known = 0 };
	struct walker *w = walker_new(arch);
	struct walk_frame out[FRAMES];
	enum walk_end end;
	uint64_t missing;

	for (unsigned i = 0; i < UNWIND_N_REGS; i++)
		if (head[10] >> i % 8 & 1)
			unwind_reg_set(&regs, i, STACK + (uint64_t)head[11 + i % 5] * 8);
	unwind_reg_set(&regs, unwind_sp(arch), STACK);
	unwind_reg_set(&regs, unwind_fp(arch), STACK + (uint64_t)head[11] * 8);
	unwind_reg_set(&regs, unwind_pc(arch), (uint64_t)head[12] << 8 | head[13]);
	for (unsigned i = 0; i < 2; i++) {
		size_t got = walk_stack(w, &regs, &m, find, c, out, FRAMES, &end, &missing);

		if (got == 0 || got > FRAMES || (unsigned)end >= N_WALK_ENDS)
			abort();
	}
	walker_free(w);
}

void fuzz_cfi(const uint8_t *bytes, size_t n)
{
	struct cfi_sections s = { 0 };
	const uint8_t *head = bytes, *at = bytes + HEAD;
	uint64_t address = BASE;
	uint16_t sizes[3];
	unsigned n_rows = 0;
	size_t left;
	struct cfi *c;

	if (n < HEAD)
		return;
	left = n - HEAD;
	memcpy(sizes, head, sizeof(sizes));
	s.arch = head[6] & 1 ? UNWIND_AARCH64 : UNWIND_X86_64;
	s.eh_frame = cut(&at, &left, sizes[0], &address);
	s.eh_frame_hdr = cut(&at, &left, sizes[1], &address);
	s.debug_frame = cut(&at, &left, sizes[2], &address);
	c = cfi_new(&s);
	ask(c, head);
	walk(c, s.arch, head, at, left);
	cfi_each(c, check_row, &n_rows);
	cfi_free(c);
}
