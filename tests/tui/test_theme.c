/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "config.h"

#include "tui/canvas/style.h"
#include "tui/canvas/theme.h"

#include <criterion/criterion.h>
#include <math.h>

#define N(cases) (sizeof(cases) / sizeof(*(cases)))

static const int depths[] = { 0, 8, 16, 256 };

static bool is_flame(int style)
{
	return (style >= STYLE_FLAME_UNKNOWN && style <= STYLE_FLAME_MERGED) ||
	       (style >= STYLE_HEAT_1 && style <= STYLE_HEAT_8) ||
	       (style >= STYLE_DIFF_WORSE_3 && style <= STYLE_DIFF_BETTER_3);
}

/* Relative luminance of a colour of xterm's 6x6x6 cube or grey ramp (WCAG 2). */
static double luminance(int colour)
{
	static const int steps[] = { 0, 95, 135, 175, 215, 255 };
	double rgb[3], sum = 0;
	static const double weight[] = { 0.2126, 0.7152, 0.0722 };

	cr_assert(colour >= 16 && colour < 256, "colour %d is the user's to choose", colour);
	for (int i = 0; i < 3; i++) {
		int c = colour - 16;
		int v = colour >= 232 ? 8 + (colour - 232) * 10
				      : steps[i == 0   ? c / 36
					      : i == 1 ? c / 6 % 6
						       : c % 6];

		rgb[i] = v / 255.0;
		rgb[i] = rgb[i] <= 0.03928 ? rgb[i] / 12.92 : pow((rgb[i] + 0.055) / 1.055, 2.4);
		sum += weight[i] * rgb[i];
	}
	return sum;
}

static double contrast(double a, double b)
{
	return a > b ? (a + 0.05) / (b + 0.05) : (b + 0.05) / (a + 0.05);
}

Test(theme, nothing_has_a_colour_where_there_are_none)
{
	for (uint16_t style = 0; style < 0x1000; style++) {
		struct look l = theme_look(style, 0);

		cr_assert(l.fg == -1 && l.bg == -1, "style %x", style);
	}
	cr_assert(theme_look(STYLE_NORMAL | STYLE_SELECTED, 0).attrs & LOOK_REVERSE);
	cr_assert(theme_look(STYLE_HOT, 0).attrs & LOOK_BOLD);
	cr_assert(theme_look(STYLE_NORMAL | STYLE_MATCH, 0).attrs & LOOK_UNDERLINE);
	cr_assert(theme_look(STYLE_FLAME_LIBC | STYLE_SELECTED, 0).attrs & LOOK_REVERSE);
}

Test(theme, colours_exist_at_every_depth)
{
	for (size_t d = 0; d < N(depths); d++)
		for (uint16_t style = 0; style < 0x1000; style++) {
			struct look l = theme_look(style, depths[d]);

			cr_assert(l.fg >= -1 && l.fg < depths[d] + (depths[d] == 0), "style %x",
				  style);
			cr_assert(l.bg >= -1 && l.bg < depths[d] + (depths[d] == 0), "style %x",
				  style);
		}
}

/* Light terminals, dark terminals: text can be read on both; none is blue. */
Test(theme, text_reads_on_black_and_on_white)
{
	for (int style = 0; style < N_STYLES; style++) {
		struct look l = theme_look((uint16_t)style, 256);

		cr_assert(theme_look((uint16_t)style, 8).fg != 4, "style %d is blue", style);
		if (is_flame(style) || l.fg < 0)
			continue;
		cr_assert_eq(l.bg, -1, "style %d assumes a background", style);
		cr_assert(contrast(luminance(l.fg), 0) >= 3.8, "style %d on black", style);
		cr_assert(contrast(luminance(l.fg), 1) >= 3.8, "style %d on white", style);
	}
}

/* Seven shades from much more to much less, of which each is another colour and can be written on. */
Test(theme, changes_read_in_any_depth)
{
	for (size_t d = 0; d < N(depths); d++)
		for (int style = STYLE_DIFF_WORSE_3; style <= STYLE_DIFF_BETTER_3 && depths[d];
		     style++) {
			struct look l = theme_look((uint16_t)style, depths[d]);
			struct look other = theme_look(
				(uint16_t)(STYLE_DIFF_WORSE_3 + STYLE_DIFF_BETTER_3 - style),
				depths[d]);

			cr_expect_neq(l.fg, l.bg);
			if (style != STYLE_DIFF_SAME)
				cr_expect_neq(l.bg, other.bg, "more and less in %d colours",
					      depths[d]);
			if (depths[d] == 256)
				cr_expect(contrast(luminance(l.fg), luminance(l.bg)) >= 4.5,
					  "style %d", style);
		}
}

/* Each shade of a heat map is lighter than the one before; where colours are few, two neighbours differ. */
Test(theme, heat_rises)
{
	double before = 0;

	for (int style = STYLE_HEAT_1; style <= STYLE_HEAT_8; style++) {
		double l = luminance(theme_look((uint16_t)style, 256).bg);

		cr_expect(l > before, "style %d", style);
		before = l;
	}
	for (size_t d = 1; d < N(depths); d++)
		for (int style = STYLE_HEAT_2; style <= STYLE_HEAT_8; style++) {
			struct look a = theme_look((uint16_t)(style - 1), depths[d]);
			struct look b = theme_look((uint16_t)style, depths[d]);

			cr_expect(a.bg != b.bg || a.fg != b.fg, "style %d in %d colours", style,
				  depths[d]);
		}
}

Test(theme, flame_cells_read_and_siblings_differ)
{
	static const uint16_t flags[] = { 0, STYLE_ALT, STYLE_MATCH, STYLE_SELECTED };

	for (int style = STYLE_FLAME_UNKNOWN; style <= STYLE_FLAME_MERGED; style++)
		for (size_t i = 0; i < N(flags); i++) {
			struct look l = theme_look((uint16_t)style | flags[i], 256);

			cr_assert(contrast(luminance(l.fg), luminance(l.bg)) >= 4.5,
				  "style %d + %x", style, flags[i]);
		}
	for (int style = STYLE_FLAME_UNKNOWN; style < STYLE_FLAME_MERGED; style++)
		cr_assert(theme_look((uint16_t)style, 256).bg !=
				  theme_look((uint16_t)style | STYLE_ALT, 256).bg,
			  "style %d", style);
}

/* What is under the cursor, and what matches, never looks like what is not. */
Test(theme, selection_and_match_show_everywhere)
{
	for (size_t d = 0; d < N(depths); d++)
		for (int style = 0; style < N_STYLES; style++) {
			struct look plain = theme_look((uint16_t)style, depths[d]);
			struct look chosen = theme_look((uint16_t)style | STYLE_SELECTED,
							depths[d]);
			struct look match = theme_look((uint16_t)style | STYLE_MATCH, depths[d]);

			cr_assert(plain.fg != chosen.fg || plain.bg != chosen.bg ||
				  plain.attrs != chosen.attrs);
			cr_assert(plain.fg != match.fg || plain.bg != match.bg ||
				  plain.attrs != match.attrs);
		}
}

Test(theme, depths)
{
	static const struct {
		int n, depth;
	} cases[] = { { -1, 0 },  { 0, 0 },   { 2, 0 },     { 8, 8 },         { 15, 8 },
		      { 16, 16 }, { 88, 16 }, { 256, 256 }, { 16777216, 256 } };

	for (size_t i = 0; i < N(cases); i++)
		cr_assert_eq(theme_depth(cases[i].n), cases[i].depth, "%d", cases[i].n);
}
