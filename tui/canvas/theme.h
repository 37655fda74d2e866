/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * How a cell's style looks in 256, 16 and 8 colours and in none. Pure data; the terminal turns looks
 * into its own attributes.
 *
 * The background is the terminal's own, light or dark: text colours have about the same contrast
 * (4.5:1) to black and to white, and none is the dark blue. Only flame cells and matches bring a background.
 */
#ifndef PROFTOP_TUI_CANVAS_THEME_H
#define PROFTOP_TUI_CANVAS_THEME_H

#include <stdint.h>

/* What --color says. */
enum colour_mode { COLOUR_AUTO, COLOUR_NEVER, COLOUR_8, COLOUR_16, COLOUR_256 };

#define LOOK_BOLD      1u
#define LOOK_REVERSE   2u
#define LOOK_UNDERLINE 4u

struct look {
	int16_t fg, bg; /* colour number, -1: the terminal's default */
	uint16_t attrs; /* LOOK_… */
};

/* The look of a cell's style (enum style | STYLE_…) with 256, 16, 8 or 0 colours. */
struct look theme_look(uint16_t style, int n_colours);

/* The largest of 256, 16, 8, 0 that a terminal of n colours can show. */
int theme_depth(int n_colours);

#endif
