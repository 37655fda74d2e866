/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of tui/app/live_rate: what comes by the sample, and what comes by the megabyte. */
#include "config.h"

#include "tui/app/live_rate.h"

#include <criterion/criterion.h>

#define N(cases)    (sizeof(cases) / sizeof(*(cases)))
#define PATIENCE_MS 3000
#define NOTES_MOST  6

/* Noted in this order; ns in milliseconds, -1: no times. */
struct note {
	int64_t ms, n, recorded_ms;
};

static const struct {
	const char *what;
	bool at_once;
	struct note notes[NOTES_MOST]; /* ms 0: no more */
	int64_t now_ms, per_s;
	int silent_s;
} cases[] = {
	{ "nothing is known", false, { { 0 } }, 1000, -1, 0 },
	{ "nothing came through a pipe", false, { { 100, 0, -1 } }, 9000, -1, 0 },
	{ "nothing was recorded", true, { { 100, 0, -1 } }, 9000, 0, 0 },
	{ "no times: by when it came",
	  false,
	  { { 1000, 0, -1 }, { 2000, 50, -1 }, { 3000, 100, -1 } },
	  3000,
	  50,
	  0 },
	{ "no times, and no more comes", false, { { 1000, 0, -1 }, { 2000, 50, -1 } }, 5000, 0, 0 },
	{ "the first of a pipe", false, { { 20000, 2000, 20000 } }, 20000, 100, 0 },
	{ "between two of a pipe",
	  false,
	  { { 20000, 2000, 20000 }, { 30000, 4000, 30000 } },
	  32000,
	  200,
	  0 },
	{ "none for long",
	  false,
	  { { 20000, 2000, 20000 }, { 30000, 4000, 30000 } },
	  42000,
	  200,
	  10 },
	{ "none for hours", false, { { 20000, 2000, 20000 } }, 99999999, 100, 3600 },
	{ "one in two pieces",
	  false,
	  { { 20000, 1000, 20000 }, { 20250, 2000, 20000 } },
	  20250,
	  100,
	  0 },
	{ "a large file, read at once",
	  false,
	  { { 100, 900, 1000 },
	    { 200, 300000, 100000 },
	    { 300, 301000, 102000 },
	    { 400, 301500, 103000 } },
	  400,
	  500,
	  0 },
	{ "it slows down",
	  true,
	  { { 1000, 1000, 1000 }, { 2000, 2000, 2000 }, { 5000, 2010, 5000 } },
	  5000,
	  3,
	  0 },
	{ "it begins again",
	  true,
	  { { 1000, 1000, 1000 }, { 2000, 2000, 2000 }, { 60000, 2300, 60000 } },
	  60000,
	  100,
	  0 },
	{ "it rests", true, { { 1000, 1000, 1000 }, { 2000, 2000, 2000 } }, 5000, 0, 0 },
};

Test(live_rate, paces)
{
	for (size_t i = 0; i < N(cases); i++) {
		struct live_rate r = { .n = 0 };
		struct live_pace p;

		for (size_t k = 0; k < NOTES_MOST && cases[i].notes[k].ms > 0; k++) {
			const struct note *n = &cases[i].notes[k];

			cr_expect_not(live_rate_knows(&r, (uint64_t)n->n));
			live_rate_note(&r, n->ms, (uint64_t)n->n,
				       n->recorded_ms < 0 ? -1 : n->recorded_ms * 1000000);
			cr_expect(live_rate_knows(&r, (uint64_t)n->n));
		}
		p = live_rate_pace(&r, cases[i].now_ms, cases[i].at_once, PATIENCE_MS);
		cr_expect_eq(p.per_s, cases[i].per_s, "%s: %lld", cases[i].what,
			     (long long)p.per_s);
		cr_expect_eq(p.silent_s, cases[i].silent_s, "%s: %d", cases[i].what, p.silent_s);
	}
}

/* However long it goes on, it is of the last seconds. */
Test(live_rate, of_the_last_seconds)
{
	struct live_rate r = { .n = 0 };
	uint64_t n = 0;

	for (int64_t ms = 100; ms < 600000; ms += 50) {
		n += ms < 300000 ? 10 : 30;
		live_rate_note(&r, ms, n, ms * 1000000);
	}
	cr_expect_eq(live_rate_pace(&r, 600000, true, PATIENCE_MS).per_s, 600);
}

/* What is held back for ten seconds and then comes at once is no rate; what comes after it is. */
Test(live_rate, tells_nothing_of_what_was_held_back)
{
	struct live_rate r = { .n = 0 };

	for (int64_t ms = 1000; ms <= 3000; ms += 250)
		live_rate_note(&r, ms, (uint64_t)ms, ms * 1000000);
	live_rate_anew(&r);
	live_rate_note(&r, 13000, 13000, INT64_C(13000000000));
	cr_expect_eq(live_rate_pace(&r, 13000, true, 3000).per_s, -1);
	live_rate_note(&r, 13250, 13250, INT64_C(13250000000));
	cr_expect_eq(live_rate_pace(&r, 13250, true, 3000).per_s, 1000);
}
