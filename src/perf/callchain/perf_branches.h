/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Calls that the cpu kept (LBR as a call stack: --call-graph lbr) → a user stack.
 *
 * The branches are {from, to, flags}, newest first: `from` is the call instruction itself, and the
 * first `to` the first byte of the innermost function. The hardware keeps so many of them; where the
 * recorded callchain reaches further out, it goes on from there.
 */
#ifndef PROFTOP_PERF_CALLCHAIN_PERF_BRANCHES_H
#define PROFTOP_PERF_CALLCHAIN_PERF_BRANCHES_H

#include "perf/abi/perf_abi.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A user stack in the making. */
struct branch_stack {
	size_t n;    /* addresses in it */
	bool is_cut; /* the hardware had no room for more, and the callchain leads no further */
};

/*
 * Writes the stack's addresses, leaf first: leaf, then one byte behind each call, as return addresses
 * are looked up one byte before. out has room for 1 + branches->n / 3 + chain->n.
 *
 * chain: user addresses of the callchain, leaf first; n may be 0
 * depth: how many calls the hardware keeps; 0: not recorded, 8, 16 or 32 is taken for it
 */
struct branch_stack perf_branches_stack(const struct perf_words *branches,
					const struct perf_words *chain, uint32_t depth,
					uint64_t leaf, uint64_t *out);

#endif
