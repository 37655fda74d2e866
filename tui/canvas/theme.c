/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Styles to looks; see theme.h. */
#include "config.h"

#include "tui/canvas/theme.h"

#include <stdbool.h>

#include "tui/canvas/style.h"

/* A style's row: what it is in every depth. Depth 8 and 16 share text colours. */
struct row {
	int16_t fg256, bg256, alt256; /* alt256: background of STYLE_ALT, 0: same */
	int16_t fg16, bg16, alt16;
	int16_t fg8, bg8;
	uint16_t attrs; /* in every depth */
};

/* clang-format off */
#define TEXT(fg256, fg16, attrs) { fg256, -1, 0, fg16, -1, 0, fg16, -1, attrs }
#define FLAME(bg256, alt256, fg16, bg16, alt16, fg8, bg8) \
	{ 16, bg256, alt256, fg16, bg16, alt16, fg8, bg8, 0 }
#define CHANGE(fg256, bg256, fg16, bg16, fg8, bg8) \
	{ fg256, bg256, 0, fg16, bg16, 0, fg8, bg8, 0 }

static const struct row rows[N_STYLES] = {
	[STYLE_NORMAL]         = TEXT(-1, -1, 0),
	[STYLE_DIM]            = TEXT(243, -1, 0),
	[STYLE_TITLE]          = TEXT(-1, -1, LOOK_BOLD),
	[STYLE_TAB]            = TEXT(-1, -1, 0),
	[STYLE_TAB_ACTIVE]     = TEXT(-1, -1, LOOK_BOLD),
	[STYLE_HEADER]         = TEXT(243, -1, 0),
	[STYLE_HEADER_SORTED]  = TEXT(-1, -1, LOOK_BOLD),
	[STYLE_NUMBER]         = TEXT(-1, -1, 0),
	[STYLE_HOT]            = TEXT(-1, -1, LOOK_BOLD),
	[STYLE_BAR]            = TEXT(66, 6, 0),
	[STYLE_SPARK]          = TEXT(243, -1, 0),
	[STYLE_SPARK_RANGE]    = TEXT(30, 6, LOOK_BOLD),
	/* Hues that the colour-blind tell apart come first. */
	[STYLE_LANE_1]         = TEXT(32, 6, 0),
	[STYLE_LANE_2]         = TEXT(130, 3, 0),
	[STYLE_LANE_3]         = TEXT(133, 5, 0),
	[STYLE_LANE_4]         = TEXT(28, 2, 0),
	[STYLE_LANE_5]         = TEXT(160, 1, 0),
	[STYLE_LANE_6]         = TEXT(-1, -1, LOOK_BOLD),
	[STYLE_RULE]           = TEXT(243, -1, 0),
	[STYLE_STATUS]         = TEXT(-1, -1, 0),
	[STYLE_PROMPT]         = TEXT(-1, -1, LOOK_BOLD),
	[STYLE_ERROR]          = TEXT(160, 1, LOOK_BOLD),
	[STYLE_HINT_KEY]       = TEXT(-1, -1, LOOK_BOLD),
	[STYLE_HINT]           = TEXT(-1, -1, 0),
	[STYLE_MARK]           = TEXT(130, 3, 0),
	[STYLE_FAMILY_UNKNOWN] = TEXT(243, -1, 0),
	[STYLE_FAMILY_PROGRAM] = TEXT(-1, -1, 0),
	[STYLE_FAMILY_LIBRARY] = TEXT(30, 6, 0),
	[STYLE_FAMILY_LIBC]    = TEXT(133, 5, 0),
	[STYLE_FAMILY_KERNEL]  = TEXT(130, 1, 0),
	[STYLE_FAMILY_JIT]     = TEXT(28, 2, 0),
	[STYLE_FLAME_UNKNOWN]  = FLAME(250, 247, 0, 7, 7, 0, 7),
	[STYLE_FLAME_PROGRAM]  = FLAME(179, 186, 0, 3, 11, 0, 3),
	[STYLE_FLAME_LIBRARY]  = FLAME(109, 116, 0, 6, 14, 0, 6),
	[STYLE_FLAME_LIBC]     = FLAME(140, 182, 0, 5, 13, 7, 5),
	[STYLE_FLAME_KERNEL]   = FLAME(173, 209, 15, 1, 9, 7, 1),
	[STYLE_FLAME_JIT]      = FLAME(108, 150, 0, 2, 10, 0, 2),
	[STYLE_FLAME_MERGED]   = FLAME(244, 244, 0, 7, 7, 0, 7),
	/*
	 * Ever lighter, so that who sees no hues sees more from less. What is written in them is a shade: seen where
	 * colours are few, as one between two of them.
	 */
	[STYLE_HEAT_1]         = CHANGE(54, 54, 0, 4, 0, 4),
	[STYLE_HEAT_2]         = CHANGE(90, 90, 5, 4, 5, 4),
	[STYLE_HEAT_3]         = CHANGE(126, 126, 5, 5, 5, 5),
	[STYLE_HEAT_4]         = CHANGE(161, 161, 1, 5, 1, 5),
	[STYLE_HEAT_5]         = CHANGE(203, 203, 9, 1, 1, 1),
	[STYLE_HEAT_6]         = CHANGE(209, 209, 3, 9, 3, 1),
	[STYLE_HEAT_7]         = CHANGE(215, 215, 11, 11, 3, 3),
	[STYLE_HEAT_8]         = CHANGE(228, 228, 15, 15, 7, 7),
	/* Red and blue are told apart by the colour-blind (160 and 26: dE >= 107 for any of them). */
	[STYLE_WORSE]          = TEXT(160, 1, 0),
	[STYLE_BETTER]         = TEXT(32, 6, 0),
	[STYLE_DIFF_WORSE_3]   = CHANGE(231, 160, 15, 1, 7, 1),
	[STYLE_DIFF_WORSE_2]   = CHANGE(16, 209, 0, 9, 7, 1),
	[STYLE_DIFF_WORSE_1]   = CHANGE(16, 223, 0, 9, 7, 1),
	[STYLE_DIFF_SAME]      = CHANGE(16, 252, 0, 7, 0, 7),
	[STYLE_DIFF_BETTER_1]  = CHANGE(16, 153, 0, 12, 7, 4),
	[STYLE_DIFF_BETTER_2]  = CHANGE(16, 75, 0, 12, 7, 4),
	[STYLE_DIFF_BETTER_3]  = CHANGE(231, 26, 15, 4, 7, 4),
};
/* clang-format on */

