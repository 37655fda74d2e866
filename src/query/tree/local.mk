# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/query/tree/README.md
libquery_a_SOURCES += \
	src/query/tree/branches.c src/query/tree/branches.h \
	src/query/tree/build_tree.c src/query/tree/build_tree.h \
	src/query/tree/butterfly.c src/query/tree/butterfly.h \
	src/query/tree/calltree.c src/query/tree/calltree.h \
	src/query/tree/frametree.c src/query/tree/frametree.h \
	src/query/tree/inverted.c src/query/tree/inverted.h \
	src/query/tree/line_frames.c src/query/tree/line_frames.h \
	src/query/tree/search.c src/query/tree/search.h \
	src/query/tree/stack_table.c src/query/tree/stack_table.h \
	src/query/tree/table.c src/query/tree/table.h \
	src/query/tree/table_cache.c src/query/tree/table_cache.h \
	src/query/tree/transform.c src/query/tree/transform.h \
	src/query/tree/truncated_totals.c src/query/tree/truncated_totals.h
