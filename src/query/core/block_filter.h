/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Terms of filters that are about single blocks of a heap: their size, their life, how they came and went. */
#ifndef PROFTOP_QUERY_CORE_BLOCK_FILTER_H
#define PROFTOP_QUERY_CORE_BLOCK_FILTER_H

#include <stdbool.h>
#include <stdint.h>

struct heap_state;
struct term;

/* X(enum, word of block:) */
/* clang-format off */
#define BLOCK_STATES(X) \
	X(LEAKED,    "leaked")    /* not freed before the recording's end */ \
	X(FREED,     "freed")     /* freed before it */ \
	X(TEMPORARY, "temporary") /* freed by the next heap call of its thread */ \
	X(REALLOC,   "realloc")   /* returned by realloc, with a block before it */ \
	X(MAPPED,    "mapped")    /* of mmap, not of malloc */ \
	X(HANDED,    "handed")    /* freed by another thread than allocated it, where that is known */
/* clang-format on */

enum block_state {
#define X(id, word) BLOCK_##id,
	BLOCK_STATES(X)
#undef X
		N_BLOCK_STATES
};

const char *block_state_word(enum block_state s);

/*
 * Which allocations hold each of n terms, negated ones included, as bits: [n_allocations / HEAP_GROUP + 1], of each group its first
 * row lowest. freed_in: [n], of TERM_FREED_IN which of n_stacks match; else NULL. The caller frees; NULL for n 0.
 */
uint64_t *block_filter(const struct heap_state *state, const struct term *const *terms,
		       const bool *const *freed_in, uint32_t n, uint32_t n_stacks,
		       uint32_t first_heap_event);

#endif
