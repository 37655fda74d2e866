# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/memray/README.md
libformats_a_SOURCES += \
	formats/memray/memray.c formats/memray/memray.h
