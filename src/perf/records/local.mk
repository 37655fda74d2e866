# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/perf/records/README.md
libsymbols_a_SOURCES += \
	src/perf/records/apply.c src/perf/records/apply.h \
	src/perf/records/perf_cgroups.c src/perf/records/perf_cgroups.h \
	src/perf/records/perf_events.c src/perf/records/perf_events.h \
	src/perf/records/perf_offcpu.c src/perf/records/perf_offcpu.h \
	src/perf/records/perf_switches.c src/perf/records/perf_switches.h \
	src/perf/records/perf_tasks.c src/perf/records/perf_tasks.h
