/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perf's numbers: arch/MACHINE/include/uapi/asm/perf_regs.h of Linux. */
#include "config.h"

#include "perf/callchain/perf_regs.h"

#include <string.h>

#define N_PERF_REGS 33u /* the most that either has */

/* DWARF's number of each of perf's registers; -1: not followed. */
static const int8_t x86_of_perf[24] = { 0,  3,  2,  1,  4, 5, 6,  7,  16, -1, -1, -1,
					-1, -1, -1, -1, 8, 9, 10, 11, 12, 13, 14, 15 };

bool perf_regs_arch(const char *machine, enum unwind_arch *out)
{
	bool arm = strncmp(machine, "aarch64", 7) == 0 || strncmp(machine, "arm64", 5) == 0;

	*out = arm ? UNWIND_AARCH64 : UNWIND_X86_64;
	return arm || strncmp(machine, "x86_64", 6) == 0;
}

const char *perf_regs_machine(uint64_t mask)
{
	/* Of what perf asks for by itself: segment registers of x86 cannot be had. */
	if (mask & (1u << 8) && !(mask & ~UINT64_C(0xff0fff)))
		return "x86_64";
	return mask == UINT64_C(0x1ffffffff) ? "aarch64" : NULL;
}

int perf_regs_pc(const char *machine)
{
	/* By the beginning of the machine's name; armv8l is a 32-bit program's view of aarch64. */
	static const struct {
		const char *machine;
		int pc;
	} all[] = {
		{ "x86_64", 8 },    { "i686", 8 }, { "i586", 8 },  { "aarch64", 32 },
		{ "arm64", 32 },    { "arm", 15 }, { "riscv", 0 }, { "mips", 0 },
		{ "loongarch", 0 }, { "ppc", 32 }, { "s390", 33 },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (strncmp(machine, all[i].machine, strlen(all[i].machine)) == 0)
			return all[i].pc;
	return -1;
}

void perf_regs_take(enum unwind_arch arch, const struct perf_regs *from, struct unwind_regs *to)
{
	uint64_t value;

	to->known = 0;
	for (unsigned i = 0; i < N_PERF_REGS; i++) {
		int dwarf = arch == UNWIND_AARCH64 ? (int)i : i < 24 ? x86_of_perf[i] : -1;

		if (dwarf >= 0 && perf_reg(from, i, &value))
			unwind_reg_set(to, (unsigned)dwarf, value);
	}
}
