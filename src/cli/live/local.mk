# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/cli/live/README.md
libcli_a_SOURCES += \
	src/cli/live/live_end.c src/cli/live/live_end.h \
	src/cli/live/live_heap.c src/cli/live/live_heap.h \
	src/cli/live/live_output.c src/cli/live/live_output.h \
	src/cli/live/live_recorder.c src/cli/live/live_recorder.h \
	src/cli/live/live_target.c src/cli/live/live_target.h
