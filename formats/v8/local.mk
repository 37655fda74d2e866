# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/v8/README.md
libformats_a_SOURCES += \
	formats/v8/v8.c formats/v8/v8.h \
	formats/v8/v8_spans.c formats/v8/v8_spans.h \
	formats/v8/v8_text.c formats/v8/v8_text.h \
	formats/v8/v8_threads.c formats/v8/v8_threads.h \
	formats/v8/v8_write.c formats/v8/v8_write.h
