/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "base/mem.h"
#include "base/text.h"
#include "tui/canvas/canvas.h"
#include "tui/canvas/glyphs.h"

#include <criterion/criterion.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static void use_utf8(void)
{
	setlocale(LC_ALL, "C.UTF-8");
}

static void expect_text(const struct canvas *c, const char *want, const char *what)
{
	char *text = canvas_text(c);

	cr_assert_str_eq(text, want, "%s: got\n%s", what, text);
	free(text);
}

static void expect_styles(const struct canvas *c, const char *want, const char *what)
{
	char *text = canvas_style_text(c);

	cr_assert_str_eq(text, want, "%s: got\n%s", what, text);
	free(text);
}

/* Every wide glyph has its right half, and no half stands alone. */
static void expect_whole_glyphs(const struct canvas *c)
{
	for (int row = 0; row < c->rows; row++)
		for (int col = 0; col < c->cols; col++) {
			const struct cell *cell = &c->cell[row * c->cols + col];
			bool wide = cell->cp != 0 && text_cp_width(cell->cp) == 2;
			bool half_follows = col + 1 < c->cols && cell[1].cp == 0;

			cr_assert_eq(wide, half_follows && cell->cp != 0, "at %d,%d", row, col);
			cr_assert(cell->cp != 0 || col > 0);
		}
}

Test(canvas, puts_and_clips, .init = use_utf8)
{
	static const struct {
		const char *what, *in;
		int col, max;
		bool ascii;
		int used;
		const char *out; /* of a row of 6 */
	} cases[] = {
		{ "plain", "abc", 1, 9, false, 3, " abc\n" },
		{ "clipped by max", "abc", 0, 2, false, 2, "ab\n" },
		{ "clipped by the grid", "abcdefgh", 3, 99, false, 3, "   abc\n" },
		{ "outside", "abc", 6, 9, false, 0, "\n" },
		{ "left of the grid", "abc", -1, 9, false, 0, "\n" },
		{ "max 0", "abc", 0, 0, false, 0, "\n" },
		{ "wide", "漢字x", 0, 9, false, 5, "漢字x\n" },
		{ "wide that does not fit", "a漢b", 0, 2, false, 2, "a\n" },
		{ "wide in the last column", "漢", 5, 9, false, 1, "\n" },
		{ "mark on a letter", "e\xcc\x81x", 0, 9, false, 2, "e\xcc\x81x\n" },
		{ "mark at the clip", "xe\xcc\x81", 0, 2, false, 2, "xe\xcc\x81\n" },
		{ "mark first", "\xcc\x81x", 0, 9, false, 1, "x\n" },
		{ "no joiners",
		  "a\xe2\x80\x8d\xef\xb8\x8f"
		  "b",
		  0, 9, false, 2, "ab\n" },
		{ "escape", "a\033[2Jb", 0, 9, false, 6, "a�[2Jb\n" },
		{ "C1, bidi", "\xc2\x9b\xe2\x80\xae", 0, 9, false, 2, "��\n" },
		{ "malformed", "a\xff", 0, 9, false, 2, "a�\n" },
		{ "newline", "a\nb", 0, 9, false, 3, "a�b\n" },
		{ "ascii: ours have substitutes", "▸│█…", 0, 9, true, 4, ">|#~\n" },
		{ "ascii: others are spelled", "aßé", 0, 9, true, 4, "asse\n" },
		{ "ascii: or numbered, up to the edge", "a漢", 0, 9, true, 6, "a\\u6f2\n" },
		{ "ascii: marks go", "e\xcc\x81", 0, 9, true, 1, "e\n" },
		{ "ascii: escape", "\033", 0, 9, true, 1, "?\n" },
	};

	for (size_t i = 0; i < N(cases); i++) {
		struct canvas c;
		int used;

		canvas_init(&c, 6, 1, cases[i].ascii);
		used = canvas_puts(&c, 0, cases[i].col, cases[i].max, STYLE_NORMAL, cases[i].in);
		cr_assert_eq(used, cases[i].used, "%s: %d columns", cases[i].what, used);
		expect_text(&c, cases[i].out, cases[i].what);
		expect_whole_glyphs(&c);
		canvas_done(&c);
	}
}

