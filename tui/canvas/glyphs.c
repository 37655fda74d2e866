/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Substitutes for the code points of our chrome; see glyphs.h. */
#include "config.h"

#include "tui/canvas/glyphs.h"

uint32_t glyph_ascii(uint32_t cp)
{
	if (cp >= 0x20 && cp < 0x7f)
		return cp;
	switch (cp) {
#define X(name, code, ascii, cp437) \
	case code: \
		return ascii;
		GLYPHS(X)
#undef X
	default:
		return '?';
	}
}

uint32_t glyph_cp437(uint32_t cp)
{
	switch (cp) {
#define X(name, code, ascii, cp437) \
	case code: \
		return cp437;
		GLYPHS(X)
#undef X
	default:
		return cp;
	}
}
