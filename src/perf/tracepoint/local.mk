# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/perf/tracepoint/README.md
libsymbols_a_SOURCES += \
	src/perf/tracepoint/print_eval.c \
	src/perf/tracepoint/print_expr.h \
	src/perf/tracepoint/print_fmt.c src/perf/tracepoint/print_fmt.h \
	src/perf/tracepoint/print_parse.c \
	src/perf/tracepoint/trace_field.c src/perf/tracepoint/trace_field.h \
	src/perf/tracepoint/trace_fields.c src/perf/tracepoint/trace_fields.h \
	src/perf/tracepoint/tracepoint_frames.c src/perf/tracepoint/tracepoint_frames.h
