# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/pack/README.md
libformats_a_SOURCES += \
	formats/pack/index_file.c formats/pack/index_file.h \
	formats/pack/pack.c formats/pack/pack.h \
	formats/pack/pack_file.c formats/pack/pack_file.h \
	formats/pack/pack_heap.c formats/pack/pack_heap.h \
	formats/pack/pack_sections.h \
	formats/pack/pack_write.c formats/pack/pack_write.h
