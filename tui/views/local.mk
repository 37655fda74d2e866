# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += tui/views/README.md
libtui_a_SOURCES += \
	tui/views/flame_draw.c \
	tui/views/flame_layout.c tui/views/flame_layout.h \
	tui/views/flame_legend.c tui/views/flame_legend.h \
	tui/views/flame_view.h \
	tui/views/memory_graph.c tui/views/memory_graph.h \
	tui/views/memory_table.c tui/views/memory_table.h \
	tui/views/annotate_arrows.c \
	tui/views/annotate_draw.c tui/views/annotate_view.h \
	tui/views/row_effects.c tui/views/row_effects.h \
	tui/views/sides_graph.c tui/views/sides_graph.h \
	tui/views/thread_list.c tui/views/thread_list.h \
	tui/views/thread_row.c tui/views/thread_row.h \
	tui/views/tree_draw.c tui/views/tree_draw.h \
	tui/views/tree_view.c tui/views/tree_view.h \
	tui/views/view_annotate.c \
	tui/views/view_butterfly.c \
	tui/views/view_callers.c \
	tui/views/view_findings.c \
	tui/views/view_flame.c \
	tui/views/view_heap.c \
	tui/views/view_heat.c \
	tui/views/view_info.c \
	tui/views/view_memory.c \
	tui/views/view_sides.c \
	tui/views/view_threads.c \
	tui/views/view_timeline.c \
	tui/views/view_top.c \
	tui/views/view_tree.c \
	tui/views/where_cell.c tui/views/where_cell.h \
	tui/views/views.c
