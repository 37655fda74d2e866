# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/perf_script/README.md
libformats_a_SOURCES += \
	formats/perf_script/perf_script.c formats/perf_script/perf_script.h \
	formats/perf_script/perf_script_frames.c formats/perf_script/perf_script_frames.h \
	formats/perf_script/perf_script_line.c formats/perf_script/perf_script_line.h \
	formats/perf_script/perf_script_read.c formats/perf_script/perf_script_read.h \
	formats/perf_script/perf_script_write.c formats/perf_script/perf_script_write.h
