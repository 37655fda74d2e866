# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/svg/README.md
libformats_a_SOURCES += \
	formats/svg/svg.c formats/svg/svg.h \
	formats/svg/svg_script.c formats/svg/svg_script.h
