# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/perf/file/README.md
libformats_a_SOURCES += \
	src/perf/file/bpf_programs.c src/perf/file/bpf_programs.h \
	src/perf/file/bpf_types.c src/perf/file/bpf_types.h \
	src/perf/file/perf_archive.c src/perf/file/perf_archive.h \
	src/perf/file/perf_growing.c src/perf/file/perf_growing.h \
	src/perf/file/perf_header.c src/perf/file/perf_header.h \
	src/perf/file/perf_info.c src/perf/file/perf_info.h \
	src/perf/file/perf_pieces.c src/perf/file/perf_pieces.h \
	src/perf/file/perf_stream.c src/perf/file/perf_stream.h \
	src/perf/file/perf_windows.c src/perf/file/perf_windows.h \
	src/perf/file/readahead.c src/perf/file/readahead.h \
	src/perf/file/simpleperf_files.c src/perf/file/simpleperf_files.h
