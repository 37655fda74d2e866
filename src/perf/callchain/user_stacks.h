/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Copied user stacks of samples (PERF_SAMPLE_REGS_USER and _STACK_USER) → parts of chains.
 *
 * A stack that does not reach its root ends with a remark as outermost frame, so that what hangs below
 * it is not mistaken for a root.
 */
#ifndef PROFTOP_PERF_CALLCHAIN_USER_STACKS_H
#define PROFTOP_PERF_CALLCHAIN_USER_STACKS_H

#include "perf/abi/perf_abi.h"
#include "perf/callchain/callchain_intern.h"
#include "profile/builder.h"
#include "unwind/walk.h"

#include <stddef.h>
#include <stdint.h>

struct frame_marks;
struct user_stacks;
struct resolver;

/* machine as in ingest_new(), never NULL. Borrows p, r and m. */
struct user_stacks *user_stacks_new(struct profile *p, struct resolver *r, struct frame_marks *m,
				    const char *machine);
void user_stacks_free(struct user_stacks *s);

/* The recording does not name its machine: copied registers do. */
void user_stacks_assume(struct user_stacks *s);

/* From now on truncated stacks go on as earlier ones of the thread, behind a mark; see stitch.h. */
void user_stacks_stitch(struct user_stacks *s);

/*
 * Unwinds the sample's stack; the parts of it, leaf first, are valid until the next call. n is 0 when
 * not even the leaf is known. Wants the pen.
 */
const struct perf_chain_part *user_stacks_unwind(struct user_stacks *s,
						 const struct perf_sample *sample, int64_t time_ns,
						 size_t *n);

/*
 * Notes a stack of n frames, from a copy of at most n_bytes, that was unwound when it was recorded (PERF_CHAIN_END_MAX).
 * True: *mark is what it ends with, as it is not complete. Wants the pen.
 */
bool user_stacks_made(struct user_stacks *s, uint64_t end, size_t n, uint32_t n_bytes,
		      struct perf_chain_part *mark);

/* States how the walks ended, as facts in section "stacks". Wants the pen. */
void user_stacks_facts(const struct user_stacks *s, capture_id c);

#endif
