# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/README.md
libformats_a_SOURCES += \
	formats/bad_lines.c formats/bad_lines.h \
	formats/convert_hint.c formats/convert_hint.h \
	formats/file_type_hint.c formats/file_type_hint.h \
	formats/facts.c formats/facts.h \
	formats/format.h \
	formats/formats.c \
	formats/heap_trace.c formats/heap_trace.h \
	formats/named_frames.c formats/named_frames.h \
	formats/perf_data.c formats/perf_data.h \
	formats/summed_heap.c formats/summed_heap.h \
	formats/text_read.c formats/text_read.h \
	formats/text_signs.c formats/text_signs.h
