/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Leaf, calls, and what the callchain has beyond them. */
#include "config.h"

#include "perf/callchain/perf_branches.h"

#define WORDS     3u /* of a branch */
#define CALL_MAX  8u /* bytes of a call instruction, prefixes included */
#define DEPTH_MIN 8u /* what the smallest hardware keeps; others keep 16 or 32 */
#define DEPTH_MAX 32u

/*
 * Index in the chain of the frame that made a call, as near as possible to where it ought to be, in
 * a recursion; chain->n when it has none.
 */
static uint32_t find_caller(const struct perf_words *chain, uint64_t from, uint32_t expected)
{
	uint32_t best = chain->n, best_off = UINT32_MAX;

	for (uint32_t i = 1; i < chain->n; i++) {
		uint32_t off = i > expected ? i - expected : expected - i;

		if (perf_word(chain, i) - from - 1 < CALL_MAX && off < best_off) {
			best = i;
			best_off = off;
		}
	}
	return best;
}

static bool fills_hardware(uint32_t n, uint32_t depth)
{
	if (depth > 0)
		return n >= depth;
	return n >= DEPTH_MIN && n <= DEPTH_MAX && (n & (n - 1)) == 0;
}

struct branch_stack perf_branches_stack(const struct perf_words *branches,
					const struct perf_words *chain, uint32_t depth,
					uint64_t leaf, uint64_t *out)
{
	uint32_t n_branches = branches->n / WORDS, caller;
	struct branch_stack s = { .n = 0 };
	uint64_t from = 0;

	out[s.n++] = leaf;
	for (uint32_t i = 0; i < n_branches; i++) {
		from = perf_word(branches, WORDS * i);
		if (from == 0)
			break;
		out[s.n++] = from + 1;
	}
	if (from == 0)
		return s;
	caller = find_caller(chain, from, n_branches);
	for (uint32_t i = caller + 1; i < chain->n; i++)
		if (perf_word(chain, i) != 0)
			out[s.n++] = perf_word(chain, i);
	s.is_cut = fills_hardware(n_branches, depth) && caller == chain->n;
	return s;
}
