/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The code points of our chrome, all one column wide, and what stands for them where they cannot be
 * shown: ASCII terminals, and the console of Linux, whose fonts hold the set of code page 437.
 *
 * Views write them as UTF-8 literals or as GLYPH_…; the canvas and the terminal do the exchange.
 *
 * X(enum, code point, ASCII, code page 437)
 */
#ifndef PROFTOP_TUI_CANVAS_GLYPHS_H
#define PROFTOP_TUI_CANVAS_GLYPHS_H

#include <stdint.h>

/* clang-format off */
#define GLYPHS(X) \
	X(CLOSED,      0x25b8, '>', 0x25ba) /* ▸ a row that can be opened, and the cursor */ \
	X(OPEN,        0x25be, 'v', 0x25bc) /* ▾ an open one, a menu */ \
	X(INTO,        0x203a, '>', 0x00bb) /* › between the parts of a path */ \
	X(FROM,        0x2039, '<', 0x00ab) /* ‹ the same, from the inside out */ \
	X(MORE,        0x2026, '~', '~')    /* … something was left out */ \
	X(DOT,         0x00b7, '-', 0x00b7) /* · between facts */ \
	X(RULE,        0x2500, '-', 0x2500) /* ─ */ \
	X(WALL,        0x2502, '|', 0x2502) /* │ */ \
	X(TEE,         0x2524, '|', 0x2524) /* ┤ axes of graphs */ \
	X(CORNER_TOP,  0x250c, '+', 0x250c) /* ┌ arrows of jumps */ \
	X(CORNER_BOTTOM, 0x2514, '+', 0x2514) /* └ */ \
	X(CROSS,       0x253c, '+', 0x253c) /* ┼ */ \
	X(CURSOR,      0x2503, '|', 0x2502) /* ┃ the cursor of a timeline */ \
	X(EDGE_LEFT,   0x258f, '|', 0x258c) /* ▏ edges of flame cells; also an eighth of a bar */ \
	X(EDGE_RIGHT,  0x2595, '|', 0x2590) /* ▕ */ \
	X(BAR_2,       0x258e, '|', 0x258c) /* ▎ bars, in eighths from the left */ \
	X(BAR_3,       0x258d, '|', 0x258c) /* ▍ */ \
	X(BAR_4,       0x258c, '#', 0x258c) /* ▌ */ \
	X(BAR_5,       0x258b, '#', 0x258c) /* ▋ */ \
	X(BAR_6,       0x258a, '#', 0x2588) /* ▊ */ \
	X(BAR_7,       0x2589, '#', 0x2588) /* ▉ */ \
	X(SHADE_1,     0x2591, '.', 0x2591) /* ░ heat maps without colours */ \
	X(SHADE_2,     0x2592, '+', 0x2592) /* ▒ */ \
	X(SHADE_3,     0x2593, '#', 0x2593) /* ▓ */ \
	X(BLOCK,       0x2588, '#', 0x2588) /* █ */ \
	X(LEVEL_1,     0x2581, '.', '_')    /* ▁ sparklines, in eighths from below */ \
	X(LEVEL_2,     0x2582, ':', '_')    /* ▂ */ \
	X(LEVEL_3,     0x2583, '-', 0x2584) /* ▃ */ \
	X(LEVEL_4,     0x2584, '=', 0x2584) /* ▄ */ \
	X(LEVEL_5,     0x2585, '+', 0x2584) /* ▅ */ \
	X(LEVEL_6,     0x2586, '*', 0x2588) /* ▆ */ \
	X(LEVEL_7,     0x2587, '#', 0x2588) /* ▇ */ \
	X(RISE,        0x25b2, '^', 0x25b2) /* ▲ */ \
	X(FALL,        0x25bc, 'v', 0x25bc) /* ▼ */ \
	X(UP,          0x2191, '^', 0x2191) /* ↑ */ \
	X(DOWN,        0x2193, 'v', 0x2193) /* ↓ */ \
	X(LEFT,        0x2190, '<', 0x2190) /* ← */ \
	X(RIGHT,       0x2192, '>', 0x2192) /* → */ \
	X(LIVE,        0x25cf, '*', 0x2022) /* ● */ \
	X(MINUS,       0x2212, '-', '-')    /* − */ \
	X(DASH,        0x2013, '-', '-')    /* – */ \
	X(PLUS_MINUS,  0x00b1, '~', 0x00b1) /* ± */ \
	X(DELTA,       0x0394, 'd', 0x03b4) /* Δ */ \
	X(MICRO,       0x00b5, 'u', 0x00b5) /* µ */ \
	X(TIMES,       0x00d7, 'x', 'x')    /* × */ \
	X(NOTE,        0x00b6, '!', 0x00b6) /* ¶ somebody has noted something on the row */ \
	X(UNKNOWN,     0xfffd, '?', '?')    /* what text_is_unsafe() became */
/* clang-format on */

enum {
#define X(name, cp, ascii, cp437) GLYPH_##name = cp,
	GLYPHS(X)
#undef X
};

/* The ASCII substitute; '?' for what is no glyph of ours. cp itself when it is printable ASCII. */
uint32_t glyph_ascii(uint32_t cp);

/* The substitute in code page 437, or cp itself when it is no glyph of ours. */
uint32_t glyph_cp437(uint32_t cp);

#endif
