# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/query/README.md
libquery_a_SOURCES += \
	src/query/activity.c src/query/activity.h \
	src/query/activity_lanes.c src/query/activity_lanes.h \
	src/query/analysis.c src/query/analysis.h \
	src/query/code_weights.c src/query/code_weights.h \
	src/query/heap_activity.c src/query/heap_activity.h \
	src/query/heat_map.c src/query/heat_map.h \
	src/query/over_time.c src/query/over_time.h \
	src/query/term_values.c src/query/term_values.h
