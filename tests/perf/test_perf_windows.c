/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Windows that are used over and over: those that are looked at keep what they hold, and those that nobody needs take no memory. */
#include "config.h"

#include "perf/file/perf_windows.h"

#include <criterion/criterion.h>
#include <string.h>

#define LONG_FILE (UINT64_C(100) << 20)
#define MARKS     4 /* places in a window that are written to */

static uint8_t *mark_in(uint8_t *window, unsigned i)
{
	return window + (size_t)i * (PERF_WINDOW_BYTES / MARKS);
}

static void write_marks(uint8_t *window, uint64_t number)
{
	for (unsigned i = 0; i < MARKS; i++)
		memcpy(mark_in(window, i), &number, sizeof(number));
}

/* Do all that are kept hold what was written to them? */
static void expect_kept(const struct perf_windows *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i <= PERF_WINDOWS_MOST; i++) {
		uint64_t number = w->of[i].number, mark;

		if (i == w->turn || number == 0 || number + w->kept <= w->n_windows)
			continue;
		n++;
		for (unsigned k = 0; k < MARKS; k++) {
			memcpy(&mark, mark_in(w->of[i].at, k), sizeof(mark));
			cr_expect_eq(mark, number);
		}
	}
	cr_expect_eq(n, w->n_windows < w->kept ? w->n_windows : w->kept);
}

static void take_turns(struct perf_windows *w, unsigned n, unsigned kept)
{
	for (unsigned i = 0; i < n; i++) {
		/* Windows of which nobody said that they are to stay are not there any more. */
		w->kept = kept < w->kept + 1 ? kept : w->kept + 1;
		write_marks(perf_windows_filling(w)->at, w->n_windows + 1);
		perf_windows_turn(w);
		expect_kept(w);
	}
}

static unsigned n_warm(const struct perf_windows *w)
{
	unsigned n = 0;

	for (unsigned i = 0; i <= PERF_WINDOWS_MOST; i++)
		n += w->of[i].warm;
	return n;
}

Test(perf_windows, keep_what_is_looked_at_and_no_more)
{
	static const unsigned kept[] = { 3, 20, 2, PERF_WINDOWS_MOST, 1, 7 };
	struct perf_windows w;

	perf_windows_init(&w, false, LONG_FILE);
	cr_assert_not_null(w.pool);
	for (unsigned round = 0; round < 3; round++)
		for (unsigned i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
			take_turns(&w, 3 * PERF_WINDOWS_MOST, kept[i]);
			/* One is being filled, and two share a page. */
			cr_expect_leq(n_warm(&w), 2 * (kept[i] + 1), "%u of %u", n_warm(&w),
				      kept[i]);
		}
	perf_windows_done(&w);
}

/* Back and forth within a few turns nothing is given back, as it would be taken again. */
Test(perf_windows, stay_warm_while_they_are_used_now_and_then)
{
	struct perf_windows w;
	unsigned warm;

	perf_windows_init(&w, false, LONG_FILE);
	take_turns(&w, 20, 8);
	warm = n_warm(&w);
	for (unsigned i = 0; i < 100; i++) {
		take_turns(&w, 4, 1);
		take_turns(&w, 8, 8);
		cr_expect_eq(n_warm(&w), warm);
	}
	perf_windows_done(&w);
}

/* A pipe's windows and a short file's are pieces of their own. */
Test(perf_windows, without_a_pool)
{
	struct perf_windows w;

	perf_windows_init(&w, false, PERF_WINDOW_BYTES);
	cr_assert_null(w.pool);
	take_turns(&w, 2 * PERF_WINDOWS_MOST, 5);
	take_turns(&w, 2 * PERF_WINDOWS_MOST, 1);
	perf_windows_done(&w);
}