Test(canvas, overwriting_half_of_a_wide_glyph_blanks_the_other, .init = use_utf8)
{
	struct canvas c;

	canvas_init(&c, 6, 1, false);
	canvas_puts(&c, 0, 0, 6, STYLE_DIM, "漢字漢");
	canvas_puts(&c, 0, 1, 2, STYLE_NORMAL, "ab");
	expect_text(&c, " ab 漢\n", "right half, then left half");
	expect_whole_glyphs(&c);
	canvas_puts(&c, 0, 3, 2, STYLE_NORMAL, "字");
	expect_text(&c, " ab字\n", "wide over a left half");
	expect_whole_glyphs(&c);
	canvas_done(&c);
}

Test(canvas, right_alignment, .init = use_utf8)
{
	struct canvas c;

	canvas_init(&c, 8, 3, false);
	canvas_puts_right(&c, 0, 1, 6, STYLE_NORMAL, "41.0");
	canvas_puts_right(&c, 1, 1, 6, STYLE_NORMAL, "12345678");
	canvas_puts_right(&c, 2, 1, 6, STYLE_NORMAL, "漢");
	expect_text(&c, "   41.0\n 123456\n     漢\n", "right");
	canvas_done(&c);
}

Test(canvas, printf_of_any_length, .init = use_utf8)
{
	char *lots = xmalloc(2001);
	struct canvas c;

	memset(lots, 'x', 2000);
	lots[2000] = '\0';
	canvas_init(&c, 1200, 1, false);
	cr_assert_eq(canvas_printf(&c, 0, 0, 1200, STYLE_NORMAL, "%s%d", lots, 7), 1200);
	cr_assert_eq(canvas_printf(&c, 0, 0, 1200, STYLE_NORMAL, "%d|%s", 12, "b"), 4);
	cr_assert_eq(c.cell[3].cp, 'b');
	canvas_done(&c);
	free(lots);
}

Test(canvas, bars, .init = use_utf8)
{
	static const struct {
		int64_t part, whole;
		const char *utf8, *ascii; /* in 10 columns */
	} cases[] = {
		{ 0, 100, "\n", "\n" },
		{ 410, 1000, "████▏\n", "####\n" },
		{ 184, 1000, "█▉\n", "##\n" },
		{ 22, 1000, "▎\n", "\n" },
		{ 1, 1000, "\n", "\n" },
		{ 1000, 1000, "██████████\n", "##########\n" },
		{ 3000, 1000, "██████████\n", "##########\n" },
		{ -5, 1000, "\n", "\n" },
		{ 5, 0, "\n", "\n" },
		{ INT64_MAX, INT64_MAX, "██████████\n", "##########\n" },
	};

	for (size_t i = 0; i < N(cases); i++)
		for (int ascii = 0; ascii < 2; ascii++) {
			struct canvas c;

			canvas_init(&c, 10, 1, ascii);
			canvas_bar(&c, 0, 0, 10, STYLE_BAR, cases[i].part, cases[i].whole);
			expect_text(&c, ascii ? cases[i].ascii : cases[i].utf8, "bar");
			canvas_done(&c);
		}
}

