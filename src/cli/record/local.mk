# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/cli/record/README.md
libcli_a_SOURCES += \
	src/cli/record/heap_launch.c src/cli/record/heap_launch.h \
	src/cli/record/heap_library.c src/cli/record/heap_library.h \
	src/cli/record/heap_refusal.c src/cli/record/heap_refusal.h \
	src/cli/record/heap_settings.c src/cli/record/heap_settings.h \
	src/cli/record/live_command.h \
	src/cli/record/output_path.c src/cli/record/output_path.h \
	src/cli/record/record_both.c src/cli/record/record_both.h \
	src/cli/record/record_cpu.c src/cli/record/record_cpu.h \
	src/cli/record/record_end.c src/cli/record/record_end.h \
	src/cli/record/record_heap.c src/cli/record/record_heap.h \
	src/cli/record/record_job.h \
	src/cli/record/record_left.c src/cli/record/record_left.h \
	src/cli/record/record_options.c src/cli/record/record_options.h \
	src/cli/record/record_running.c src/cli/record/record_running.h \
	src/cli/record/record_runs.c src/cli/record/record_runs.h \
	src/cli/record/record_traces.c src/cli/record/record_traces.h
if ONE_FILE
if HAVE_TRACER
libcli_a_SOURCES += src/cli/record/heap_library_inside.c
endif
endif
EXTRA_DIST += src/cli/record/heap_library_inside.c
