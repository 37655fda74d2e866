/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What a sample says of its stack → parts of one chain, leaf first: the recorded callchain, the calls
 * that the cpu itself kept (LBR), the copied user stack.
 */
#ifndef PROFTOP_PERF_CALLCHAIN_CALLCHAIN_H
#define PROFTOP_PERF_CALLCHAIN_CALLCHAIN_H

#include "perf/abi/perf_abi.h"
#include "perf/callchain/callchain_intern.h"
#include "profile/builder.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct callchain;
struct resolver;

/* Where the user parts of samples came from. */
struct callchain_stats {
	uint64_t n_chains;        /* samples with a recorded callchain */
	uint64_t n_user_stacks;   /* with a copy of the user stack */
	uint64_t n_deferred;      /* with a cookie in place of the user part */
	uint64_t n_deferred_lost; /* of these, the ones whose user part did not come */
	uint64_t n_branches;      /* with calls that the cpu kept */
	uint64_t n_branches_cut;  /* of these, the ones that fill its room and lead no further */
};

/* machine as in ingest_new(), never NULL. Borrows p, r and stats, which it counts in. */
struct callchain *callchain_new(struct profile *p, struct resolver *r, const char *machine,
				struct callchain_stats *stats);
void callchain_free(struct callchain *x);

/* As user_stacks_assume(). */
void callchain_assume(struct callchain *x);

/* As user_stacks_stitch(). */
void callchain_stitch(struct callchain *x);

/* How many calls the cpu keeps; before samples. 0: not recorded. */
void callchain_branch_depth(struct callchain *x, uint32_t depth);

/* A batch of records begins; one of them is a deferred chain of a thread. */
void callchain_turn(struct callchain *x);
void callchain_defer(struct callchain *x, int32_t tid, const struct perf_deferred_chain *c);

/*
 * The parts of a sample, valid until the next call; *n may be 0. Wants the pen.
 */
const struct perf_chain_part *callchain_find(struct callchain *x, const struct perf_attr *a,
					     const struct perf_record *r,
					     const struct perf_sample *s, int64_t time_ns,
					     size_t *n);

/* May a chain say something else when it comes again? */
bool callchain_is_deferred(const struct perf_words *chain);

/*
 * Does the recorded chain that callchain_find() was called for last end in user code, whose leaf is of interest?
 * Then *depth is how many frames are outside of that leaf.
 */
bool callchain_has_leaf(const struct callchain *x, uint32_t *depth);

/*
 * Notes that leaf, if there is one, and says what to tell callchain_again(). pid and time_ns are as for
 * callchain_find(); at is its location, {ID_NONE} when it is not known. False: there are no frames in that chain.
 */
bool callchain_note_leaf(struct callchain *x, int32_t pid, int64_t time_ns, location_id at,
			 uint32_t *leaf);

/* Counts a sample of a chain like one that frames were found of before, with that leaf. */
void callchain_again(struct callchain *x, uint32_t leaf);

/* States how unwound stacks ended, as facts in section "stacks". Wants the pen. */
void callchain_facts(const struct callchain *x, capture_id c);

#endif
