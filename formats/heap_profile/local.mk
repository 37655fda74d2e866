# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/heap_profile/README.md
libformats_a_SOURCES += \
	formats/heap_profile/heap_profile.c formats/heap_profile/heap_profile.h \
	formats/heap_profile/heap_profile_text.c formats/heap_profile/heap_profile_text.h
