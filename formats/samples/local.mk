# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/samples/README.md
libformats_a_SOURCES += \
	formats/samples/samples.c formats/samples/samples.h
