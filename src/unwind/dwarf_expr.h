/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * DWARF expressions as CFI uses them: registers, constants, arithmetic, loads, branches (DWARF 5
 * §2.5). Bounded: 64 stack cells, 1,000 steps.
 */
#ifndef PROFTOP_UNWIND_DWARF_EXPR_H
#define PROFTOP_UNWIND_DWARF_EXPR_H

#include "unwind/arch.h"
#include "unwind/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum expr_result { EXPR_OK, EXPR_UNREADABLE, EXPR_BAD };

/*
 * Runs n bytes of code with *first on the stack (none when NULL) and gives the top of the stack.
 * EXPR_UNREADABLE: it loads from where no memory is; EXPR_BAD: malformed, or needs what is unknown.
 */
enum expr_result dwarf_expr_run(const uint8_t *code, size_t n, const struct unwind_regs *regs,
				const struct unwind_memory *m, const uint64_t *first,
				uint64_t *out);

#endif
