/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Callchains by frame pointers that leave out a caller, and those of 32-bit programs.
 *
 * The kernel goes from one saved frame pointer to the next. While the innermost function has not
 * saved one (in its first and last instructions, or because it never does), the register still
 * holds its caller's, and the chain goes on with the caller's caller. Unwind tables know where that is so.
 */
#ifndef PROFTOP_RESOLVE_PERF_LEAVES_H
#define PROFTOP_RESOLVE_PERF_LEAVES_H

#include "builder.h"
#include "perf_chains.h"

#include <stdint.h>

struct perf_leaves;
struct resolver;

/* machine as in perf_feed_new(), never NULL. Borrows p and r. */
struct perf_leaves *perf_leaves_new(struct profile *p, struct resolver *r, const char *machine);
void perf_leaves_free(struct perf_leaves *l);

/*
 * Looks at the user part of a recorded callchain, and says what to tell perf_leaves_again(). at is the location of its
 * leaf at that time, {ID_NONE} when the caller does not know it. Wants the pen.
 */
uint32_t perf_leaves_note(struct perf_leaves *l, int32_t pid, int64_t time_ns,
			  const struct perf_chain_part *user, location_id at);

/* As perf_leaves_note() of the same chain. */
void perf_leaves_again(struct perf_leaves *l, uint32_t leaf);

/* States how many chains are of 32-bit programs, how many leave out a caller and in which modules, in section "stacks". Wants the pen. */
void perf_leaves_facts(const struct perf_leaves *l, capture_id c);

#endif
