# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/proto/README.md
libformats_a_SOURCES += \
	formats/proto/proto_arena.c formats/proto/proto_arena.h \
	formats/proto/proto_fields.c formats/proto/proto_fields.h
