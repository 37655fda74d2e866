# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += tui/term/README.md
libtui_a_SOURCES += \
	tui/term/cursor_output.c tui/term/cursor_output.h \
	tui/term/frame_diff.c tui/term/frame_diff.h \
	tui/term/jobs.c tui/term/jobs.h \
	tui/term/osc52.c tui/term/osc52.h \
	tui/term/sgr.c tui/term/sgr.h \
	tui/term/term.c tui/term/term.h \
	tui/term/terminal_request.h \
	tui/term/terminal_restore.c tui/term/terminal_restore.h \
	tui/term/terminal_type.c tui/term/terminal_type.h
