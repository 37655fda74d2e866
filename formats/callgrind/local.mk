# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/callgrind/README.md
libformats_a_SOURCES += \
	formats/callgrind/callgrind.c formats/callgrind/callgrind.h \
	formats/callgrind/callgrind_graph.c formats/callgrind/callgrind_graph.h \
	formats/callgrind/callgrind_text.c formats/callgrind/callgrind_text.h \
	formats/callgrind/callgrind_tree.c formats/callgrind/callgrind_tree.h \
	formats/callgrind/callgrind_write.c formats/callgrind/callgrind_write.h
