/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Any bytes as machine code whose beginning is to be moved, and as an ELF file with symbols. Reads nothing behind them,
 * and what is moved leads where it led.
 */
#include "config.h"

#include "tests/fuzz/fuzz.h"

#include "record/heap/patch/allocators.h"
#include "record/heap/patch/elf_symbols.h"
#include "record/heap/patch/trampoline.h"
#include "record/heap/patch/x86_code.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ADDRESS UINT64_C(0x7f0000400000)
#define MOVED   UINT64_C(0x7f0000000000)

/* Where the instruction that runs at `address` leads, or what it reads. */
static uint64_t place(const struct x86_insn *i, const uint8_t *p, uint64_t address)
{
	int32_t distance = i->to;

	if (i->rip_at)
		memcpy(&distance, p + i->rip_at, sizeof(distance));
	return address + i->n + (uint64_t)(int64_t)distance;
}

/* Both are the same instructions, one after the other, for another address. */
static void compare(const struct trampoline *m, const uint8_t *moved, size_t n)
{
	size_t at = m->plan.at, to = 4;
	struct x86_insn i, j;

	while (at < m->plan.end) {
		if (!x86_decode(m->code.bytes + at, m->plan.end - at, &i))
			abort();
		/* Is the last one; what it becomes is tested for itself. */
		if (i.flow == X86_CALL || i.flow == X86_CALL_INDIRECT) {
			if (!m->plan.calls || at + i.n != m->plan.end)
				abort();
			return;
		}
		if (!x86_decode(moved + to, n - to, &j) || i.flow != j.flow || i.modrm != j.modrm ||
		    !i.rip_at != !j.rip_at)
			abort();
		if ((i.flow != X86_ON || i.rip_at) && place(&i, m->code.bytes + at, ADDRESS + at) !=
							      place(&j, moved + to, MOVED + to))
			abort();
		at += i.n;
		to += j.n;
	}
	if (to != n && (!x86_decode(moved + to, n - to, &j) || j.flow != X86_JUMP ||
			place(&j, moved + to, MOVED + to) != ADDRESS + m->plan.end))
		abort();
}

static void move(const uint8_t *bytes, size_t n)
{
	struct trampoline m = { .code = { bytes, n, ADDRESS } };
	const struct trampoline *all = &m;
	uint8_t out[CODE_MOVED_BYTES];
	size_t written, at = 0;
	uint64_t to;

	code_is_jump(&m.code, &to);
	if (code_plan(&m.code, &m.plan))
		return;
	if (m.plan.end < m.plan.at + CODE_JUMP_BYTES || m.plan.end > n)
		abort();
	code_stays_out(&m.code, &m);
	for (; code_hit(&m.code, &at, &all, 1); at++)
		if (at >= n)
			abort();
	written = code_write_moved(&m, MOVED, out);
	if (written > sizeof(out))
		abort();
	if (written)
		compare(&m, out, written);
}

static void read_symbols(const uint8_t *bytes, size_t n)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct allocator_match match;
	struct elf_symbols s;
	uint64_t offset;

	if (fd < 0 || write(fd, bytes, n) != (ssize_t)n)
		abort();
	if (elf_symbols_read(fd, &s)) {
		for (size_t i = 0; i < s.n; i++)
			if (elf_symbols_is_function(&s, i) &&
			    allocator_find(elf_symbols_name(&s, i), &match) && !match.function)
				abort();
		for (size_t i = 0; i < s.n && i < 64; i++)
			if (elf_symbols_offset(&s, s.at[i].st_value, s.at[i].st_size, &offset) &&
			    s.n_loads == 0)
				abort();
		elf_symbols_drop(&s);
	}
	close(fd);
}

void fuzz_code(const uint8_t *bytes, size_t n)
{
	/* Not a byte more than there are, for those who watch reads. */
	uint8_t *copy = malloc(n ? n : 1);

	if (!copy)
		abort();
	memcpy(copy, bytes, n);
	move(copy, n);
	read_symbols(copy, n);
	free(copy);
}
