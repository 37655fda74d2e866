# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += formats/write/README.md
libformats_a_SOURCES += \
	formats/write/export_losses.c formats/write/export_losses.h \
	formats/write/export_own.c formats/write/export_own.h \
	formats/write/export_rows.c formats/write/export_rows.h \
	formats/write/export_stacks.c formats/write/export_stacks.h \
	formats/write/text_out.c formats/write/text_out.h \
	formats/write/type_sums.c formats/write/type_sums.h
