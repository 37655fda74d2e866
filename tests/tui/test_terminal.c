/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The real program on a pseudo terminal: its life, its way out, and what it sends. */
#include "config.h"

#include "tests/support/pty.h"
#include "tests/support/pty_proftop.h"

#include <criterion/criterion.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

Test(terminal, starts_and_quits, WITH_PROFILE)
{
	struct pty p;
	char *title;

	start_proftop(&p);
	cr_assert(p.altscreen);
	title = pty_text(&p, 0);
	cr_assert(strstr(title, "samples"), "%s", title);
	free(title);
	pty_wait_row(&p, 1, "[1 top] 2 tree");
	pty_wait(&p, "FUNCTION");
	quit_proftop(&p);
}

/* Where there can be no screen, the last row says why, and what to set: what stands above a report is out of sight. */
Test(terminal, without_a_description_it_says_what_to_set, WITH_PROFILE)
{
	static const struct {
		const char *term, *says;
	} cases[] = {
		{ "none-such",
		  "nothing here describes terminals of type 'none-such': export TERM=" },
		{ "", "TERM is not set, which says what the terminal is: export TERM=" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct pty p;

		start_proftop_with(&p, 160, 12, cases[i].term, NULL, NULL);
		cr_expect_eq(pty_wait_end(&p), 0);
		cr_expect(pty_shows(&p, cases[i].says), "%s", cases[i].term);
		cr_expect(pty_shows(&p, "that is the report instead"), "%s", cases[i].term);
		pty_end(&p);
	}
}

Test(terminal, q_goes_back_before_it_quits, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "t");
	pty_wait_row(&p, 1, " 1 top [2 tree]");
	pty_type(&p, "q");
	pty_wait_row(&p, 1, "[1 top] 2 tree");
	pty_type(&p, "q");
	cr_assert_eq(pty_wait_end(&p), 0);
	pty_expect_restored(&p);
	pty_end(&p);
}

Test(terminal, keys_move_the_cursor, WITH_PROFILE)
{
	struct pty p;
	int row;

	start_proftop(&p);
	row = marked_row(&p);
	cr_assert(row > 1, "no row is marked");
	pty_type(&p, "j" KEYS_DOWN "\016");
	pty_wait_idle(&p);
	cr_assert_eq(marked_row(&p), row + 3);
	pty_type(&p, "k\033OA\020");
	pty_wait_idle(&p);
	cr_assert_eq(marked_row(&p), row);
	pty_type(&p, "G");
	pty_wait(&p, "parse_record_299");
	pty_type(&p, "g");
	pty_wait(&p, "flush_loop");
	quit_proftop(&p);
}

Test(terminal, esc_never_quits_and_unknown_sequences_are_no_keys, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "\033");
	pty_wait_idle(&p);
	pty_type(&p, "\033");
	pty_wait_idle(&p);
	pty_type(&p, "\033[I\033[27;5;9~\033[203~\033[99;9Q");
	pty_wait_idle(&p);
	pty_wait_row(&p, 1, "[1 top]");
	cr_assert(!pty_shows(&p, "inlined"), "the end of a sequence was taken for a key");
	quit_proftop(&p);
}

Test(terminal, search_as_one_types, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "/record_01");
	pty_wait(&p, "/record_01");
	pty_wait(&p, "1/10 · ");
	pty_wait(&p, "% of total");
	pty_type(&p, "\r");
	pty_wait(&p, "search  /record_01");
	pty_type(&p, "n");
	pty_wait(&p, "2/10 · ");
	pty_type(&p, "N");
	pty_wait(&p, "1/10 · ");
	pty_type(&p, "\033");
	pty_wait_gone(&p, "search  /");
	pty_type(&p, "/(");
	pty_wait(&p, "/(");
	pty_type(&p, "\033");
	pty_wait_gone(&p, "/(");
	quit_proftop(&p);
}

Test(terminal, filters, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "&!fn:flush\r");
	pty_wait(&p, "filter  !fn:flush");
	pty_wait_gone(&p, "flush_loop");
	pty_type(&p, "&bad:kind\r");
	pty_wait(&p, "bad");
	pty_type(&p, "\033");
	pty_type(&p, "&\177");
	pty_wait(&p, "flush_loop");
	pty_wait_gone(&p, "filter  !fn");
	quit_proftop(&p);
}

/* Pasted text is text in prompts, its lines end nothing, and is no keys elsewhere. */
Test(terminal, paste, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	cr_assert(pty_sent(&p, "\033[?2004h"));
	pty_type(&p, "\033[200~q\r?5\n\033[201~");
	pty_wait(&p, "pasted text is no keys");
	pty_wait_row(&p, 1, "[1 top]");
	pty_type(&p, "&\033[200~!fn:flush\nfn:record\n\033[201~");
	pty_wait(&p, "& !fn:flush fn:record");
	pty_type(&p, "\r");
	pty_wait(&p, "filter  !fn:flush fn:record");
	pty_type(&p, "\003");
	pty_wait_end(&p);
	cr_assert(pty_sent(&p, "\033[?2004l"));
	pty_end(&p);
}

