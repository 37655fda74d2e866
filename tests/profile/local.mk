# SPDX-License-Identifier: GPL-3.0-or-later
t_profile_SOURCES += \
	tests/profile/test_builder.c \
	tests/profile/test_heap.c \
	tests/profile/test_sample_rows.c
t_query_SOURCES += \
	tests/profile/test_compact.c \
	tests/profile/test_heap_compact.c \
	tests/profile/test_prune_stacks.c
