/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions that are on one side alone: where the other side has them, and when nothing is said of that. */
#include "config.h"

#include "query/diff/diff_moves.h"

#include "base/err.h"
#include "base/mem.h"
#include "query/diff/comparison.h"
#include "query/diff/diff.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

/* Stacks with how often they are there before and after. */
struct stack {
	const char *frames;
	unsigned before, after;
};

/* clang-format off: one line a stack */
static const struct {
	const char *what;
	struct stack stacks[6];
	const char *moves; /* "FUNCTION: what is said"; by the table's order */
} cases[] = {
	{ "nothing", { { "m;a", 1000, 1000 }, { "m;b", 500, 500 } }, "" },
	{ "another module",
	  { { "m;f@x", 400, 0 }, { "m;f@y", 0, 390 }, { "m;a", 9, 9 } },
	  "f@x: now in y\nf@y: was in x\n" },
	{ "one of two", { { "m;f@x", 400, 0 }, { "m;f@z", 400, 0 }, { "m;f@y", 0, 390 } }, "" },
	{ "both modules have it", { { "m;f@x", 400, 1 }, { "m;f@y", 0, 390 } }, "" },
	{ "inlined",
	  { { "m;g;f", 400, 0 }, { "m;g", 100, 490 }, { "m;a", 9, 9 } },
	  "f: perhaps inlined into g\n" },
	{ "taken out",
	  { { "m;g;f", 0, 400 }, { "m;g", 490, 100 }, { "m;a", 9, 9 } },
	  "f: perhaps taken out of g\n" },
	{ "gone, and its caller as before", { { "m;g;f", 400, 0 }, { "m;g", 100, 105 } }, "" },
	{ "gone, and its caller far larger", { { "m;g;f", 100, 0 }, { "m;g", 100, 900 } }, "" },
	{ "of two callers",
	  { { "m;g;f", 400, 0 }, { "m;h;f", 400, 0 }, { "m;g", 100, 900 }, { "m;h", 50, 50 } },
	  "" },
	{ "within noise", { { "m;g;f", 4, 0 }, { "m;g", 100, 104 }, { "m;a", 900, 900 } }, "" },
	{ "new, and its caller, too",
	  { { "m;g;f", 0, 400 }, { "m;g", 0, 100 }, { "m;a", 9, 9 } },
	  "" },
};
/* clang-format on */

static struct profile *make(const struct stack *stacks)
{
	char *text = xcalloc(40000, 16), *at = text;
	struct profile *p;

	for (int side = 0; side < 2; side++) {
		at = stpcpy(at, side ? "capture\n" : "");
		for (size_t i = 0; i < 6 && stacks[i].frames; i++)
			for (unsigned n = side ? stacks[i].after : stacks[i].before; n > 0; n--)
				at = stpcpy(stpcpy(at, stacks[i].frames), " 1\n");
	}
	p = made_profile(text);
	free(text);
	return p;
}

static struct analysis *compare(const struct profile *p)
{
	const struct comparison_choice choice = { .event = "", .metric = "" };
	struct comparison s = { 0 };
	struct err e = ERR_INIT;
	struct analysis *a;
	struct lens l;

	cr_assert_eq(comparison_add(&s, SIDE_BEFORE, "capture:1", &e), 0);
	cr_assert_eq(comparison_add(&s, SIDE_AFTER, "capture:2", &e), 0);
	made_lens(&l, p, "");
	cr_assert_eq(comparison_lens(&s, p, &choice, &l, &e), 0, "%s", err_text(&e));
	a = made_analysis(p, &l);
	lens_done(&l);
	comparison_done(&s);
	return a;
}

/* "f@x: now in y\n"; the caller frees. */
static char *moves_of(const struct analysis *a)
{
	struct diff_move *moves = diff_moves_find(a->diff);
	char *out = xstrdup("");

	cr_assert_not_null(moves);
	for (uint32_t i = 0; i < a->table.n_rows; i++) {
		const struct key *key = &a->keys.key[a->table.key[i]];
		char *text = diff_move_text(a->diff, &moves[a->table.key[i]]), *more;

		if (!text)
			continue;
		more = xasprintf("%s%s%s%s: %s\n", out, key->label, *key->module ? "@" : "",
				 key->module, text);
		free(text);
		free(out);
		out = more;
	}
	free(moves);
	return out;
}

Test(diff_moves, cases)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct profile *p = make(cases[i].stacks);
		struct analysis *a = compare(p);
		char *moves = moves_of(a);

		cr_expect_str_eq(moves, cases[i].moves, "%s: got\n%s", cases[i].what, moves);
		free(moves);
		analysis_free(a);
		profile_free(p);
	}
}