Test(canvas, sparklines, .init = use_utf8)
{
	static const int64_t ramp[] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
	static const int64_t pairs[] = { 0, 0, 8, 0, 8, 8 };
	static const int64_t huge[] = { INT64_MAX, INT64_MAX / 2 };
	struct canvas c;

	canvas_init(&c, 9, 5, false);
	canvas_spark(&c, 0, 0, 9, STYLE_SPARK, ramp, 9, 8);
	canvas_spark(&c, 1, 0, 3, STYLE_SPARK, pairs, 6, 0);
	canvas_spark(&c, 2, 0, 6, STYLE_SPARK, ramp, 3, 0);
	canvas_spark(&c, 3, 0, 2, STYLE_SPARK, huge, 2, 0);
	canvas_spark(&c, 4, 0, 2, STYLE_SPARK, huge, 0, 0);
	expect_text(&c, " ▂▃▄▅▆▇██\n ▅█\n  ▅▅██\n█▅\n\n", "sparks");
	canvas_done(&c);
	canvas_init(&c, 9, 1, true);
	canvas_spark(&c, 0, 0, 9, STYLE_SPARK, ramp, 9, 8);
	expect_text(&c, " :-=+*###\n", "ascii");
	canvas_done(&c);
}

Test(canvas, styles_as_text)
{
	struct canvas c;

	canvas_init(&c, 8, 2, true);
	canvas_puts(&c, 0, 1, 7, STYLE_HOT, "abc");
	canvas_add_style(&c, 0, 2, 1, STYLE_SELECTED | STYLE_MATCH);
	canvas_fill(&c, 1, 6, 9, STYLE_FLAME_KERNEL | STYLE_ALT | STYLE_BOLD, 'x');
	canvas_restyle(&c, 0, -5, 99, STYLE_NORMAL, STYLE_DIM);
	expect_styles(&c,
		      "0: 0-0 dim\n0: 1-1 hot\n0: 2-2 hot+selected+match\n0: 3-3 hot\n0: 4-7 dim\n"
		      "1: 6-7 flame-kernel+alt+bold\n",
		      "styles");
	canvas_done(&c);
}

/* Anything anywhere: nothing outside the grid is touched (the sanitizers say), glyphs stay whole. */
Test(canvas, never_outside, .init = use_utf8)
{
	static const int64_t values[] = { 3, 1, 2 };
	static const char *const texts[] = { "漢字漢字", "e\xcc\x81\xcc\x81", "abc", "\xff\xfe",
					     "" };
	unsigned seed = 1;

	for (int round = 0; round < 3000; round++) {
		struct canvas c;
		int cols = rand_r(&seed) % 9, rows = rand_r(&seed) % 4;

		canvas_init(&c, cols, rows, round % 2);
		for (int k = 0; k < 6; k++) {
			int row = rand_r(&seed) % 8 - 2, col = rand_r(&seed) % 14 - 3;
			int n = rand_r(&seed) % 14 - 3;
			const char *s = texts[(size_t)rand_r(&seed) % N(texts)];

			canvas_puts(&c, row, col, n, STYLE_NORMAL, s);
			canvas_puts_right(&c, row, col, n, STYLE_DIM, s);
			canvas_fill(&c, row, col, n, STYLE_RULE, 0x6f22);
			canvas_bar(&c, row, col, n, STYLE_BAR, 1, 3);
			canvas_spark(&c, row, col, n, STYLE_SPARK, values, 3, 0);
			canvas_add_style(&c, row, col, n, STYLE_MATCH);
		}
		expect_whole_glyphs(&c);
		canvas_done(&c);
	}
}

Test(glyphs, every_glyph_is_one_column_wide_and_has_substitutes, .init = use_utf8)
{
	static const uint32_t all[] = {
#define X(name, cp, ascii, cp437) cp,
		GLYPHS(X)
#undef X
	};

	for (size_t i = 0; i < N(all); i++) {
		uint32_t plain = glyph_ascii(all[i]);

		cr_assert_eq(text_cp_width(all[i]), 1, "U+%04X", all[i]);
		cr_assert(plain >= 0x20 && plain < 0x7f, "U+%04X", all[i]);
		cr_assert_eq(text_cp_width(glyph_cp437(all[i])), 1, "U+%04X", all[i]);
	}
	cr_assert_eq(glyph_ascii('x'), 'x');
	cr_assert_eq(glyph_ascii(0x6f22), '?');
	cr_assert_eq(glyph_cp437(0xe9), 0xe9);
}
