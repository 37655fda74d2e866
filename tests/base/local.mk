# SPDX-License-Identifier: GPL-3.0-or-later
t_base_SOURCES += \
	tests/base/test_arena.c \
	tests/base/test_bytes.c \
	tests/base/test_column.c \
	tests/base/test_err.c \
	tests/base/test_fmt.c \
	tests/base/test_hash.c \
	tests/base/test_huge_alloc.c \
	tests/base/test_map.c \
	tests/base/test_mem.c \
	tests/base/test_notebook.c \
	tests/base/test_path.c \
	tests/base/test_process.c \
	tests/base/test_system_limits.c \
	tests/base/test_task.c \
	tests/base/test_text.c
t_record_SOURCES += \
	tests/base/test_try_in_child.c
