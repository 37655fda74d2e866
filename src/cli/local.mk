# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/cli/README.md
libcli_a_SOURCES += \
	src/cli/cmd_compare.c \
	src/cli/cmd_diff.c \
	src/cli/cmd_doctor.c \
	src/cli/cmd_explore.c src/cli/cmd_explore.h \
	src/cli/cmd_export.c \
	src/cli/cmd_info.c \
	src/cli/cmd_live.c \
	src/cli/cmd_mark.c \
	src/cli/cmd_pack.c \
	src/cli/cmd_record.c \
	src/cli/cmd_report.c src/cli/cmd_report.h
proftop_SOURCES += \
	src/cli/main.c
if ONE_FILE
proftop_SOURCES += src/cli/left_out.c
endif
EXTRA_DIST += src/cli/left_out.c src/cli/no_unwind_tables.ld
