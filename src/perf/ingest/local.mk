# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/perf/ingest/README.md
libsymbols_a_SOURCES += \
	src/perf/ingest/ingest.c src/perf/ingest/ingest.h \
	src/perf/ingest/perf_facts.c src/perf/ingest/perf_facts.h \
	src/perf/ingest/predecode.c src/perf/ingest/predecode.h \
	src/perf/ingest/prescan.c src/perf/ingest/prescan.h
