# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/json/README.md
libformats_a_SOURCES += \
	formats/json/json_stream.c formats/json/json_stream.h
