/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/rows/time_axis.h"

#include "base/mem.h"
#include "tests/support/made_profile.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static const struct {
	char key;
	enum action action;
} keys_of[] = {
	{ 'h', ACTION_LEFT },      { 'l', ACTION_RIGHT },   { 'H', ACTION_FAR_LEFT },
	{ 'L', ACTION_FAR_RIGHT }, { '+', ACTION_ZOOM_IN }, { '-', ACTION_ZOOM_OUT },
	{ 'A', ACTION_MARK_A },    { 'B', ACTION_MARK_B },
};

static void play(struct time_axis *t, const char *keys)
{
	for (; *keys; keys++)
		for (size_t i = 0; i < sizeof(keys_of) / sizeof(keys_of[0]); i++)
			if (keys_of[i].key == *keys)
				time_axis_act(t, keys_of[i].action);
}

/* 100 columns of 10 s: a column is 100 ms. */
static const struct {
	const char *what, *keys;
	int64_t cursor, from, to, a, b;
} walks[] = {
	{ "at the start", "", 0, 0, 10 * S, TIME_UNMARKED, TIME_UNMARKED },
	{ "not before it", "hH", 0, 0, 10 * S, TIME_UNMARKED, TIME_UNMARKED },
	{ "a column later", "l", 100 * MS, 0, 10 * S, TIME_UNMARKED, TIME_UNMARKED },
	{ "ten and back one", "Lh", 900 * MS, 0, 10 * S, TIME_UNMARKED, TIME_UNMARKED },
	{ "not behind the end", "LLLLLLLLLLLLl", 9900 * MS, 0, 10 * S, TIME_UNMARKED,
	  TIME_UNMARKED },
	{ "zooming keeps the cursor's column", "LL+", 2 * S, 1 * S, 6 * S, TIME_UNMARKED,
	  TIME_UNMARKED },
	{ "and out again", "LL+-", 2 * S, 0, 10 * S, TIME_UNMARKED, TIME_UNMARKED },
	{ "walking out of sight scrolls", "LL+HHh", 950 * MS, 950 * MS, 5950 * MS, TIME_UNMARKED,
	  TIME_UNMARKED },
	{ "a range of one column", "LAB", 1 * S, 0, 10 * S, 1 * S, 1100 * MS },
	{ "a range", "LALLB", 3 * S, 0, 10 * S, 1 * S, 3100 * MS },
	{ "its end first", "LLBHA", 1 * S, 0, 10 * S, 1 * S, 2100 * MS },
	{ "an end before the begin changes places with it", "LLAHhB", 900 * MS, 0, 10 * S, 900 * MS,
	  2100 * MS },
	{ "a begin behind the end, too", "LBLA", 2 * S, 0, 10 * S, 1 * S, 2100 * MS },
	{ "out of sight, too", "LLA+HHhB", 950 * MS, 950 * MS, 5950 * MS, 950 * MS, 2050 * MS },
	{ "and far out of it", "LLLLLLLLA+HHHHHHHHHHHHB", 2 * S, 2 * S, 7 * S, 2 * S, 8 * S },
	{ "an end before a range begins another one", "LLALBHHB", 1 * S, 0, 10 * S, TIME_UNMARKED,
	  1100 * MS },
	{ "a begin behind it, too", "LALBLLA", 4 * S, 0, 10 * S, 4 * S, TIME_UNMARKED },
};

Test(time_axis, walks)
{
	for (size_t i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
		struct time_axis t;

		time_axis_init(&t);
		time_axis_fit(&t, 10 * S, 100);
		play(&t, walks[i].keys);
		cr_expect_eq(t.cursor_ns, walks[i].cursor, "%s: cursor %lld", walks[i].what,
			     (long long)t.cursor_ns);
		cr_expect_eq(t.from_ns, walks[i].from, "%s: from %lld", walks[i].what,
			     (long long)t.from_ns);
		cr_expect_eq(t.to_ns, walks[i].to, "%s: to %lld", walks[i].what,
			     (long long)t.to_ns);
		cr_expect_eq(t.a_ns, walks[i].a, "%s: A %lld", walks[i].what, (long long)t.a_ns);
		cr_expect_eq(t.b_ns, walks[i].b, "%s: B %lld", walks[i].what, (long long)t.b_ns);
	}
}

