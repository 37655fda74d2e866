/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/contract/list.h"

#include <criterion/criterion.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))

Test(list, moves)
{
	static const struct {
		const char *what;
		uint32_t n, cursor, top;
		int height;
		enum action a;
		uint32_t cursor_then, top_then;
	} cases[] = {
		{ "down one", 9, 0, 0, 4, ACTION_DOWN, 1, 0 },
		{ "down scrolls by one at the edge", 9, 3, 0, 4, ACTION_DOWN, 4, 1 },
		{ "down at the end stays", 9, 8, 5, 4, ACTION_DOWN, 8, 5 },
		{ "up scrolls by one at the edge", 9, 5, 5, 4, ACTION_UP, 4, 4 },
		{ "up at the start stays", 9, 0, 0, 4, ACTION_UP, 0, 0 },
		{ "a page moves cursor and window", 20, 1, 0, 4, ACTION_PAGE_DOWN, 5, 4 },
		{ "the last page shows the last rows", 9, 5, 4, 4, ACTION_PAGE_DOWN, 8, 5 },
		{ "a page up", 20, 9, 8, 4, ACTION_PAGE_UP, 5, 4 },
		{ "a page up at the start", 20, 2, 1, 4, ACTION_PAGE_UP, 0, 0 },
		{ "half a page", 20, 1, 0, 5, ACTION_HALF_DOWN, 3, 2 },
		{ "half a page up", 20, 9, 8, 5, ACTION_HALF_UP, 7, 6 },
		{ "first", 20, 9, 8, 5, ACTION_FIRST, 0, 0 },
		{ "last", 20, 9, 8, 5, ACTION_LAST, 19, 15 },
		{ "fewer rows than lines", 3, 1, 0, 10, ACTION_LAST, 2, 0 },
		{ "no rows", 0, 0, 0, 10, ACTION_DOWN, 0, 0 },
		{ "no lines", 5, 1, 0, 0, ACTION_DOWN, 2, 2 },
		{ "one line", 5, 1, 1, 1, ACTION_PAGE_DOWN, 2, 2 },
		{ "almost all there can be", UINT32_MAX, UINT32_MAX - 2, UINT32_MAX - 5, 4,
		  ACTION_PAGE_DOWN, UINT32_MAX - 1, UINT32_MAX - 4 },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct list l = { .cursor = cases[i].cursor, .top = cases[i].top };

		l.n = cases[i].n;
		list_fit(&l, cases[i].n, cases[i].height);
		l.top = cases[i].height > 0 ? cases[i].top : l.top;
		cr_expect(list_act(&l, cases[i].a));
		cr_expect_eq(l.cursor, cases[i].cursor_then, "%s: cursor %u", cases[i].what,
			     (unsigned)l.cursor);
		cr_expect_eq(l.top, cases[i].top_then, "%s: top %u", cases[i].what,
			     (unsigned)l.top);
	}
}

Test(list, other_actions_are_not_moves)
{
	struct list l = { .n = 3, .height = 3 };

	cr_expect_not(list_act(&l, ACTION_ENTER));
	cr_expect_not(list_act(&l, ACTION_SEARCH));
	cr_expect_eq(l.cursor, 0);
}

Test(list, fewer_rows_keep_the_cursor_in_range)
{
	struct list l = { .n = 100, .cursor = 90, .top = 80, .height = 20 };

	list_fit(&l, 50, 20);
	cr_expect_eq(l.cursor, 49);
	cr_expect_eq(l.top, 30);
	list_fit(&l, 0, 20);
	cr_expect_eq(l.cursor, 0);
	cr_expect_eq(l.top, 0);
}

Test(list, going_far_shows_what_is_around)
{
	struct list l = { .n = 100, .height = 12 };

	list_go(&l, 5);
	cr_expect_eq(l.top, 0, "in sight: nothing scrolls");
	list_go(&l, 50);
	cr_expect_eq(l.cursor, 50);
	cr_expect_eq(l.top, 46, "a third of the way down");
	list_go(&l, 99);
	cr_expect_eq(l.top, 88);
}

Test(list, lines)
{
	struct list l = { .n = 5, .top = 2, .cursor = 2, .height = 4 };

	cr_expect_eq(list_at(&l, 0), 2);
	cr_expect_eq(list_at(&l, 2), 4);
	cr_expect_eq(list_at(&l, 3), UINT32_MAX, "below the last row");
	cr_expect_eq(list_at(&l, 4), UINT32_MAX, "below the rectangle");
	cr_expect_eq(list_at(&l, -1), UINT32_MAX);
}

/* Rows come and go above it: it is another number, on the same line. */
Test(list, a_row_that_moves_keeps_its_line)
{
	struct list l = { .n = 100, .cursor = 25, .top = 20, .height = 10 }, was = l;

	list_follow(&l, &was, 60, true);
	cr_expect_eq(l.cursor, 60u);
	cr_expect_eq(l.top, 55u);
	/* There are not so many rows above it, or below. */
	list_follow(&l, &was, 3, true);
	cr_expect_eq(l.cursor, 3u);
	cr_expect_eq(l.top, 0u);
	list_follow(&l, &was, 99, true);
	cr_expect_eq(l.cursor, 99u);
	cr_expect_eq(l.top, 90u);
	/* What is in sight moves only as far as it must, where nothing grows. */
	l = was;
	list_follow(&l, &was, 27, false);
	cr_expect_eq(l.top, 20u);
}