Test(terminal, help_lies_over_the_view, WITH_PROFILE)
{
	struct pty p;

	start_proftop(&p);
	pty_type(&p, "?");
	pty_wait(&p, "KEYS IN top");
	cr_assert(!pty_shows(&p, "hot path"), "keys of other views are shown");
	pty_type(&p, "G");
	pty_wait(&p, "hold Shift");
	pty_type(&p, "\033");
	pty_wait_gone(&p, "EVERYWHERE");
	pty_wait(&p, "flush_loop");
	quit_proftop(&p);
}

/* Press and release, in the SGR encoding: button, column and row from 1. */
static void click(struct pty *p, int row, int col)
{
	char bytes[64];

	snprintf(bytes, sizeof(bytes), "\033[<0;%d;%dM\033[<0;%d;%dm", col + 1, row + 1, col + 1,
		 row + 1);
	pty_type(p, bytes);
	pty_wait_idle(p);
}

Test(terminal, mouse, WITH_PROFILE)
{
	struct pty p;
	int row;

	start_proftop(&p);
	cr_assert(p.mouse);
	row = marked_row(&p);
	click(&p, row + 3, 49);
	cr_assert_eq(marked_row(&p), row + 3);
	pty_type(&p, "\033[<65;50;10M");
	pty_wait_idle(&p);
	cr_assert_eq(marked_row(&p), row + 6);
	pty_type(&p, "\033[<64;50;10M");
	pty_wait_idle(&p);
	cr_assert_eq(marked_row(&p), row + 3);
	click(&p, 1, 9); /* the second tab */
	pty_wait_row(&p, 1, " 1 top [2 tree]");
	click(&p, 39, 3); /* the first hint: Enter */
	pty_wait_row(&p, 1, " 1 top [2 tree]");
	click(&p, 1, 2);
	row = marked_row(&p);
	click(&p, row + 2, 49);
	click(&p, row + 2, 49); /* twice: drills */
	pty_wait_gone(&p, "[1 top]");
	quit_proftop(&p);
}

Test(terminal, mouse_may_be_off, WITH_PROFILE)
{
	struct pty p;

	start_proftop_with(&p, 120, 40, "xterm-256color", NULL, "-M");
	pty_wait(&p, "flush_loop");
	pty_wait_idle(&p);
	cr_assert(!p.mouse);
	quit_proftop(&p);
}

/* Every size in turn, and at the end the screen is of the last one: no signal was missed. */
Test(terminal, resizing, WITH_PROFILE)
{
	struct pty p;
	unsigned seed = 7;

	start_proftop(&p);
	for (int i = 0; i < 150; i++) {
		int cols = 1 + rand_r(&seed) % 200, rows = 1 + rand_r(&seed) % 60;

		pty_resize(&p, cols, rows);
		if (i % 10 == 0) {
			pty_type(&p, i % 20 ? "\t" : "j");
			pty_wait_idle(&p);
		}
		if (i % 3 == 0) {
			pty_resize(&p, 90, 20 + i % 7);
			pty_wait_row(&p, 19 + i % 7, " ");
			pty_wait(&p, "? help");
		}
	}
	pty_resize(&p, 100, 30);
	pty_type(&p, "1");
	pty_wait_row(&p, 1, "[1 top]");
	pty_wait_row(&p, 29, " Enter open");
	quit_proftop(&p);
}

/* Small for an instant: what the terminal lost meanwhile comes back. */
Test(terminal, resizing_there_and_back, WITH_PROFILE)
{
	struct pty p;
	char *before;

	start_proftop(&p);
	pty_wait_gone(&p, "counting");
	before = pty_text(&p, -1);
	for (int i = 0; i < 60; i++) {
		char *after;

		pty_resize(&p, 30, 5 + i % 20);
		poll(NULL, 0, i % 3);
		pty_resize(&p, 120, 40);
		pty_wait_row(&p, 39, " Enter open");
		pty_wait_idle(&p);
		after = pty_text(&p, -1);
		cr_assert_str_eq(after, before, "round %d:\n%s", i, after);
		free(after);
	}
	free(before);
	quit_proftop(&p);
}

Test(terminal, small_screens, WITH_PROFILE)
{
	static const struct {
		int cols, rows;
		const char *shows;
	} cases[] = { { 80, 24, "? help" }, { 40, 10, "? help" }, { 20, 5, "? help" } };

	for (size_t i = 0; i < N(cases); i++) {
		struct pty p;

		start_proftop_with(&p, cases[i].cols, cases[i].rows, "xterm-256color", NULL, NULL);
		pty_wait(&p, cases[i].shows);
		pty_type(&p, "jj\t\t\t\t\t\t\t?q");
		pty_wait_idle(&p);
		quit_proftop(&p);
	}
}
