/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Callchains by frame pointers that leave out a caller, and those of 32-bit programs.
 *
 * The kernel goes from one saved frame pointer to the next. While the innermost function has not
 * saved one (in its first and last instructions, or because it never does), the register still
 * holds its caller's, and the chain goes on with the caller's caller. Unwind tables know where that is so.
 */
#ifndef PROFTOP_PERF_CALLCHAIN_MISSING_CALLER_H
#define PROFTOP_PERF_CALLCHAIN_MISSING_CALLER_H

#include "perf/callchain/callchain_intern.h"
#include "profile/builder.h"

#include <stdint.h>

struct missing_caller;
struct resolver;

/* machine as in ingest_new(), never NULL. Borrows p and r. */
struct missing_caller *missing_caller_new(struct profile *p, struct resolver *r,
					  const char *machine);
void missing_caller_free(struct missing_caller *l);

/*
 * Looks at the user part of a recorded callchain, and says what to tell missing_caller_again(). at is the location of its
 * leaf at that time, {ID_NONE} when the caller does not know it. Wants the pen.
 */
uint32_t missing_caller_note(struct missing_caller *l, int32_t pid, int64_t time_ns,
			     const struct perf_chain_part *user, location_id at);

/* As missing_caller_note() of the same chain. */
void missing_caller_again(struct missing_caller *l, uint32_t leaf);

/* States how many chains are of 32-bit programs, how many leave out a caller and in which modules, in section "stacks". Wants the pen. */
void missing_caller_facts(const struct missing_caller *l, capture_id c);

#endif
