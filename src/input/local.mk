# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/input/README.md
libformats_a_SOURCES += \
	src/input/decompress.c src/input/decompress.h \
	src/input/dir_parts.c src/input/dir_parts.h \
	src/input/input.c src/input/input.h \
	src/input/lines.c src/input/lines.h \
	src/input/spool.c src/input/spool.h \
	src/input/whole_input.c src/input/whole_input.h
