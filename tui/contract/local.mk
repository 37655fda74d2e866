# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += tui/contract/README.md
libtui_a_SOURCES += \
	tui/contract/actions.h \
	tui/contract/keymap.c tui/contract/keymap.h \
	tui/contract/list.c tui/contract/list.h \
	tui/contract/prompt.c tui/contract/prompt.h \
	tui/contract/view.h
