# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/otlp/README.md
libformats_a_SOURCES += \
	formats/otlp/otlp.c formats/otlp/otlp.h \
	formats/otlp/otlp_build.c formats/otlp/otlp_build.h \
	formats/otlp/otlp_json.c \
	formats/otlp/otlp_proto.c \
	formats/otlp/otlp_tables.h
