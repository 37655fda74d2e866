# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/speedscope/README.md
libformats_a_SOURCES += \
	formats/speedscope/speedscope.c formats/speedscope/speedscope.h \
	formats/speedscope/speedscope_text.c formats/speedscope/speedscope_text.h \
	formats/speedscope/speedscope_write.c formats/speedscope/speedscope_write.h
