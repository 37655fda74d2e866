# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/valgrind/README.md
libformats_a_SOURCES += \
	formats/valgrind/dhat.c formats/valgrind/dhat.h \
	formats/valgrind/dhat_text.c formats/valgrind/dhat_text.h \
	formats/valgrind/massif.c formats/valgrind/massif.h \
	formats/valgrind/massif_tree.c formats/valgrind/massif_tree.h \
	formats/valgrind/valgrind_frame.c formats/valgrind/valgrind_frame.h
