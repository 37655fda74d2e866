/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "tui/term/osc52.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

Test(osc52, sequences)
{
	static const struct {
		const char *text;
		bool in_tmux;
		const char *out;
	} cases[] = {
		{ "", false, "\033]52;c;\a" },
		{ "f", false, "\033]52;c;Zg==\a" },
		{ "fo", false, "\033]52;c;Zm8=\a" },
		{ "foo", false, "\033]52;c;Zm9v\a" },
		{ "\xff\xfe?>", false, "\033]52;c;//4/Pg==\a" },
		{ "foo", true, "\033]52;c;Zm9v\a\033Ptmux;\033\033]52;c;Zm9v\a\033\\" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		char *out = osc52_sequence(cases[i].text, cases[i].in_tmux);

		cr_expect_str_eq(out, cases[i].out, "case %zu", i);
		free(out);
	}
}

Test(osc52, too_long)
{
	char *text = xmalloc(100001), *out;

	memset(text, 'x', 100000);
	text[100000] = '\0';
	cr_assert_null(osc52_sequence(text, false));
	text[56000] = '\0';
	out = osc52_sequence(text, false);
	cr_assert_not_null(out);
	cr_assert(strlen(out) < 75000 && strlen(out) > 74000);
	free(out);
	free(text);
}
