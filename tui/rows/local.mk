# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += tui/rows/README.md
libtui_a_SOURCES += \
	tui/rows/chain.c tui/rows/chain.h \
	tui/rows/match_cursor.c tui/rows/match_cursor.h \
	tui/rows/name_cell.c tui/rows/name_cell.h \
	tui/rows/name_set.c tui/rows/name_set.h \
	tui/rows/path_map.c tui/rows/path_map.h \
	tui/rows/row.c tui/rows/row.h \
	tui/rows/row_change.c tui/rows/row_change.h \
	tui/rows/row_note.c tui/rows/row_note.h \
	tui/rows/row_shape.c tui/rows/row_shape.h \
	tui/rows/row_sparkline.c tui/rows/row_sparkline.h \
	tui/rows/time_axis.c tui/rows/time_axis.h \
	tui/rows/tree_rows.c tui/rows/tree_rows.h \
	tui/rows/tree_source.c tui/rows/tree_source.h \
	tui/rows/tree_zoom.c tui/rows/tree_zoom.h