static bool is_flame(uint16_t style)
{
	return (STYLE_OF(style) >= STYLE_FLAME_UNKNOWN && STYLE_OF(style) <= STYLE_FLAME_MERGED) ||
	       (STYLE_OF(style) >= STYLE_HEAT_1 && STYLE_OF(style) <= STYLE_HEAT_8) ||
	       (STYLE_OF(style) >= STYLE_DIFF_WORSE_3 && STYLE_OF(style) <= STYLE_DIFF_BETTER_3);
}

static struct look coloured(const struct row *r, int n_colours, bool alt)
{
	struct look l = { .attrs = r->attrs };

	if (n_colours >= 256) {
		l.fg = r->fg256;
		l.bg = alt && r->alt256 != 0 ? r->alt256 : r->bg256;
	} else if (n_colours >= 16) {
		l.fg = r->fg16;
		l.bg = alt && r->alt16 != 0 ? r->alt16 : r->bg16;
	} else {
		l.fg = r->fg8;
		l.bg = r->bg8;
	}
	return l;
}

/* A match stands out by its background, over text and over flame cells alike. */
static void add_match(struct look *l, int n_colours, bool flame)
{
	if (n_colours == 0) {
		l->attrs |= LOOK_UNDERLINE;
		return;
	}
	l->fg = n_colours >= 256 ? 16 : 0;
	l->bg = n_colours >= 256 ? (flame ? 170 : 222) : (flame ? 7 : 3);
	if (flame)
		l->attrs |= LOOK_BOLD | LOOK_UNDERLINE;
}

/*
 * Rows are reversed, in one colour from end to end: that is read best, and costs least to move. A flame cell
 * becomes nearly white, but in 8 colours, where white is taken.
 */
static void add_selected(struct look *l, int n_colours, bool flame)
{
	if (flame && n_colours >= 16) {
		l->fg = n_colours >= 256 ? 16 : 0;
		l->bg = n_colours >= 256 ? 231 : 15;
		l->attrs |= LOOK_BOLD;
		return;
	}
	l->attrs |= LOOK_REVERSE;
	if (!flame && l->bg < 0)
		l->fg = -1;
	if (flame && n_colours > 0)
		l->attrs |= LOOK_BOLD;
}

struct look theme_look(uint16_t style, int n_colours)
{
	enum style base = STYLE_OF(style) < N_STYLES ? STYLE_OF(style) : STYLE_NORMAL;
	struct look l = { .fg = -1, .bg = -1, .attrs = rows[base].attrs };

	if (n_colours > 0)
		l = coloured(&rows[base], n_colours, (style & STYLE_ALT) != 0);
	if (style & STYLE_MATCH)
		add_match(&l, n_colours, is_flame(style));
	if (style & STYLE_SELECTED)
		add_selected(&l, n_colours, is_flame(style));
	/* a flame cell in colours says enough by its width, and going bold costs 50 bytes a cell */
	if (style & STYLE_BOLD && (n_colours == 0 || !is_flame(style)))
		l.attrs |= LOOK_BOLD;
	return l;
}

int theme_depth(int n_colours)
{
	return n_colours >= 256 ? 256 : n_colours >= 16 ? 16 : n_colours >= 8 ? 8 : 0;
}
