/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What the program sends: the budgets of bytes per key, and nothing that a name could smuggle in. */
#include "config.h"

#include "pty.h"
#include "pty_proftop.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Bytes that each of n presses of a key costs; the median. */
static size_t cost(struct pty *p, const char *key, int n, size_t *most)
{
	size_t all[64];

	cr_assert(n <= 64);
	*most = 0;
	for (int i = 0; i < n; i++) {
		size_t before = p->n_bytes, at;
		int k = i;

		pty_type(p, key);
		pty_wait_idle(p);
		at = p->n_bytes - before;
		*most = at > *most ? at : *most;
		for (; k > 0 && all[k - 1] > at; k--)
			all[k] = all[k - 1];
		all[k] = at;
	}
	return all[n / 2];
}

Test(terminal_bytes, budgets_at_120x40, WITH_PROFILE)
{
	static const struct {
		const char *what, *before, *key;
		int n;
		size_t least, median, most; /* least: it does do something */
	} cases[] = {
		{ "Down in top", "1", KEYS_DOWN, 60, 60, 250, 400 },
		{ "Down in tree", "2*", KEYS_DOWN, 60, 60, 250, 400 },
		{ "Down in callers", "3", KEYS_DOWN, 40, 60, 250, 400 },
		{ "Down in butterfly", "/serve\rb", KEYS_DOWN, 5, 60, 250, 400 },
		{ "Down in flame", "5", KEYS_DOWN, 3, 60, 250, 400 },
		{ "Right in flame", "5jj", KEYS_RIGHT, 5, 60, 250, 400 },
		{ "PageDown in top", "1", KEYS_PAGE_DOWN, 7, 500, 2500, 3000 },
		{ "PageDown in tree", "2*", KEYS_PAGE_DOWN, 7, 500, 2500, 3000 },
		{ "PageDown in callers", "3", KEYS_PAGE_DOWN, 7, 500, 2500, 3000 },
		{ "zoom into flame", "5jj", "\r", 1, 100, 8000, 8000 },
		{ "another view", "1", "\t", 7, 100, 8000, 8000 },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct pty p;
		size_t median, most;

		start_proftop(&p);
		pty_type(&p, cases[i].before);
		pty_wait_idle(&p);
		median = cost(&p, cases[i].key, cases[i].n, &most);
		fprintf(stderr, "%s: median %zu, most %zu bytes\n", cases[i].what, median, most);
		cr_expect(median >= cases[i].least, "%s: median %zu", cases[i].what, median);
		cr_expect(median <= cases[i].median, "%s: median %zu", cases[i].what, median);
		cr_expect(most <= cases[i].most, "%s: most %zu", cases[i].what, most);
		quit_proftop(&p);
	}
}

Test(terminal_bytes, idle_is_silent, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	cr_assert_eq(pty_bytes_within(&p, 400), (size_t)0);
	quit_proftop(&p);
}

Test(terminal_bytes, first_paint, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	fprintf(stderr, "first paint: %zu bytes\n", p.n_bytes);
	cr_assert(p.n_bytes <= 10000, "%zu", p.n_bytes);
	quit_proftop(&p);
}

/* Large frames are bracketed, markers where they belong; small ones are not worth it. */
Test(terminal_bytes, synchronized_output, WITH_PROFILE)
{
	struct pty p;
	size_t before;
	const char *begin, *end;

	start_proftop(&p);
	before = p.n_bytes;
	pty_type(&p, "j");
	pty_wait_idle(&p);
	cr_assert_null(memmem(p.raw + before, p.n_bytes - before, "\033[?2026", 7));
	before = p.n_bytes;
	pty_type(&p, "2");
	pty_wait_idle(&p);
	begin = memmem(p.raw + before, p.n_bytes - before, "\033[?2026h", 8);
	end = memmem(p.raw + before, p.n_bytes - before, "\033[?2026l", 8);
	cr_assert(begin && end && end - begin > 500, "the frame is not between its markers");
	cr_assert_eq(end + 8, p.raw + p.n_bytes, "something follows the end marker");
	quit_proftop(&p);
	start_proftop_with(&p, 120, 40, "vt100", NULL, NULL);
	pty_wait(&p, "flush_loop");
	cr_assert(!pty_sent(&p, "2026"));
	quit_proftop(&p);
}

Test(terminal_bytes, names_cannot_speak_to_the_terminal, WITH_PROFILE)
{
	static const char evil[] = "main;a\033]52;c;ZXZpbA==\ab;x\xc2\x9b?1049ly 5\n"
				   "main;\xe2\x80\xae"
				   "bidi;\033c\017 3\n";
	struct pty p;

	write_profile(evil);
	start_proftop_with(&p, 120, 40, "xterm-256color", NULL, NULL);
	pty_wait(&p, "bidi");
	pty_type(&p, "2*jjj5jjy?q/bidi\r");
	pty_wait_idle(&p);
	cr_assert(!pty_sent(&p, "\033]52;c;ZXZpbA"));
	cr_assert(!pty_sent(&p, "\xc2\x9b"));
	cr_assert(!pty_sent(&p, "\xe2\x80\xae"));
	cr_assert(!pty_sent(&p, "\033c"));
	cr_assert(p.altscreen);
	quit_proftop(&p);
}

Test(terminal_bytes, copies_by_osc_52, WITH_PROFILE)
{
	static const char *const in_tmux[] = { "TMUX=/tmp/x,1,0", NULL };
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "y");
	pty_wait(&p, "copied 10 bytes (OSC 52)");
	cr_assert(pty_sent(&p, "\033]52;c;Zmx1c2hfbG9vcA==\a"), "no flush_loop in base64");
	cr_assert(!pty_sent(&p, "\033Ptmux"));
	quit_proftop(&p);
	start_proftop_with(&p, 120, 40, "tmux-256color", in_tmux, NULL);
	pty_wait(&p, "flush_loop");
	pty_wait_idle(&p);
	pty_type(&p, "y");
	pty_wait(&p, "copied 10 bytes");
	cr_assert(pty_sent(&p, "\033Ptmux;\033\033]52;c;Zmx1c2hfbG9vcA==\a\033\\"));
	quit_proftop(&p);
}