/* Whatever is done to it, what its header promises holds, and a column's time is in that column. */
Test(time_axis, never_breaks)
{
	static const int64_t wholes[] = { 0, 1, 2, 7, 1000, S, 36 * S, INT64_MAX };
	static const char keys[] = "hlHL++--AB";
	unsigned lot = 7;
	struct canvas c;

	canvas_init(&c, 200, 1, false);

	for (int round = 0; round < 3000; round++) {
		struct time_axis t;
		int64_t whole = wholes[made_number(&lot, 8)];
		int cols = 1 + (int)made_number(&lot, 200);

		time_axis_init(&t);
		time_axis_fit(&t, whole, cols);
		for (int i = 0; i < 12; i++) {
			char key[2] = { keys[made_number(&lot, sizeof(keys) - 1)], '\0' };

			play(&t, key);
			if (made_number(&lot, 9) == 0)
				time_axis_fit(&t, wholes[made_number(&lot, 8)],
					      1 + (int)made_number(&lot, 200));
			time_axis_draw(&t, &c, 0, 0, NULL);
			cr_assert(t.from_ns >= 0 && t.from_ns < t.to_ns && t.to_ns <= t.whole_ns);
			cr_assert(t.cursor_ns >= t.from_ns && t.cursor_ns < t.to_ns);
			for (int col = 0; col < t.cols && t.to_ns - t.from_ns >= t.cols; col++)
				cr_assert_eq(time_axis_col(&t, time_axis_at(&t, col)), col);
		}
	}
	canvas_done(&c);
}

/* 60 columns, and what stands below them. */
static const struct {
	int64_t whole, from, to, a, b;
	const char *line;
} drawn[] = {
	{ 10 * S, 0, 10 * S, TIME_UNMARKED, TIME_UNMARKED,
	  "┃─0 s───────┼─2 s───────┼─4 s───────┼─6 s───────┼─8 s───────\n" },
	{ 10 * S, 0, 10 * S, 1 * S, 3 * S,
	  "┃─0 s─A─────┼─2 sB──────┼─4 s───────┼─6 s───────┼─8 s───────\n" },
	/* A digit less would be another time. */
	{ 10 * S, 0, 10 * S, 2400 * MS, 6700 * MS,
	  "┃─0 s───────┼─A─────────┼─4 s───────┼───B───────┼─8 s───────\n" },
	{ 10 * S, 4 * S, 4300 * MS, TIME_UNMARKED, TIME_UNMARKED,
	  "┃─4 s─────┼─4.05 s──┼─4.1 s───┼─4.15 s──┼─4.2 s───┼─4.25 s──\n" },
	{ 10 * S, 4 * S, 4300 * MS, 1 * S, 20 * S,
	  "┃─4 s─────┼─4.05 s──┼─4.1 s───┼─4.15 s──┼─4.2 s───┼─4.25 s──\n" },
	{ 900, 0, 900, TIME_UNMARKED, TIME_UNMARKED,
	  "┃─0 µs───────┼─0.2 µs─────┼─0.4 µs──────┼─0.6 µs─────┼──────\n" },
	{ 7200 * S, 0, 7200 * S, TIME_UNMARKED, TIME_UNMARKED,
	  "┃─0 s──────────┼─30 m 00 s────┼─1 h 00 m─────┼─1 h 30 m─────\n" },
};

Test(time_axis, drawing)
{
	setlocale(LC_CTYPE, "C.UTF-8");
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
		struct time_axis t;
		struct canvas c;
		char *text;

		time_axis_init(&t);
		time_axis_fit(&t, drawn[i].whole, 60);
		t.from_ns = t.cursor_ns = drawn[i].from;
		t.to_ns = drawn[i].to;
		t.a_ns = drawn[i].a;
		t.b_ns = drawn[i].b;
		canvas_init(&c, 60, 1, false);
		time_axis_draw(&t, &c, 0, 0, NULL);
		text = canvas_text(&c);
		cr_expect_str_eq(text, drawn[i].line, "case %zu: got\n%s", i, text);
		free(text);
		canvas_done(&c);
	}
}

Test(time_axis, terms)
{
	static const struct {
		int64_t from, to;
		const char *term;
	} terms[] = {
		{ 0, S, "time:0,1" },
		{ 2300 * MS, 5470 * MS, "time:2.3,5.47" },
		{ 1, 2, "time:0.000000001,0.000000002" },
	};

	for (size_t i = 0; i < sizeof(terms) / sizeof(terms[0]); i++) {
		char *term = time_axis_term(terms[i].from, terms[i].to);

		cr_expect_str_eq(term, terms[i].term);
		free(term);
	}
}
