# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/heaptrack/README.md
libformats_a_SOURCES += \
	formats/heaptrack/fields.h \
	formats/heaptrack/heaptrack.c formats/heaptrack/heaptrack.h \
	formats/heaptrack/heaptrack_blocks.c formats/heaptrack/heaptrack_blocks.h \
	formats/heaptrack/heaptrack_frames.c formats/heaptrack/heaptrack_frames.h \
	formats/heaptrack/heaptrack_write.c formats/heaptrack/heaptrack_write.h \
	formats/heaptrack/packed_text.c formats/heaptrack/packed_text.h
