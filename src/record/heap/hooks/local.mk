# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += src/record/heap/hooks/README.md
libproftop_heap_so_SOURCES += \
	src/record/heap/hooks/got.c src/record/heap/hooks/got.h \
	src/record/heap/hooks/hooks.h \
	src/record/heap/hooks/hooks_alloc.c \
	src/record/heap/hooks/hooks_forbid.c src/record/heap/hooks/hooks_forbid.h \
	src/record/heap/hooks/hooks_mark.c \
	src/record/heap/hooks/hooks_process.c \
	src/record/heap/hooks/hooks_range.c \
	src/record/heap/hooks/hooks_users.c src/record/heap/hooks/hooks_users.h \
	src/record/heap/hooks/real_calls.c src/record/heap/hooks/real_calls.h
