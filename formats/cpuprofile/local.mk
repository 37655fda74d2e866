# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/cpuprofile/README.md
libformats_a_SOURCES += \
	formats/cpuprofile/cpuprofile.c formats/cpuprofile/cpuprofile.h \
	formats/cpuprofile/cpuprofile_text.c formats/cpuprofile/cpuprofile_text.h
