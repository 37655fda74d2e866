/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/contract/keymap.h"
#include "tui/contract/prompt.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

/* Types keys; returns the last result. */
static enum prompt_result type(struct prompt *p, const char *keys)
{
	enum prompt_result r = PROMPT_UNCHANGED;

	while (*keys != '\0') {
		uint32_t key = keycode_take(&keys, NULL);

		cr_assert(key != KEYCODE_NONE, "bad test: %s", keys);
		r = prompt_key(p, key);
	}
	return r;
}

Test(prompt, editing)
{
	static const struct {
		const char *keys, *text;
		size_t cursor;
		enum prompt_result last;
	} cases[] = {
		{ "abc", "abc", 3, PROMPT_CHANGED },
		{ "abc<Left><Left>x", "axbc", 2, PROMPT_CHANGED },
		{ "abc<Backspace>", "ab", 2, PROMPT_CHANGED },
		{ "ab<Home><Delete>", "b", 0, PROMPT_CHANGED },
		{ "ab<Home>x<End>y", "xaby", 4, PROMPT_CHANGED },
		{ "ab<Left><Left><Left>x", "xab", 1, PROMPT_CHANGED },
		{ "ab<Right>", "ab", 2, PROMPT_UNCHANGED },
		{ "ab<Delete>", "ab", 2, PROMPT_UNCHANGED },
		{ "ab<Home><Backspace>", "ab", 0, PROMPT_UNCHANGED },
		{ "one two^W", "one ", 4, PROMPT_CHANGED },
		{ "one two  ^Wx", "one x", 5, PROMPT_CHANGED },
		{ "one two<Left><Left>^K", "one t", 5, PROMPT_CHANGED },
		{ "one two<Left><Left>^U", "wo", 0, PROMPT_CHANGED },
		{ "^U", "", 0, PROMPT_UNCHANGED },
		{ "é漢<Backspace>", "é", 2, PROMPT_CHANGED },
		{ "é漢<Left><Left>x", "xé漢", 1, PROMPT_CHANGED },
		{ "e\xcc\x81x<Left><Left>y", "ye\xcc\x81x", 1, PROMPT_CHANGED },
		{ "ae\xcc\x81<Backspace>", "a", 1, PROMPT_CHANGED },
		{ "<lt>^V<F5>", "<", 1, PROMPT_UNCHANGED },
		{ "abc<Enter>", "abc", 3, PROMPT_DONE },
		{ "abc<Esc>", "abc", 3, PROMPT_CANCELLED },
		{ "a<Backspace><Backspace>", "", 0, PROMPT_CANCELLED },
		{ "<Up><Down>", "", 0, PROMPT_UNCHANGED },
	};

	setlocale(LC_ALL, "C.UTF-8");
	for (size_t i = 0; i < N(cases); i++) {
		struct history h = { .n = 0 };
		struct prompt p;
		enum prompt_result last;

		prompt_init(&p, "/", &h);
		last = type(&p, cases[i].keys);
		cr_assert_str_eq(p.text, cases[i].text, "%s: %s", cases[i].keys, p.text);
		cr_assert_eq(p.cursor, cases[i].cursor, "%s: %zu", cases[i].keys, p.cursor);
		cr_assert_eq((int)last, (int)cases[i].last, "%s", cases[i].keys);
		cr_assert_eq(p.n, strlen(p.text));
		prompt_done(&p);
		history_done(&h);
	}
}

Test(prompt, history)
{
	struct history h = { .n = 0 };
	struct prompt p;
	static const char *const typed[] = { "one<Enter>", "two<Enter>", "one<Enter>", "<Enter>" };

	for (size_t i = 0; i < N(typed); i++) {
		prompt_init(&p, "/", &h);
		type(&p, typed[i]);
		prompt_done(&p);
	}
	cr_assert_eq(h.n, (size_t)2); /* "one" moved to the end, nothing is not kept */
	prompt_init(&p, "/", &h);
	cr_assert_eq((int)type(&p, "dr<Up>"), PROMPT_CHANGED);
	cr_assert_str_eq(p.text, "one");
	type(&p, "<Up>");
	cr_assert_str_eq(p.text, "two");
	cr_assert_eq((int)type(&p, "<Up>"), PROMPT_UNCHANGED);
	type(&p, "<Down><Down>");
	cr_assert_str_eq(p.text, "dr", "the draft comes back, not %s", p.text);
	prompt_done(&p);
	history_done(&h);
}

Test(prompt, history_is_bounded)
{
	struct history h = { .n = 0 };

	for (int i = 0; i < 300; i++) {
		struct prompt p;
		char keys[32];

		snprintf(keys, sizeof(keys), "%d<Enter>", i);
		prompt_init(&p, "/", &h);
		type(&p, keys);
		prompt_done(&p);
	}
	cr_assert_eq(h.n, (size_t)100);
	cr_assert_str_eq(h.at[99], "299");
	cr_assert_str_eq(h.at[0], "200");
	history_done(&h);
}

Test(prompt, text_is_bounded)
{
	struct history h = { .n = 0 };
	struct prompt p;

	prompt_init(&p, "/", &h);
	for (int i = 0; i < 5000; i++)
		prompt_key(&p, 'x');
	cr_assert_eq(p.n, (size_t)4096);
	prompt_done(&p);
}

Test(prompt, drawing_keeps_the_cursor_in_sight)
{
	static const struct {
		const char *keys, *row;
		int cursor;
	} cases[] = {
		{ "ab", " /ab\n", 4 },
		{ "abcdefghij", " /efghij\n", 8 },
		{ "abcdefghij<Home>", " /abcdefg\n", 2 },
		{ "漢字漢字漢", " /漢字漢\n", 8 },
	};

	setlocale(LC_ALL, "C.UTF-8");
	for (size_t i = 0; i < N(cases); i++) {
		struct history h = { .n = 0 };
		struct prompt p;
		struct canvas c;
		char *text;

		canvas_init(&c, 20, 1, false);
		prompt_init(&p, "/", &h);
		type(&p, cases[i].keys);
		prompt_draw(&p, &c, 0, 1, 8);
		text = canvas_text(&c);
		cr_assert_eq(c.cursor_col, cases[i].cursor, "%s: %d", cases[i].keys, c.cursor_col);
		cr_assert_str_eq(text, cases[i].row, "%s: %s", cases[i].keys, text);
		cr_assert(c.cursor_col < 9);
		free(text);
		prompt_done(&p);
		canvas_done(&c);
	}
}
