/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Stacks drawn as letters, outermost first: a letter is a pc, its place on the line the stack pointer.
 * A blank before the first letter is what the copy did not reach, so such a stack is truncated; '_' between
 * letters makes the frame outside of it larger, '!' begins a broken one.
 */
#include "config.h"

#include "unwind/stitch.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define TOP 0x7000u /* where the outermost frame has its stack */
#define MAX 16

struct taken {
	int32_t tid;
	const char *stack; /* NULL: no more */
};

/* clang-format off */
static const struct {
	const char *what;
	struct taken before[4];
	int times; /* that they come, in turn with a stack of nothing else; 0: three */
	const char *stack; /* of thread 1 */
	const char *want;
} cases[] = {
	{ "as the one before", { { 1, "abcdefgx" } }, 0, "   defgy", "abcdefgy" },
	{ "as one long before", { { 1, "abcdefgx" }, { 1, "aqx" }, { 1, "ax" } }, 0, "   defgy", "abcdefgy" },
	{ "seen twice only", { { 1, "abcdefgx" } }, 2, "   defgy", "defgy" },
	{ "seen often, but all in a row", { { 1, "abcdefgx" }, { 1, "abcdefgz" }, { 1, "abcdefgx" }, { 1, "abcdefx" } }, 1, "   defgy", "defgy" },
	{ "nothing is known", { { 2, "x" } }, 0, "   defgy", "defgy" },
	{ "of another thread", { { 2, "abcdefgx" } }, 0, "   defgy", "defgy" },
	{ "three frames in common", { { 1, "abcdefgx" } }, 0, "   defy", "abcdefy" },
	{ "two frames in common", { { 1, "abcdefgx" } }, 0, "   dehy", "dehy" },
	{ "three frames, but the leaf is none of them", { { 1, "abcdefgx" } }, 0, "   def", "def" },
	{ "the same calls elsewhere on the stack", { { 1, "abcdefgx" } }, 0, "    defgy", "defgy" },
	{ "a frame of another size outside", { { 1, "abc_defgx" } }, 0, "    defgy", "abcdefgy" },
	{ "the frames inside are of other sizes", { { 1, "abcdefgx" } }, 0, "   de_fgy", "defgy" },
	{ "from truncated one to truncated one", { { 1, "abcdefx" }, { 1, "  cdefghix" } }, 0, "     fghiy", "abcdefghiy" },
	{ "a gap between them", { { 1, "abcx" }, { 1, "   defghix" } }, 0, "     fghiy", "fghiy" },
	{ "two callers of one frame", { { 1, "abcdefgx" }, { 1, "aqcdefgx" } }, 0, "   defgy", "defgy" },
	{ "two callers of one of the last three, here as before", { { 1, "abcdefgx" }, { 1, "abqdefgx" } }, 0, "  cdefgy", "cdefgy" },
	{ "two callers, seen in truncated stacks", { { 1, "abcdefgx" }, { 1, " qcdefgx" } }, 0, "   defgy", "defgy" },
	{ "two callers, but of a frame that was copied", { { 1, "abcdefgx" }, { 1, "abcdqfgx" } }, 0, "  cdefgy", "abcdefgy" },
	{ "outermost once, called another time", { { 1, "_bcdefgx" }, { 1, "abcdefgx" } }, 0, "   defgy", "defgy" },
	{ "what a broken stack said", { { 1, "!abcdefgx" } }, 0, "   defgy", "defgy" },
	{ "two callers, one of them broken", { { 1, "abcdefgx" }, { 1, "!aqcdefgx" } }, 0, "   defgy", "abcdefgy" },
	{ "as many frames as there is room for", { { 1, "abcdefghijklmnox" } }, 0, "            mnoy", "abcdefghijklmnoy" },
	{ "more", { { 1, "abcdefghijklmnox" } }, 0, "            mnopqy", "mnopqy" },
};
/* clang-format on */

static size_t walk_of(const char *stack, struct walk_frame *out, enum walk_end *end)
{
	size_t n = 0, at = strlen(stack);

	*end = *stack == ' ' ? WALK_TRUNCATED : *stack == '!' ? WALK_UNREADABLE : WALK_COMPLETE;
	if (*stack == '!') {
		stack++;
		at--;
	}
	while (at-- > 0) {
		if (stack[at] == ' ' || stack[at] == '_')
			continue;
		out[n] = (struct walk_frame){ .pc = (uint8_t)stack[at],
					      .sp = TOP - 16 * at,
					      .exact = n == 0 };
		n++;
	}
	return n;
}

static void take(struct stitcher *s, int32_t tid, const char *stack, char *text)
{
	struct walk_frame f[MAX];
	enum walk_end end;
	size_t n = walk_of(stack, f, &end);

	n = stitcher_take(s, 1, tid, end, f, n, MAX);
	cr_assert_leq(n, MAX);
	for (size_t i = 0; i < n; i++)
		text[i] = (char)f[n - 1 - i].pc;
	text[n] = 0;
}

Test(stitch, cases)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct stitcher *s = stitcher_new();
		char got[MAX + 1];

		for (int t = 0; t < (cases[i].times ? cases[i].times : 3); t++) {
			for (size_t k = 0; k < 4 && cases[i].before[k].stack; k++)
				take(s, cases[i].before[k].tid, cases[i].before[k].stack, got);
			take(s, 1, "x", got);
		}
		take(s, 1, cases[i].stack, got);
		cr_expect_str_eq(got, cases[i].want, "%s: %s, not %s", cases[i].what, got,
				 cases[i].want);
		stitcher_free(s);
	}
}
