# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += tui/canvas/README.md
libtui_a_SOURCES += \
	tui/canvas/canvas.c tui/canvas/canvas.h \
	tui/canvas/glyphs.c tui/canvas/glyphs.h \
	tui/canvas/style.h \
	tui/canvas/theme.c tui/canvas/theme.h
