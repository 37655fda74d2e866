# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/profile/README.md
libprofile_a_SOURCES += \
	src/profile/attachments.c \
	src/profile/builder.c src/profile/builder.h \
	src/profile/compact.c src/profile/compact.h \
	src/profile/compact_due.c \
	src/profile/ids.h \
	src/profile/merge_exited.c src/profile/merge_exited.h \
	src/profile/profile.c src/profile/profile.h \
	src/profile/prune_stacks.c \
	src/profile/row_blocks.c src/profile/row_blocks.h \
	src/profile/rows.c \
	src/profile/sample_rows.c src/profile/sample_rows.h \
	src/profile/snapshot.c \
	src/profile/stack_index.c src/profile/stack_index.h \
	src/profile/store.h
