# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/folded/README.md
libformats_a_SOURCES += \
	formats/folded/folded.c formats/folded/folded.h \
	formats/folded/folded_line.c formats/folded/folded_line.h \
	formats/folded/folded_read.c formats/folded/folded_read.h \
	formats/folded/folded_stacks.c formats/folded/folded_stacks.h \
	formats/folded/folded_write.c formats/folded/folded_write.h
