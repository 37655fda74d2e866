/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Registers of samples, by perf's numbers → registers of the unwinder, by DWARF's. */
#ifndef PROFTOP_PERF_CALLCHAIN_PERF_REGS_H
#define PROFTOP_PERF_CALLCHAIN_PERF_REGS_H

#include "perf/abi/perf_abi.h"
#include "unwind/arch.h"

/* Of a machine as `uname -m` has it; false, and x86_64, when its stacks cannot be walked. */
bool perf_regs_arch(const char *machine, enum unwind_arch *out);

/* The machine whose samples have these registers, as perf asks for them; NULL: not known. */
const char *perf_regs_machine(uint64_t mask);

/* perf's number of the program counter on such a machine; -1: not known. */
int perf_regs_pc(const char *machine);

void perf_regs_take(enum unwind_arch arch, const struct perf_regs *from, struct unwind_regs *to);

#endif
