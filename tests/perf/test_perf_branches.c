/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Calls that the cpu kept, joined with the callchain: tables of both and the stack they give. */
#include "config.h"

#include "perf/callchain/perf_branches.h"

#include <criterion/criterion.h>
#include <string.h>

#define MAX 64

/* Branches are given by their calls only, newest first; a list ends at the first 0. */
static const struct {
	const char *what;
	uint64_t leaf;
	uint64_t calls[MAX];
	uint64_t chain[MAX];
	uint64_t stack[MAX]; /* wanted, leaf first */
	bool is_cut;
	uint32_t depth; /* as recorded */
} cases[] = {
	{ "the chain has the leaf only",
	  0x1005,
	  { 0x2000, 0x3000 },
	  { 0x1005 },
	  { 0x1005, 0x2001, 0x3001 },
	  false,
	  0 },
	{ "no chain at all", 0x1005, { 0x2000 }, { 0 }, { 0x1005, 0x2001 }, false, 0 },
	{ "the chain goes on behind the outermost call",
	  0x1005,
	  { 0x2000, 0x3000 },
	  { 0x1005, 0x2005, 0x3005, 0x4005, 0x5005 },
	  { 0x1005, 0x2001, 0x3001, 0x4005, 0x5005 },
	  false,
	  0 },
	{ "the chain skips a frame and goes on",
	  0x1005,
	  { 0x2000, 0x3000 },
	  { 0x1005, 0x3005, 0x4005 },
	  { 0x1005, 0x2001, 0x3001, 0x4005 },
	  false,
	  0 },
	{ "a recursion: the chain's frame of the same depth",
	  0x1005,
	  { 0x2000, 0x2000 },
	  { 0x1005, 0x2005, 0x2005, 0x2005, 0x4005 },
	  { 0x1005, 0x2001, 0x2001, 0x2005, 0x4005 },
	  false,
	  0 },
	{ "another chain is not joined",
	  0x1005,
	  { 0x2000 },
	  { 0x1005, 0x2009, 0x1fff },
	  { 0x1005, 0x2001 },
	  false,
	  0 },
	{ "eight calls may be all that there is room for",
	  0x1005,
	  { 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80 },
	  { 0x1005 },
	  { 0x1005, 0x11, 0x21, 0x31, 0x41, 0x51, 0x61, 0x71, 0x81 },
	  true,
	  0 },
	{ "nine are of a cpu that keeps more",
	  0x1005,
	  { 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80, 0x90 },
	  { 0x1005 },
	  { 0x1005, 0x11, 0x21, 0x31, 0x41, 0x51, 0x61, 0x71, 0x81, 0x91 },
	  false,
	  0 },
	{ "eight calls, and the chain knows the rest",
	  0x1005,
	  { 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80 },
	  { 0x1005, 0x85, 0x95 },
	  { 0x1005, 0x11, 0x21, 0x31, 0x41, 0x51, 0x61, 0x71, 0x81, 0x95 },
	  false,
	  0 },
	{ "eight calls of a cpu that is known to keep more",
	  0x1005,
	  { 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x70, 0x80 },
	  { 0x1005 },
	  { 0x1005, 0x11, 0x21, 0x31, 0x41, 0x51, 0x61, 0x71, 0x81 },
	  false,
	  32 },
	{ "three calls of a cpu that is known to keep three",
	  0x1005,
	  { 0x10, 0x20, 0x30 },
	  { 0x1005 },
	  { 0x1005, 0x11, 0x21, 0x31 },
	  true,
	  3 },
};

Test(perf_branches, stacks)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t branches[3 * MAX] = { 0 }, out[2 * MAX] = { 0 };
		struct perf_words b = { .at = (const uint8_t *)branches };
		struct perf_words c = { .at = (const uint8_t *)cases[i].chain };
		struct branch_stack s;
		size_t n = 0;

		for (; cases[i].calls[b.n / 3]; b.n += 3) {
			branches[b.n] = cases[i].calls[b.n / 3];
			branches[b.n + 1] = 0xdead;
		}
		while (cases[i].chain[c.n])
			c.n++;
		while (cases[i].stack[n])
			n++;
		s = perf_branches_stack(&b, &c, cases[i].depth, cases[i].leaf, out);
		cr_expect_eq(s.n, n, "%s: %zu frames", cases[i].what, s.n);
		cr_expect_eq(memcmp(out, cases[i].stack, n * sizeof(*out)), 0, "%s", cases[i].what);
		cr_expect_eq(s.is_cut, cases[i].is_cut, "%s: cut", cases[i].what);
	}
}

/* A call of address 0 ends the stack: the hardware had nothing more. */
Test(perf_branches, an_empty_entry_ends_the_stack)
{
	uint64_t branches[9] = { 0x2000, 0x1000, 0, 0, 0, 0, 0x3000, 0, 0 }, out[8] = { 0 };
	struct perf_words b = { .at = (const uint8_t *)branches, .n = 9 }, c = { .n = 0 };
	struct branch_stack s = perf_branches_stack(&b, &c, 0, 0x1005, out);

	cr_expect_eq(s.n, 2);
	cr_expect_eq(out[1], 0x2001);
	cr_expect_not(s.is_cut);
}
