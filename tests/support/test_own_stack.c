/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The running program's own stack, walked by the unwind tables that its compiler made, against what frame pointers say of it.
 * For tests/heap/aarch64.sh: it needs frame pointers in all of the program, and a program that is linked statically.
 */
#include "config.h"

#include "unwind/cfi.h"
#include "unwind/walk.h"

#include <criterion/criterion.h>
#include <link.h>

#define MOST 64u

/* Where the tables are, and what of the stack is safe to read. */
static struct {
	struct cfi *cfi;
	uint64_t bias;
	const void *high; /* above all frames that are looked at */
} own;

static int find_tables(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct cfi_sections s = { .arch = UNWIND_HERE };

	(void)size;
	(void)arg;
	own.bias = info->dlpi_addr;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		const uint8_t *hdr = (const uint8_t *)(info->dlpi_addr + p->p_vaddr);
		int32_t relative;

		if (p->p_type != PT_GNU_EH_FRAME)
			continue;
		/* Version 1, .eh_frame by 4 bytes from here: as linkers write it. */
		cr_assert(hdr[0] == 1 && hdr[1] == 0x1b);
		memcpy(&relative, hdr + 4, sizeof(relative));
		s.eh_frame_hdr = (struct cfi_section){ hdr, p->p_memsz, p->p_vaddr };
		s.eh_frame.bytes = hdr + 4 + relative;
		s.eh_frame.address = p->p_vaddr + 4 + (uint64_t)(int64_t)relative;
	}
	/* To the end of the segment that they are in. */
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD && s.eh_frame.address - p->p_vaddr < p->p_filesz)
			s.eh_frame.n = p->p_filesz - (s.eh_frame.address - p->p_vaddr);
	}
	own.cfi = cfi_new(&s);
	return 1;
}

static struct walk_module find(void *arg, uint64_t pc)
{
	(void)arg;
	(void)pc;
	return (struct walk_module){ .cfi = own.cfi, .bias = own.bias, .mapped = true };
}

/* Both from the caller's frame on, which begins at `frame`: the words at fp are the caller's fp and where it goes on. */
static __attribute__((noinline)) void compare(const uint64_t *frame, uint64_t sp, uint64_t pc)
{
	struct unwind_memory memory = { .address = sp, .bytes = (const uint8_t *)sp };
	struct walker *w = walker_new(UNWIND_HERE);
	struct walk_frame out[MOST];
	struct unwind_regs regs = { .known = 0 };
	enum walk_end end;
	uint64_t missing;
	size_t n, n_signed = 0;

	memory.n = (uint64_t)own.high - sp;
	unwind_reg_set(&regs, unwind_pc(UNWIND_HERE), pc);
	unwind_reg_set(&regs, unwind_sp(UNWIND_HERE), sp);
	unwind_reg_set(&regs, unwind_fp(UNWIND_HERE), (uint64_t)frame);
	n = walk_stack(w, &regs, &memory, find, NULL, out, MOST, &end, &missing);
	cr_expect(n > 20 && n < MOST);
	for (size_t i = 1; i < n && (const void *)frame < own.high; i++) {
		n_signed += unwind_strip(UNWIND_HERE, frame[1]) != frame[1];
		cr_expect_eq(out[i].pc, unwind_strip(UNWIND_HERE, frame[1]));
		frame = (const uint64_t *)frame[0];
	}
#ifdef __ARM_FEATURE_PAC_DEFAULT
	/* Those of functions of this file, by an emulator or a processor that can. */
	cr_expect(n_signed > 20);
#else
	(void)n_signed;
#endif
	walker_free(w);
}

#if defined(__aarch64__)
#define HERE(sp, pc) __asm__ volatile("mov %0, sp\n\tadr %1, ." : "=r"(sp), "=r"(pc))
#else
#define HERE(sp, pc) __asm__ volatile("movq %%rsp, %0\n\tleaq 0(%%rip), %1" : "=r"(sp), "=r"(pc))
#endif

/* Frames of different sizes, of which some save registers and some have room whose size is not known. */
static __attribute__((noinline)) uint64_t deep(unsigned n, uint64_t a, uint64_t b, uint64_t c)
{
	volatile char room[48] = { (char)n };
	uint64_t sp, pc, left;

	if (n == 0) {
		HERE(sp, pc);
		compare(__builtin_frame_address(0), sp, pc);
		return a + b + c;
	}
	if (n % 3 == 0) {
		volatile char *more = __builtin_alloca(16 * n);

		more[0] = (char)a;
		left = deep(n - 1, b, c, a + (uint64_t)more[0]);
	} else {
		left = deep(n - 1, a * 3, b + c, c);
	}
	return left + a + b + c + (uint64_t)room[0];
}

Test(own_stack, is_what_frame_pointers_say)
{
	dl_iterate_phdr(find_tables, NULL);
	cr_assert_not_null(own.cfi);
	own.high = __builtin_frame_address(0);
	own.high = (const char *)own.high + 16;
	cr_expect(deep(24, 1, 2, 3) != 0);
	cfi_free(own.cfi);
}
