# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/bytehound/README.md
libformats_a_SOURCES += \
	formats/bytehound/bytehound.c formats/bytehound/bytehound.h \
	formats/bytehound/bytehound_events.c formats/bytehound/bytehound_events.h \
	formats/bytehound/lz4_block.c formats/bytehound/lz4_block.h
