# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/query/live/README.md
libquery_a_SOURCES += \
	src/query/live/recent.c src/query/live/recent.h \
	src/query/live/recent_aggregate.c src/query/live/recent_aggregate.h
