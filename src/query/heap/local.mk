# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/query/heap/README.md
libquery_a_SOURCES += \
	src/query/heap/footprint.c src/query/heap/footprint.h \
	src/query/heap/footprint_lines.c src/query/heap/footprint_lines.h \
	src/query/heap/footprint_rows.c src/query/heap/footprint_rows.h \
	src/query/heap/heap_change.c src/query/heap/heap_change.h \
	src/query/heap/heap_allocators.c \
	src/query/heap/heap_answers.h \
	src/query/heap/heap_churn.c \
	src/query/heap/heap_histograms.c \
	src/query/heap/heap_leaks.c \
	src/query/heap/heap_peak.c \
	src/query/heap/heap_sites.c src/query/heap/heap_sites.h \
	src/query/heap/heap_table.c src/query/heap/heap_table.h \
	src/query/heap/heap_verdict.c src/query/heap/heap_verdict.h \
	src/query/heap/peak_excess.c src/query/heap/peak_excess.h \
	src/query/heap/resident.c src/query/heap/resident.h \
	src/query/heap/site_peaks.c src/query/heap/site_peaks.h \
	src/query/heap/suppressions.c src/query/heap/suppressions.h \
	src/query/heap/tracer_overhead.c src/query/heap/tracer_overhead.h
