# SPDX-License-Identifier: GPL-3.0-or-later
t_formats_SOURCES += \
	tests/perf/test_bpf_programs.c \
	tests/perf/test_perf_archive.c \
	tests/perf/test_perf_header.c \
	tests/perf/test_perf_windows.c \
	tests/perf/test_simpleperf_files.c
t_symbols_SOURCES += \
	tests/perf/test_callchain_cache.c \
	tests/perf/test_callchain_intern.c \
	tests/perf/test_ingest.c \
	tests/perf/test_missing_caller.c \
	tests/perf/test_perf_branches.c \
	tests/perf/test_perf_events.c \
	tests/perf/test_perf_offcpu.c \
	tests/perf/test_print_fmt.c \
	tests/perf/test_trace_fields.c \
	tests/perf/test_user_stacks.c
t_layout_SOURCES += \
	tests/perf/test_perf_abi.c \
	tests/perf/test_perf_put.c
